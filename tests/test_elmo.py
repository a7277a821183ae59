"""ELMo against PyTorch's LSTM, the paper's formulas in NumPy, and itself: the two directions never meet."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from conftest import LONG, stopped
from scipy.special import log_softmax
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import explorer as ex
from explorer.analysis.evaluation.context import EvalData
from explorer.app.lessons.elmo import drawing
from explorer.corruption.collate import BatchContext, collate_bilm
from explorer.errors import ChoiceError
from explorer.models import ngram, store
from explorer.models.elmo import ElmoModel
from explorer.nn.elmo import BiLM, ElmoConfig, ScalarMix, initialise, needed, once, turned
from explorer.text.examples import prepared_letters
from explorer.text.letters import letters
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories as stories
from explorer.training.checking import measure
from explorer.views import VIEWS

TEXT = "The dog was tired because it ran all day."
OTHER = "Anna gave the cat some milk."


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return ex.tokenizer("characters", [" ".join(story) for story in stories(300, 1)], size=4000)


@pytest.fixture(scope="module")
def elmo(tokenizer: Tokenizer) -> ElmoModel:
    model = ex.build("elmo", tokenizer=tokenizer, device="cpu", dim=24, hidden=40)
    assert isinstance(model, ElmoModel)
    return model


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def weights_of(module: nn.Module) -> dict[str, np.ndarray]:
    return {name: value.detach().double().numpy() for name, value in module.state_dict().items()}


def word_by_hand(model: ElmoModel, word: str) -> tuple[np.ndarray, list[tuple[np.ndarray, ...]]]:
    """One word by the paper's formulas: filters, strongest answers, highways, projection; and x, H and T of each highway."""
    w = weights_of(model.module.characters)
    grid = w["letters.weight"][letters([word])[0]]  # [place, width of a letter]
    strongest, highways = [], []
    for number, (wide, _) in enumerate(model.config.filters):
        kernel, bias = w[f"filters.{number}.weight"], w[f"filters.{number}.bias"]
        answers = [np.einsum("fcw,wc->f", kernel, grid[at : at + wide]) + bias for at in range(len(grid) - wide + 1)]
        strongest.append(np.max(answers, axis=0))
    x = np.maximum(np.concatenate(strongest), 0)
    for number in range(model.config.highways):
        carried = sigmoid(w[f"highways.{number}.gate.weight"] @ x + w[f"highways.{number}.gate.bias"])
        new = np.maximum(w[f"highways.{number}.make.weight"] @ x + w[f"highways.{number}.make.bias"], 0)
        highways.append((x, new, 1 - carried))
        x = carried * x + (1 - carried) * new
    return w["project.weight"] @ x + w["project.bias"], [*highways, (x,)]


def test_a_word_is_what_the_formulas_say(elmo: ElmoModel) -> None:
    words = ["The", "dog", "photosynthesis", "x" * 60, "é", "<S>"]
    vectors = elmo.module.words(torch.tensor(letters(words))[None])[0].detach().numpy()
    for word, vector in zip(words, vectors, strict=True):
        np.testing.assert_allclose(vector, word_by_hand(elmo, word)[0], atol=1e-5)


@pytest.mark.parametrize("word", ["fishing", "photosynthesis"])
def test_the_highways_of_a_word_are_recorded_and_drawn(word: str) -> None:
    elmo = ex.load("elmo", device="cpu")
    record, (*highways, (last,)) = ex.analysis.highway_gates(elmo, word), word_by_hand(elmo, word)[1]
    assert len(record.gates) == len(highways) == 2
    np.testing.assert_allclose(record.states, [*(x for x, _, _ in highways), last], atol=1e-5)
    for number, (x, new, gate) in enumerate(highways):
        np.testing.assert_allclose(record.made[number], new, atol=1e-5)
        np.testing.assert_allclose(record.gates[number], gate, atol=1e-6)
        line, cells = VIEWS["highway"](record, layer=number).data
        order = np.argsort(-record.gates[number], kind="stable")
        np.testing.assert_array_equal(line.y, record.gates[number][order])
        y = gate * new + (1 - gate) * x
        for row, values in zip(cells.z, (x, new, gate * new, (1 - gate) * x, y), strict=True):
            np.testing.assert_allclose(np.sort(row), np.sort(values), atol=1e-5)
        np.testing.assert_allclose(cells.z[2], np.asarray(line.y) * cells.z[1], atol=1e-6)
        np.testing.assert_allclose(cells.z[3], (1 - np.asarray(line.y)) * cells.z[0], atol=1e-6)


def test_both_directions_are_two_lstms_of_pytorch_with_a_residual_connection(elmo: ElmoModel) -> None:
    trace = ex.trace(elmo, TEXT)
    x = torch.tensor(trace.hidden["characters"][:1])
    for name, direction, turn in (("forward", elmo.module.onward, []), ("backward", elmo.module.back, [1])):
        lower, upper = direction.layers
        assert type(lower) is type(upper) is nn.LSTM and lower.proj_size == upper.proj_size == 24
        first = lower(x.flip(turn))[0]
        second = upper(first)[0] + first  # as in the paper
        wanted = torch.cat((first, second)).flip(turn).detach()
        np.testing.assert_allclose(trace.hidden[name], wanted, atol=1e-5)


def test_a_batch_is_what_packed_lstms_of_pytorch_make_of_it(elmo: ElmoModel) -> None:
    """A bidirectional `nn.LSTM` with our weights, over a packed batch, is our first layer in both directions."""
    theirs = nn.LSTM(24, 40, proj_size=24, batch_first=True, bidirectional=True)
    ours = elmo.module.onward.layers[0].state_dict(), elmo.module.back.layers[0].state_dict()
    theirs.load_state_dict({**ours[0], **{f"{name}_reverse": value for name, value in ours[1].items()}})
    words, lengths = torch.randn(3, 9, 24, generator=torch.Generator().manual_seed(0)), torch.tensor([9, 4, 1])
    out, _ = theirs(pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False))
    wanted, _ = pad_packed_sequence(out, batch_first=True)
    onward = elmo.module.onward(words)[0]
    back = turned(elmo.module.back(turned(words, lengths))[0], lengths)
    real = torch.arange(9) < lengths[:, None]
    assert torch.allclose(torch.cat((onward, back), -1)[real], wanted[real], atol=1e-6)


def test_the_directions_never_meet(elmo: ElmoModel) -> None:
    """Row t of the forward half does not see word t + 1, nor row t of the backward half word t − 1: bit for bit, in every layer.

    Every word is exchanged in turn. What stands on the seen side moves, so the test would notice a model that ignores its text.
    """
    text = [*TEXT[:-1].split(), "."]
    before = ex.trace(elmo, " ".join(text))
    for place in range(len(text)):
        changed = ex.trace(elmo, " ".join([*text[:place], "cats", *text[place + 1 :]]))
        moved = {name: (before.hidden[name] != changed.hidden[name]).any(-1) for name in before.hidden}
        at = np.flatnonzero(moved["characters"][0])
        assert len(at) == 1
        assert not moved["forward"][:, : at[0]].any() and moved["forward"][:, at[0] :].all()
        assert not moved["backward"][:, at[0] + 1 :].any() and moved["backward"][:, : at[0] + 1].all()
        scores = {name: (before.outputs[name] != changed.outputs[name]).any(-1) for name in ("lm", "backward")}
        assert not scores["lm"][: at[0]].any() and not scores["backward"][at[0] + 1 :].any()


def test_padding_and_neighbours_change_nothing(elmo: ElmoModel) -> None:
    texts = [TEXT, OTHER, "Dog", "x" * 60]
    for outputs, text in zip(elmo.outputs_many(texts), texts, strict=True):
        for name, scores in elmo.outputs(text).items():
            np.testing.assert_allclose(outputs[name], scores, atol=1e-5)
    for outputs, text in zip(elmo.layers(texts), texts, strict=True):
        trace = ex.trace(elmo, text)
        x = trace.hidden["characters"][0]
        wanted = [np.hstack((x, x)), *map(np.hstack, zip(trace.hidden["forward"], trace.hidden["backward"], strict=True))]
        np.testing.assert_allclose(outputs, wanted, atol=1e-5)


def test_words_are_computed_once_and_only_as_wide_as_they_need(elmo: ElmoModel) -> None:
    grid = torch.tensor(letters(["dog", "a", "dog", "<PAD>", "elephants", "a"]))[None]
    different, which = once(grid)
    assert len(different) == 4 and torch.equal(different[which], grid[0])
    cut = needed(grid[0], 5)
    assert cut.shape[1] == len("elephants") + 2 + 5
    module = elmo.module.characters
    assert torch.allclose(module(cut), module(grid[0]), atol=1e-6)


@pytest.mark.parametrize("norm", [False, True])
def test_the_mix_is_the_formula(norm: bool) -> None:
    mix = ScalarMix(3, norm=norm)
    rng = np.random.default_rng(0)
    w, h = rng.normal(size=3), rng.normal(size=(3, 4, 5, 6)) * 3 + 1
    with torch.no_grad():
        mix.weights.copy_(torch.tensor(w))
        mix.gamma.fill_(1.7)
    s = np.exp(w) / np.exp(w).sum()
    layers = (h - h.mean(-1, keepdims=True)) / np.sqrt(h.var(-1, keepdims=True) + 1e-5) if norm else h
    wanted = 1.7 * np.einsum("l,lbpd->bpd", s, layers)
    np.testing.assert_allclose(mix(torch.tensor(h, dtype=torch.float32)).detach(), wanted, atol=1e-5)


@LONG
def test_a_run_learns_resumes_to_the_same_bits_and_opens_again(tmp_path: Path, tokenizer: Tokenizer) -> None:
    corpus = [story[:3] for story in stories(100, 1)]

    def run(folder: str) -> ex.fit:
        return ex.fit(
            "elmo", corpus=corpus, held=corpus[:2], tokenizer=tokenizer, dim=24, hidden=40, steps=9, batch=8, checks=1, snapshots=2,
            folder=tmp_path / folder, device="cpu", precision="float32", rate=1e-2,
        )  # fmt: skip

    whole = list(run("whole"))
    assert whole[-1].losses["forward"] < whole[0].losses["forward"] - 0.3 and set(whole[-1].losses) == {"forward", "backward"}
    wanted = {"forward perplexity", "backward perplexity", "4-gram forward perplexity", "4-gram backward perplexity"}
    assert wanted <= set(whole[-1].metrics) and "from the left" in whole[-1].samples[0]
    assert len(stopped(run("broken"), 5)) == 5
    assert [step.losses for step in run("broken")] == [step.losses for step in whole[5:]]
    opened, first = ex.load(tmp_path / "broken"), ex.load(tmp_path / "whole", step=1)
    assert opened.family == "bilm" and first.outputs(TEXT).keys() == {"lm", "backward"}
    np.testing.assert_array_equal(opened.outputs(TEXT)["backward"], ex.load(tmp_path / "whole").outputs(TEXT)["backward"])
    assert store.StoredModel("x", tmp_path / "whole", shipped=False).about()["preset"] == "elmo"


def test_perplexities_are_those_of_the_definition(elmo: ElmoModel) -> None:
    texts, v = list(stories(4, 9)), elmo.tokenizer.vocabulary
    known = prepared_letters([list(story) for story in stories(60, 1)], elmo.tokenizer)
    metrics = measure(elmo, "bilm", EvalData(texts, train=known)).metrics
    read = [elmo.tokenizer.encode(" ".join(story)) for story in texts]
    logp: dict[str, list[float]] = {"forward": [], "backward": []}
    for tokens in read:
        ids, outputs = np.asarray(tokens.ids), elmo.outputs(tokens)
        forward, backward = (log_softmax(outputs[name].astype(np.float64), axis=-1) for name in ("lm", "backward"))
        logp["forward"] += [forward[place, ids[place + 1]] for place in range(len(ids) - 1)]
        logp["backward"] += [backward[place + 1, ids[place]] for place in range(len(ids) - 1)]
    for name, values in logp.items():
        assert metrics[f"{name} perplexity"] == pytest.approx(np.exp(-np.mean(values)), rel=1e-4)
    back = ngram.train([np.array([v.begin, *story.ids, v.end])[::-1] for story in known], elmo.tokenizer, order=4, begin=v.end)
    wanted = back.perplexity([np.array(tokens.ids)[::-1] for tokens in read])
    assert metrics["4-gram backward perplexity"] == pytest.approx(wanted)


def test_a_text_that_is_too_long_is_cut_between_its_two_ends(elmo: ElmoModel) -> None:
    text = "The dog saw the cat, and then the cat saw the dog again."
    examples, tokens = prepared_letters([[text], ["A dog."]], elmo.tokenizer), elmo.tokenizer.encode(text)
    batch = collate_bilm(examples, BatchContext(examples, elmo.tokenizer.vocabulary, 8, "bilm", np.random.default_rng(0)))
    assert tokens.characters is not None and batch.source.shape == (2, 8)
    assert (batch.extras["letters"][0, :7] == tokens.characters[:7]).all(), "begin and six words"
    assert (batch.extras["letters"][0, 7] == tokens.characters[-1]).all() and batch.source[0, 7] == tokens.ids[-1], "the end"


def test_unknown_words_are_still_read(elmo: ElmoModel) -> None:
    """In training and afterwards: a word that the vocabulary does not have is unknown to the softmax, not to the letters."""
    examples = prepared_letters([["Zebras ran."], ["Yetis ran all day."]], elmo.tokenizer)
    kitchen = BatchContext(examples, elmo.tokenizer.vocabulary, 12, "bilm", np.random.default_rng(0))
    batch = collate_bilm(examples, kitchen)
    for row, text in enumerate(("Zebras ran.", "Yetis ran all day.")):
        tokens = elmo.tokenizer.encode(text)
        assert batch.source[row, : len(tokens)].tolist() == tokens.ids.tolist()
        assert tokens.characters is not None
        assert (batch.extras["letters"][row, : len(tokens)] == tokens.characters).all()
        assert not batch.extras["letters"][row, len(tokens) :].any() and not batch.loss_mask[row, 0]
    a, b = (ex.trace(elmo, text).hidden["characters"][0, 1] for text in ("Zebras ran.", "Yetis ran."))
    assert not np.allclose(a, b)


def test_what_an_elmo_does_not_have_is_refused(elmo: ElmoModel, tokenizer: Tokenizer) -> None:
    def build(**shape: object) -> object:
        return ex.build("elmo", tokenizer=tokenizer, device="cpu", **shape)  # type: ignore[arg-type]

    for reason, call in (
        ("more than dim", lambda: build(dim=200)),
        ("letters wide", lambda: build(filters=[(9, 3)])),
        ("field of elmo", lambda: build(heads=2)),
        ("at least 1", lambda: build(layers=0)),
        ("characters", lambda: ex.build("elmo", tokenizer=ex.tokenizer("words", ["a dog"], size=50))),
        ("no Hugging Face class", lambda: ex.export(elmo, "nowhere")),
        ("takes no target", lambda: elmo.outputs(TEXT, target=TEXT)),
        ("stream", lambda: ex.trace(elmo, TEXT, edits=[ex.SilenceHead("forward", layer=0, head=0)])),
        ("bilm", lambda: ex.fit(elmo, corpus=list(stories(40, 1)), objective="causal")),
        ("without highway layers", lambda: ex.analysis.highway_gates(build(dim=8, hidden=12, highways=0), "dog")),
    ):
        with pytest.raises(ChoiceError, match=reason):
            call()


def test_a_forget_gate_begins_open() -> None:
    module = initialise(BiLM(ElmoConfig(vocab=30, dim=8, hidden=12)), 1)
    assert torch.equal(module.onward.layers[0].bias_ih_l0[12:24], torch.ones(12))


def test_the_drawing_has_a_box_for_every_state_and_no_arrow_from_one_direction_to_the_other() -> None:
    config = ElmoConfig(vocab=9, dim=8, hidden=9, layers=3)
    drawn = ElementTree.fromstring(
        drawing.drawn(config, ["<S>", "a", "b"], ["blue", "orange"], "black").replace(" xmlns=", " data-of=")
    )
    for colour, towards in (("blue", 1), ("orange", -1)):
        assert len([box for box in drawn.iter("rect") if box.get("stroke") == colour]) == 3 * config.layers
        lines = [
            {k: float(line.get(k, 0)) for k in ("x1", "x2", "y1", "y2")}
            for line in drawn.iter("line")
            if line.get("stroke") == colour
        ]
        aside = [line for line in lines if line["y1"] == line["y2"]]
        assert len(aside) == 2 * config.layers and all(towards * (line["x2"] - line["x1"]) > 0 for line in aside)
        assert len(lines) == len(aside) + 3 * config.layers and all(
            line["y2"] < line["y1"] for line in lines if line not in aside
        )
    more = drawing.drawn(config, [*"abcdefghijk"], ["blue", "orange"], "black")
    assert more.count("<line") == drawing.MOST * (1 + 4 * config.layers), "arrows go on to words that are not shown"
    assert "2 × 8" in "".join(drawn.itertext()) and "<S>" in "".join(drawn.itertext())
