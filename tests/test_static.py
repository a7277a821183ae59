"""word2vec and GloVe against their papers' formulas and against counting by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import explorer as ex
from explorer.analysis.evaluation.analogies import answered, known
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.analysis.word_vectors import analogy, neighbours
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


@pytest.mark.parametrize("vocabulary", [7, 50, 70_000])  # too few cells, enough, and more than sixteen bits can number
def test_products_and_their_gradients_are_those_of_copied_rows(vocabulary: int) -> None:
    rng = torch.Generator().manual_seed(0)
    tables = [torch.randn(many, 5, generator=rng, dtype=torch.float64) for many in (vocabulary, vocabulary + 3)]
    rows = torch.randint(vocabulary, (400,), generator=rng)
    columns = torch.randint(vocabulary + 3, (400, 6), generator=rng)
    rows[:50], columns[:50, :3] = rows[0], columns[0, 0]  # the same pair often
    first, second = (list(table.clone().requires_grad_() for table in tables) for _ in range(2))
    ours = products(*first, rows, columns)
    copied = (second[0][rows][:, None] * second[1][columns]).sum(-1)
    torch.testing.assert_close(ours, copied)
    weights = torch.randn(400, 6, generator=rng, dtype=torch.float64)
    for total in (ours, copied):
        (total * weights).sum().backward()
    for sparse, other in zip(first, second, strict=True):
        torch.testing.assert_close(sparse.grad, other.grad)


def test_no_pair_at_all_is_no_error() -> None:
    tables = [torch.randn(4, 3, requires_grad=True) for _ in range(2)]
    none = products(*tables, torch.zeros(0, dtype=torch.long), torch.zeros(0, 6, dtype=torch.long))
    none.sum().backward()
    assert none.shape == (0, 6) and all(float(table.grad.abs().sum()) == 0 for table in tables)


def test_strangers_and_thinning_follow_the_published_laws() -> None:
    ids = np.repeat([0, 1, 2], [100_000, 900, 100])
    examples = CountedExamples([Example(ids, ids, ids)], 4)
    drawn = negatives(examples, 20_000, np.random.default_rng(0))
    law = np.array([100_000, 900, 100, 0]) ** 0.75
    np.testing.assert_allclose(np.bincount(drawn.ravel(), minlength=4) / drawn.size, law / law.sum(), atol=0.01)
    assert drawn.shape == (20_000, NEGATIVES)
    share = 1e-3 / (100_000 / 101_000)
    assert examples.keep_probability[0] == pytest.approx(np.sqrt(share) + share) and examples.keep_probability[2] == 1


@pytest.mark.parametrize("what", ["word2vec", "glove"])
def test_a_run_learns_resumes_and_opens_again(what: str, tokenizer: Tokenizer, tmp_path: Path) -> None:
    rate = {"rate": 3e-2}
    steps = list(run(what, tokenizer, tmp_path / "whole", **rate))
    first, last = (sum(steps[n].losses.values()) for n in (0, -1))
    assert last < first
    broken = run(what, tokenizer, tmp_path / "broken", **rate)
    for step in broken:
        if step.step == 5:
            broken.stop()
    assert [step.losses for step in run(what, tokenizer, tmp_path / "broken", **rate)] == [step.losses for step in steps[5:]]
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
    for wrong in (
        lambda: model.logits("The dog"),
        lambda: model.outputs("The dog", target="x"),
        lambda: ex.export(model, "nowhere"),
    ):
        with pytest.raises(ChoiceError):
            wrong()


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
    cosines = {
        n: table[n] @ table[number] / np.linalg.norm(table[n]) / np.linalg.norm(table[number])
        for n in range(len(table))
        if n != number and n not in special
    }
    best = sorted(cosines, key=cosines.__getitem__, reverse=True)[:5]
    assert nearest.words == tuple(tokenizer.text_of(n) for n in best)
    np.testing.assert_allclose(nearest.likeness, [cosines[n] for n in best])
    assert not {"he", "she", "him"} & set(analogy(model, "he", "she", "him").words)
    assert {"he", "she", "him"} & set(analogy(model, "he", "she", "him", forbid=False).words)
    with pytest.raises(ChoiceError, match="no vector for 'yeti'"):
        neighbours(model, "yeti")


def test_analogies_are_answered_one_by_one_alike(tokenizer: Tokenizer) -> None:
    model = planted(tokenizer)
    from explorer.analysis.word_vectors import unit

    questions = known(EvalContext(EvalData([]), tokenizer, "", 512))
    some = next(iter(questions.values()))[:20]
    for forbid in (True, False):
        wanted = []
        for row in some:
            a, b, c, d = (tokenizer.core.id_to_token(int(n)) for n in row)
            wanted.append(analogy(model, a, b, c, top=1, forbid=forbid).words == (d,))
        assert answered(unit(model), some, forbid=forbid).tolist() == wanted


def test_relations_are_those_of_the_lexicon() -> None:
    lexicon = relations()
    assert (
        ("go", "went") in lexicon["past"] and ("child", "children") in lexicon["plural"] and ("dog", "meat") in lexicon["eats"]
    )
    assert all(a != b and len({pair for pair in pairs}) == len(pairs) for pairs in lexicon.values() for a, b in pairs)
