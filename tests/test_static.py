"""word2vec and GloVe against their papers' formulas and against counting by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import stopped

import explorer as ex
from explorer.analysis.evaluation.analogies import answered, known
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.word_vectors import analogy, neighbours, unit
from explorer.errors import ChoiceError
from explorer.microworld.relations import relations
from explorer.models.vectors import StaticModel
from explorer.nn.fast.sparse import products
from explorer.text.cooccurrence import NEGATIVES, WINDOW, CountedExamples, cells, negatives, pairs_of
from explorer.text.examples import Example
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories as stories
from explorer.training.device import tensors
from explorer.training.objectives import OBJECTIVES


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return ex.tokenizer("words", [" ".join(story) for story in stories(200, 1)], size=4000)


def run(what: str, tokenizer: Tokenizer, folder: Path | None = None, **more: object) -> ex.fit:
    texts = list(stories(60, 1))
    settings = {"dim": 8, "steps": 12, "batch": 16, "checks": 0, "snapshots": 0, "device": "cpu", "precision": "float32"}
    return ex.fit(what, corpus=texts, held=texts[:1], tokenizer=tokenizer, folder=folder, **settings | more)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def filled(module: torch.nn.Module) -> dict[str, np.ndarray]:
    """Weights that are all different, so that a formula cannot hold by chance."""
    rng = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in module.parameters():
            weight.normal_(0, 0.3, generator=rng)
    return {name: value.double().numpy() for name, value in module.state_dict().items()}


def test_skip_gram_is_the_paper_s_loss(tokenizer: Tokenizer) -> None:
    training = run("word2vec", tokenizer)
    weights, batch = filled(training.model.module), training.batch(1)
    losses = OBJECTIVES["skip-gram"].loss(training.model.module, tensors(batch, torch.device("cpu")), 0.0)
    near, others = [], []
    for (middle,), (word,), drawn in zip(batch.source, batch.labels, batch.extras["negatives"], strict=True):
        v = weights["words.weight"][middle]
        near.append(-np.log(sigmoid(weights["near.weight"][word] @ v)))
        others.append(-np.log(sigmoid(-weights["near.weight"][drawn] @ v)).sum())
    assert losses["near"].item() == pytest.approx(np.mean(near), rel=1e-5)
    assert losses["strangers"].item() == pytest.approx(np.mean(others), rel=1e-5)


def test_glove_is_the_paper_s_loss(tokenizer: Tokenizer) -> None:
    training = run("glove", tokenizer)
    w, batch = filled(training.model.module), training.batch(1)
    total = []
    for (i,), (j,), (x,) in zip(batch.source, batch.labels, batch.extras["counts"], strict=True):
        fit = w["words.weight"][i] @ w["near.weight"][j] + w["word_bias.weight"][i, 0] + w["near_bias.weight"][j, 0] - np.log(x)
        total.append(min(1.0, (x / 100) ** 0.75) * fit**2)
    loss = OBJECTIVES["co-occurrence"].loss(training.model.module, tensors(batch, torch.device("cpu")), 0.0)["fit"]
    assert loss.item() == pytest.approx(np.mean(total), rel=1e-4)
    np.testing.assert_allclose(training.model.vectors, w["words.weight"] + w["near.weight"], atol=1e-6)


def test_cells_are_counted_as_by_hand() -> None:
    rows = [np.array([1, 2, 3, 2, 4, 1, 5, 6]), np.array([2, 2]), np.array([7])]
    wanted: dict[tuple[int, int], float] = {}
    for row in rows:
        for i in range(len(row)):
            for j in range(max(0, i - WINDOW), min(len(row), i + WINDOW + 1)):
                if i != j:
                    key = int(row[i]), int(row[j])
                    wanted[key] = wanted.get(key, 0) + 1 / abs(i - j)
    counts = {(cell.middle, cell.near): cell.often for cell in cells([Example(row, row, row) for row in rows], 9)}
    assert counts.keys() == wanted.keys()
    assert all(counts[key] == pytest.approx(wanted[key]) for key in wanted)


def test_pairs_stand_near_each_other_and_near_ones_more_often() -> None:
    """With every word once and none left out, a distance of d is in the window with probability (6 − d) / 5."""
    story = Example(np.arange(400), np.arange(400), np.arange(400))
    examples = CountedExamples([story], 400)
    rng, count = np.random.default_rng(0), np.zeros(WINDOW + 1)
    for _ in range(20):
        middle, near = pairs_of([story], examples, rng)
        distance = np.abs(middle - near)
        assert distance.min() == 1 and distance.max() <= WINDOW
        count += np.bincount(distance, minlength=WINDOW + 1)
        assert len({*zip(middle.tolist(), near.tolist(), strict=True)}) == len(middle)
    np.testing.assert_allclose(count[1:] / (20 * 800), [1, 0.8, 0.6, 0.4, 0.2], atol=0.03)


def test_pairs_never_reach_from_one_story_into_the_next() -> None:
    short = [Example(ids, ids, ids) for ids in np.split(np.arange(16), [1, 3, 7])]
    owner = np.repeat(np.arange(4), [1, 2, 4, 9])
    owners: set[int] = set()
    for seed in range(100):
        middle, near = pairs_of(short, CountedExamples(short, 16), np.random.default_rng(seed))
        assert (owner[middle] == owner[near]).all()
        owners |= set(owner[middle].tolist())
    assert owners == {1, 2, 3}
    lonely = short[:1]
    assert [len(part) for part in pairs_of(lonely, CountedExamples(lonely, 16), np.random.default_rng(0))] == [0, 0]


def test_a_stranger_is_the_word_in_whose_part_of_the_line_its_lot_falls() -> None:
    """Against a binary search of every lot; some words never occur, one is nearly everything, and many are very rare."""
    ids = np.repeat(np.arange(3000), np.where(np.arange(3000) == 70, 3_000_000, np.arange(3000) % 3))
    examples = CountedExamples([Example(ids, ids, ids)], 3005)
    lots = np.random.default_rng(4).random((9_000, NEGATIVES))
    wanted = np.searchsorted(examples.noise_cdf, lots, side="right")
    np.testing.assert_array_equal(negatives(examples, 9_000, np.random.default_rng(4)), wanted)
    assert examples.counts[wanted].min() > 0 and len(np.unique(wanted)) > 100


@pytest.mark.parametrize(
    ("vocabulary", "many"), [(7, 400), (50, 400), (70_000, 400), (4, 0)]
)  # few cells … over 16 bits; no pair
def test_products_and_their_gradients_are_those_of_copied_rows(vocabulary: int, many: int) -> None:
    rng = torch.Generator().manual_seed(0)
    tables = [torch.randn(size, 5, generator=rng, dtype=torch.float64) for size in (vocabulary, vocabulary + 3)]
    rows = torch.randint(vocabulary, (many,), generator=rng)
    columns = torch.randint(vocabulary + 3, (many, 6), generator=rng)
    rows[:50], columns[:50, :3] = rows[:1], columns[:1, :1]  # the same pair often
    first, second = (list(table.clone().requires_grad_() for table in tables) for _ in range(2))
    ours = products(*first, rows, columns)
    copied = (second[0][rows][:, None] * second[1][columns]).sum(-1)
    torch.testing.assert_close(ours, copied)
    weights = torch.randn(many, 6, generator=rng, dtype=torch.float64)
    for total in (ours, copied):
        (total * weights).sum().backward()
    for sparse, other in zip(first, second, strict=True):
        torch.testing.assert_close(sparse.grad, other.grad)


def test_strangers_and_thinning_follow_the_published_laws() -> None:
    ids = np.repeat([0, 1, 2], [100_000, 900, 100])
    examples = CountedExamples([Example(ids, ids, ids)], 4)
    law = np.array([100_000, 900, 100, 0]) ** 0.75
    np.testing.assert_allclose(np.diff(examples.noise_cdf, prepend=0), law / law.sum(), atol=1e-6)
    share = 1e-3 / (100_000 / 101_000)
    assert examples.keep_probability[0] == pytest.approx(np.sqrt(share) + share) and examples.keep_probability[2] == 1


@pytest.mark.parametrize("what", ["word2vec", "glove"])
def test_a_run_learns_resumes_and_opens_again(what: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    steps = list(run(what, tokenizer, tmp_path / "whole", rate=3e-2))
    assert sum(steps[-1].losses.values()) < sum(steps[0].losses.values())
    first, rest = (run(what, tokenizer, tmp_path / "broken", rate=3e-2) for _ in range(2))
    assert [step.losses for step in [*stopped(first, 5), *rest]] == [step.losses for step in steps]
    opened = ex.load(tmp_path / "whole")
    assert isinstance(opened, StaticModel) and opened.family == "static"
    np.testing.assert_array_equal(opened.vectors, ex.load(tmp_path / "broken").vectors)


def test_a_word_has_one_vector_in_every_text(tokenizer: Tokenizer) -> None:
    model = ex.build("word2vec", tokenizer=tokenizer, device="cpu", dim=8)
    short, other = (ex.trace(model, text) for text in ("The dog ran.", "Anna has a dog."))
    places = [trace.source.texts.index("dog") for trace in (short, other)]
    first, second = (trace.hidden["static"][0, place] for trace, place in zip((short, other), places, strict=True))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, model.vectors[tokenizer.core.token_to_id("dog")])
    for method, given in ((model.logits, ["The dog"]), (model.outputs, ["The dog", "x"]), (ex.export, [model, "nowhere"])):
        with pytest.raises(ChoiceError):
            method(*given)


def planted(tokenizer: Tokenizer) -> StaticModel:
    """Vectors in which she − he is one direction, and every word of the rest points somewhere of its own."""
    model = ex.build("word2vec", tokenizer=tokenizer, device="cpu", dim=8)
    assert isinstance(model, StaticModel)
    table = torch.randn(tokenizer.vocabulary.size, 8, generator=torch.Generator().manual_seed(0))
    numbers = [tokenizer.core.token_to_id(word) for word in ("he", "she", "him", "her")]
    turn = torch.randn(8, generator=torch.Generator().manual_seed(1))
    table[numbers[1]], table[numbers[3]] = table[numbers[0]] + turn, table[numbers[2]] + turn
    with torch.no_grad():
        model.module.words.weight.copy_(table)
    return model


def test_neighbours_and_analogies_are_cosines(tokenizer: Tokenizer) -> None:
    model = planted(tokenizer)
    table = model.vectors.astype(np.float64)
    nearest, number = neighbours(model, "dog", top=5), tokenizer.core.token_to_id("dog")
    special = set(tokenizer.vocabulary.special)
    cosines = table @ table[number] / np.linalg.norm(table, axis=1) / np.linalg.norm(table[number])
    best = [n for n in np.argsort(-cosines) if n != number and n not in special][:5]
    assert nearest.words == tuple(tokenizer.text_of(int(n)) for n in best)
    np.testing.assert_allclose(nearest.likeness, cosines[best])
    assert not {"he", "she", "him"} & set(analogy(model, "he", "she", "him").words)
    assert {"he", "she", "him"} & set(analogy(model, "he", "she", "him", forbid=False).words)
    with pytest.raises(ChoiceError, match="no vector for 'yeti'"):
        neighbours(model, "yeti")


def test_analogies_are_answered_one_by_one_alike(tokenizer: Tokenizer) -> None:
    model = planted(tokenizer)
    some = next(iter(known(EvalContext(EvalData([]), tokenizer, "", 512)).values()))[:20]
    words = [[tokenizer.core.id_to_token(int(n)) for n in row] for row in some]
    for forbid in (True, False):
        wanted = [analogy(model, *row[:3], top=1, forbid=forbid).words == (row[3],) for row in words]
        assert answered(unit(model), some, forbid=forbid).tolist() == wanted


def test_relations_are_those_of_the_lexicon() -> None:
    lexicon = relations()
    for relation, pair in (("past", ("go", "went")), ("plural", ("child", "children")), ("eats", ("dog", "meat"))):
        assert pair in lexicon[relation]
    assert all(a != b and len(set(pairs)) == len(pairs) for pairs in lexicon.values() for a, b in pairs)
