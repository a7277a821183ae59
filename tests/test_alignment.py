"""Two texts or two models side by side: the alignment against exhaustive search, its numbers against NumPy, its part of the page."""

from __future__ import annotations

import random
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from conftest import SAMPLED, SENTENCE, some
from opening import opened

import explorer as ex
from explorer.analysis.alignment import WORDS, aligned_words
from explorer.app.lessons import SENTENCE as OPENING
from explorer.models.transformer import TransformerModel
from explorer.records import AlignedTraces
from explorer.views import VIEWS

OTHER = "The animal did not cross the wide street, because it was tired."
ODD = "Zebra  <b>bold</b> 😀 مرحبا 你好 é naïve."
PAIRS = (("bert", "gpt2"), ("bart", "roberta"), ("gpt2", "t5"))
COMPARED = [*product(PAIRS, (SENTENCE, ODD, "a", "The dogs didn't sleep!"))]


@pytest.fixture(scope="module")
def changed(bert: TransformerModel) -> AlignedTraces:
    """One model, two texts."""
    return ex.analysis.align(ex.trace(bert, SENTENCE), ex.trace(bert, OTHER), (SENTENCE, OTHER))


@pytest.fixture(scope="module")
def two(bert: TransformerModel, gpt2: TransformerModel) -> AlignedTraces:
    """Two models, one text."""
    return ex.analysis.align(ex.trace(bert, SENTENCE), ex.trace(gpt2, SENTENCE), (SENTENCE, SENTENCE))


def fewest(a: tuple[str, ...], b: tuple[str, ...]) -> int:
    """The fewest changes, found by trying everything."""

    @cache
    def rest(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        return min(rest(i + 1, j + 1) + cost(a[i], b[j]), rest(i + 1, j) + 1, rest(i, j + 1) + 1)

    return rest(0, 0)


def cost(first: str | None, other: str | None) -> int:
    """What a pair of words costs: a word and a sign are further apart than two words."""
    return 1 if first is None or other is None else 0 if first == other else 1 if first.isalnum() == other.isalnum() else 2


def test_words_are_aligned_with_the_fewest_changes_there_are() -> None:
    rng = random.Random(3)
    for _ in range(200):
        a, b = (tuple(rng.choices(["x", "y", "z", ".", ","], k=rng.randrange(8))) for _ in range(2))
        texts = " ".join(a), " ".join(b)
        path = [
            tuple(None if span is None else text[slice(*span)] for span, text in zip(spans, texts, strict=True))
            for spans in aligned_words(*texts)
        ]
        read = [tuple(pair[side] for pair in path if pair[side] is not None) for side in (0, 1)]
        assert read == [a, b], "every word once, in its order"
        assert sum(cost(*pair) for pair in path) == fewest(a, b)


def test_a_changed_word_an_added_one_and_a_missing_one(changed: AlignedTraces) -> None:
    kinds = dict(zip(changed.words, changed.kinds, strict=True))
    assert kinds["", "wide"] == "only second" and kinds["", ","] == "only second" and kinds["too", ""] == "only first"
    assert kinds["street", "street"] == "same" and kinds["[CLS]", "[CLS]"] == "special" and kinds["[SEP]", "[SEP]"] == "special"
    order = [ours for ours, _ in changed.words if ours]
    assert order == [*["[CLS]"], *[SENTENCE[slice(*span)] for span in changed.first.source.offsets[1:-1]], "[SEP]"]


@SAMPLED
@pytest.mark.parametrize(("pair", "text"), some(COMPARED, *COMPARED[::5], *COMPARED[1::5]))
def test_units_of_one_text_end_where_tokens_of_both_end(pair: tuple[str, str], text: str) -> None:
    """The same stretches of letters in both, and none that could be smaller."""
    traces = [_traced(name, text) for name in pair]
    aligned = ex.analysis.align(*traces, (text, text))
    ends = [{end for start, end in trace.source.offsets if end > start and text[start:end].strip()} for trace in traces]
    for word, kind, spans in zip(aligned.words, aligned.kinds, aligned.spans, strict=True):
        if kind == "special" or not WORDS.search(text[slice(*spans[0])] if spans[0][0] >= 0 else ""):
            continue
        assert kind == "same" and word[0] == word[1] and (spans[0] == spans[1]).all()
        start, end = spans[0]
        inside = {at for at in range(start + 1, end) if text[start:at].strip() and WORDS.search(text[at:end])}
        assert not inside & ends[0] & ends[1], f"{word} could be cut"
    for number, trace in enumerate(traces):
        assert len(aligned.units[number]) == len(trace.source) and set(aligned.units[number]) <= set(range(len(aligned)))
        offsets = zip(aligned.units[number], trace.source.offsets, strict=True)
        text_rows = [unit for unit, (start, end) in offsets if end > start]
        assert text_rows == sorted(text_rows), "in the order of the text"


def _traced(name: str, text: str) -> ex.records.Trace:
    model = ex.load(name, device="cpu")
    return ex.trace(model, text, **({"target": text} if model.family == "encoder-decoder" else {}))


def test_attention_between_units_is_a_mean_over_queries_and_a_sum_over_keys(two: AlignedTraces) -> None:
    for number, stream in enumerate(("encoder", "decoder")):
        units, weights = two.units[number], two.both[number].at(stream, 1).weights[2]
        between = two.weights(number, stream, 1, 2)
        for row in set(units):
            for column in set(units):
                assert between[row, column] == pytest.approx(weights[units == row][:, units == column].sum(1).mean(), abs=1e-6)
        present, missing = (sorted(part) for part in (set(units), set(range(len(two))) - set(units)))
        assert np.isnan(between[missing]).all() and np.isnan(between[:, missing]).all()
        np.testing.assert_allclose(between[np.ix_(present, present)].sum(1), 1, atol=1e-5)


def test_the_most_alike_head_is_the_best_of_all(changed: AlignedTraces, two: AlignedTraces) -> None:
    layer, head, far = changed.closest(0, 1, 2)
    itself = np.nanmean(np.abs(changed.weights(0, "encoder", 1, 2) - changed.weights(1, "encoder", 1, 2)))
    assert far <= itself
    wanted = two.weights(0, "encoder", 0, 1)
    places = ((attention.layer, head) for attention in two.second.attention for head in range(attention.heads))
    every = {place: np.nanmean(np.abs(two.weights(1, "decoder", *place) - wanted)) for place in places}
    best = min(every, key=lambda pair: every[pair])
    assert two.closest(0, 0, 1)[:2] == best and two.closest(0, 0, 1)[2] == pytest.approx(every[best])


def test_bits_of_a_unit_are_those_of_its_tokens(two: AlignedTraces, gpt2: TransformerModel, bert: TransformerModel) -> None:
    scores, ids = torch.tensor(gpt2.logits(SENTENCE)), torch.tensor(two.second.source.ids)
    wanted = torch.nn.functional.cross_entropy(scores[:-1], ids[1:], reduction="none") / np.log(2)
    for unit in set(two.units[1]) - {two.units[1][0]}:
        rows = np.flatnonzero(two.units[1] == unit)
        assert two.bits[1, unit] == pytest.approx(float(wanted[rows - 1].sum()), abs=1e-3)
    assert np.isnan(two.bits[1, two.units[1][0]]), "nothing stands before the first token"
    scores, ids = torch.tensor(bert.logits(SENTENCE)), torch.tensor(two.first.source.ids)
    own = torch.nn.functional.cross_entropy(scores, ids, reduction="none")
    assert np.nansum(two.bits[0]) == pytest.approx(float(own[1:-1].sum()) / np.log(2), abs=1e-3)
    assert np.isnan(two.bits[0, two.units[0][[0, -1]]]).all(), "special tokens are no text"


def test_a_decoder_beside_an_encoder_is_aligned_on_what_it_writes(gpt2: TransformerModel) -> None:
    bart = ex.load("bart", device="cpu")
    text = "The dog was tired."
    aligned = ex.analysis.align(ex.trace(bart, text, target=text), ex.trace(gpt2, text), (text, text))
    scores = torch.tensor(bart.logits(text, text)).log_softmax(-1)
    read = aligned.first.target
    assert read is not None and aligned.streams == (("decoder", "decoder"),)
    wanted = -sum(float(scores[row - 1, read.ids[row]]) for row in range(1, len(read)) if not read.special[row]) / np.log(2)
    assert np.nansum(aligned.bits[0]) == pytest.approx(wanted, abs=1e-3)
    units = aligned.units_of(0, read)
    weights, between = aligned.first.at("decoder", 0).weights[1], aligned.weights(0, "decoder", 0, 1)
    row, column = list(read.texts).index("·tired"), list(read.texts).index("·dog")
    assert between[units[row], units[column]] == pytest.approx(weights[row, column])


def test_states_are_apart_by_their_cosine_and_only_above_the_change(changed: AlignedTraces) -> None:
    far, unit = changed.distance("encoder"), changed.words.index(("street", "street"))
    rows = [int(np.flatnonzero(units == unit)[0]) for units in changed.units]
    state, other = (trace.hidden["encoder"][2, row].astype(float) for trace, row in zip(changed.both, rows, strict=True))
    apart = 1 - state @ other / np.linalg.norm(state) / np.linalg.norm(other)
    assert far[2, unit] == pytest.approx(apart, abs=1e-9)
    first = changed.words.index(("animal", "animal"))
    assert far[0, first] == pytest.approx(0, abs=1e-6) and far[1:, first].min() > 1e-4
    assert np.isnan(far[:, changed.words.index(("", "wide"))]).all()


def test_what_cannot_be_aligned_is_refused_and_a_record_is_kept(
    bert: TransformerModel, two: AlignedTraces, tmp_path: Path
) -> None:
    trace, pair, both = ex.trace(bert, SENTENCE), ex.trace(bert, ("A dog ran.", "It slept.")), (SENTENCE, SENTENCE)
    for wrong, message in (((bert, bert, both), "two traces"), ((trace, trace, SENTENCE), "a text, a text"),
                           ((trace, trace, (SENTENCE, "A dog.")), "another text"), ((pair, trace, both), "pair of texts")):  # fmt: skip
        with pytest.raises(ex.ExplorerError, match=message):
            ex.analysis.align(*wrong)
    with pytest.raises(ex.ExplorerError, match="no common meaning"):
        two.distance("encoder")
    assert AlignedTraces.read(two.write(tmp_path / "two.npz")) == two


def test_pictures_show_the_numbers_of_the_record(changed: AlignedTraces, two: AlignedTraces) -> None:
    bars = VIEWS["beside-predictions"](two)
    np.testing.assert_array_equal([bar.y for bar in bars.data], two.bits)
    np.testing.assert_allclose(VIEWS["beside-predictions"](two, shows="difference").data[0].y, two.bits[1] - two.bits[0])
    place = {"layer": 1, "head": 2, "match": "the same number"}
    both = VIEWS["beside-attention"](changed, **place, shows="both")
    cells = [changed.weights(number, "encoder", 1, 2) for number in (0, 1)]
    for heat, wanted in zip(both.data, cells, strict=True):
        np.testing.assert_allclose(heat.z, wanted, atol=1e-6)
    difference = VIEWS["beside-attention"](changed, **place, shows="difference")
    np.testing.assert_allclose(difference.data[0].z, cells[1] - cells[0], atol=1e-6)
    assert "no common meaning" in VIEWS["beside-states"].fits(two)


def test_the_part_of_the_page_holds_what_is_held_and_follows_its_address() -> None:
    at = opened("yours", part="side-by-side", hold="54")
    assert not at.exception and at.segmented_control(key="pair.shows").value == "Predictions"
    labels, row, text = at.session_state["hold.shown"]
    assert labels[row] == "tired | wide" and text == OPENING
    address = {"pair__second": "gpt2", "pair__text": OTHER, "pair__shows": "Attention"}
    at = opened("yours", part="side-by-side", hold="54", **address)
    assert not at.exception and at.selectbox(key="pair.second").value == "gpt2"
    assert at.selectbox(key="pair.first").value == "bert" and at.text_input(key="pair.text").value == OTHER
    labels, row, _ = at.session_state["hold.shown"]
    assert labels[row] == "tired" and "– | wide" in labels
    assert at.segmented_control(key="beside-attention.match").value == "the most alike"
