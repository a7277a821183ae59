"""Masked language modelling: which pieces are hidden (pieces, whole words, spans), and what stands in their place."""

from __future__ import annotations

import numpy as np

from explorer.corruption.rows import MASKED, REPLACED, SCORED, Corrupted, Rows, budget, drawn, ordinary
from explorer.errors import ChoiceError
from explorer.records import Vocabulary

SPLIT = (0.8, 0.1, 0.1)
SPAN_CHANCE, LONGEST_SPAN = 0.2, 10


def mlm(
    rows: Rows,
    vocabulary: Vocabulary,
    chance: np.random.Generator,
    *,
    rate: float = 0.15,
    split: tuple[float, ...] = SPLIT,
    exact: bool = True,
) -> Corrupted:
    """BERT: an exact share of each row is chosen; by `split` it becomes [MASK], another piece, or stays as it is.

    With `exact=False` every piece is chosen by a coin flip of its own, as many programs do: then the share of a short text
    varies, and may be nothing at all.
    """
    free = rows.free
    chosen = drawn(free, budget(free, rate), chance) if exact else free & (chance.random(free.shape) < rate)
    return covered(rows, chosen, vocabulary, chance, split)


def whole_word(
    rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15, split: tuple[float, ...] = SPLIT
) -> Corrupted:
    """As BERT, but all pieces of a word are chosen together; a word that would exceed the budget is passed over."""
    free, wanted = rows.free, budget(rows.free, rate)
    chosen, size = np.zeros_like(free), _sizes(rows)
    place = np.argsort(np.where(size > 0, chance.random(size.shape), np.inf), axis=1)  # words in a random order
    taken, row = np.zeros(len(free), np.int64), np.arange(len(free))
    words = np.zeros(size.shape, bool)
    for turn in range(size.shape[1]):
        word = place[:, turn]
        fits = (size[row, word] > 0) & (taken + size[row, word] <= wanted)
        words[row[fits], word[fits]] = True
        taken += np.where(fits, size[row, word], 0)
        if (taken >= wanted).all():
            break
    nothing = taken == 0  # every word is longer than the budget: then one word is hidden all the same
    words[row[nothing], place[nothing, 0]] = size[row[nothing], place[nothing, 0]] > 0
    chosen[free] = np.take_along_axis(words, np.maximum(rows.words, 0), axis=1)[free]
    return covered(rows, chosen, vocabulary, chance, split)


def spanbert(
    rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15, split: tuple[float, ...] = SPLIT
) -> Corrupted:
    """SpanBERT: spans of whole words, their length geometric, truncated at ten and renormalised; one decision for each span.

    Spans are drawn until the budget is used up; the last one is cut to fit, as in the published code, so what is
    measured on a short text is shorter than the nominal mean of 3.8 words.
    """
    free, wanted = rows.free, budget(rows.free, rate)
    span, size = np.full(free.shape, -1), _sizes(rows)
    words = (size > 0).sum(axis=1)
    lengths, likely = lengths_of_spans()
    for turn in range(4 * free.shape[1]):
        open_ = (span >= 0).sum(axis=1) < wanted
        if not open_.any():
            break
        length = chance.choice(lengths, len(free), p=likely)[:, None]
        first = np.floor(chance.random(len(free)) * words).astype(np.int64)[:, None]
        inside = free & (rows.words >= first) & (rows.words < first + length) & open_[:, None]
        inside &= ~(inside & (span >= 0)).any(axis=1, keepdims=True)  # a span that meets another is drawn again
        room = (wanted - (span >= 0).sum(axis=1))[:, None]
        span[inside & (np.cumsum(inside, axis=1) <= room)] = turn
    return covered(rows, span >= 0, vocabulary, chance, split, span)


def lengths_of_spans() -> tuple[np.ndarray, np.ndarray]:
    """The lengths a span may have, in words, and how likely each is."""
    lengths = np.arange(1, LONGEST_SPAN + 1)
    likely = SPAN_CHANCE * (1 - SPAN_CHANCE) ** (lengths - 1)
    return lengths, likely / likely.sum()


def covered(
    rows: Rows,
    chosen: np.ndarray,
    vocabulary: Vocabulary,
    chance: np.random.Generator,
    split: tuple[float, ...],
    span: np.ndarray | None = None,
) -> Corrupted:
    """Chosen places by a split into [MASK], another piece, as it is; one lot for each place, or for each span."""
    if vocabulary.mask is None:
        raise ChoiceError("Masking needs a tokenizer with a mask piece, such as wordpiece.")
    if len(split) != 3 or min(split) < 0 or abs(sum(split) - 1) > 1e-6:
        raise ChoiceError(f"split={split!r} must be three shares that sum to 1: masked, replaced, kept.")
    lots = chance.random(chosen.shape)
    if span is not None:
        lots = np.take_along_axis(chance.random((len(chosen), int(span.max(initial=0)) + 1)), np.maximum(span, 0), axis=1)
    masked, replaced = chosen & (lots < split[0]), chosen & (lots >= split[0]) & (lots < split[0] + split[1])
    made = rows.changed(masked, vocabulary.mask, MASKED)
    made = made.changed(replaced, chance.choice(ordinary(vocabulary), chosen.shape), REPLACED)
    kept = chosen & ~masked & ~replaced
    return Corrupted(made.changed(kept, made.ids, SCORED), chosen, labels={} if span is None else {"span": span})


def _sizes(rows: Rows) -> np.ndarray:
    """How many pieces each word has: [row, word]."""
    free, count = rows.free, int(rows.words.max(initial=0)) + 1
    key = (np.arange(len(free))[:, None] * count + rows.words)[free]
    return np.bincount(key, minlength=len(free) * count).reshape(len(free), count)
