"""Masked language modelling: which tokens are hidden (tokens, whole words, spans), and what replaces them."""

from __future__ import annotations

import numpy as np

from explorer.corruption.rows import MASKED, REPLACED, SCORED, Corrupted, Rows, chosen_count, drawn, ordinary
from explorer.corruption.strategy import CorruptionStrategy
from explorer.errors import ChoiceError
from explorer.records import Vocabulary

SPLIT = (0.8, 0.1, 0.1)
SPAN_CHANCE, LONGEST_SPAN = 0.2, 10
COINS = "mlm, coin flips"


def mlm(
    rows: Rows,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    *,
    rate: float = 0.15,
    split: tuple[float, ...] = SPLIT,
    exact: bool = True,
) -> Corrupted:
    """BERT: an exact share of each row is chosen; by `split` it becomes [MASK], another token, or stays as it is.

    With `exact=False` every token is chosen by its own coin flip, as many programs do: then the share of a short text
    varies, and may be nothing at all.
    """
    free = rows.free
    chosen = drawn(free, chosen_count(free, rate), rng) if exact else free & (rng.random(free.shape) < rate)
    return covered(rows, chosen, vocabulary, rng, split)


def whole_word(
    rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15, split: tuple[float, ...] = SPLIT
) -> Corrupted:
    """As BERT, but all tokens of a word are chosen together; a word that would exceed the budget is passed over."""
    free, wanted = rows.free, chosen_count(rows.free, rate)
    chosen, size = np.zeros_like(free), _sizes(rows)
    uniforms = rng.random(size.shape)
    place = np.argsort(np.where(size > 0, uniforms, np.inf), axis=1)  # words in a random order
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
    return covered(rows, chosen, vocabulary, rng, split)


def spanbert(
    rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15, split: tuple[float, ...] = SPLIT
) -> Corrupted:
    """SpanBERT: spans of whole words, their length geometric, truncated at ten and renormalised; one decision for each span.

    Spans are drawn until the budget is used up; the last one is cut to fit, as in the published code, so what is
    measured on a short text is shorter than the nominal mean of 3.8 words.
    """
    free, wanted = rows.free, chosen_count(rows.free, rate)
    span, size = np.full(free.shape, -1), _sizes(rows)
    words = (size > 0).sum(axis=1)
    lengths, likely = lengths_of_spans()
    separated = bool(_parted(free).any())
    for turn in range(4 * free.shape[1]):
        open_ = (span >= 0).sum(axis=1) < wanted
        if not open_.any():
            break
        length = rng.choice(lengths, len(free), p=likely)[:, None]
        first = np.floor(rng.random(len(free)) * words).astype(np.int64)[:, None]
        inside = free & (rows.words >= first) & (rows.words < first + length) & open_[:, None]
        inside &= ~(inside & (span >= 0)).any(axis=1, keepdims=True)  # a span that meets another is drawn again
        if separated:
            inside &= ~_parted(inside)  # and so is one that goes on behind a separator
        room = (wanted - (span >= 0).sum(axis=1))[:, None]
        span[inside & (np.cumsum(inside, axis=1) <= room)] = turn
    return covered(rows, span >= 0, vocabulary, rng, split, span)


def _parted(inside: np.ndarray) -> np.ndarray:
    """In which rows the chosen positions are not one behind the other: [row, 1]."""
    begins = inside & ~np.pad(inside, ((0, 0), (1, 0)))[:, :-1]
    parted: np.ndarray = begins.sum(axis=1, keepdims=True) > 1
    return parted


def lengths_of_spans() -> tuple[np.ndarray, np.ndarray]:
    """The lengths a span may have, in words, and how likely each is."""
    lengths = np.arange(1, LONGEST_SPAN + 1)
    likely = SPAN_CHANCE * (1 - SPAN_CHANCE) ** (lengths - 1)
    return lengths, likely / likely.sum()


def spanbert_law(tokens: int) -> np.ndarray:
    """Geometric, truncated at ten and renormalised: mean 3.8 words."""
    return np.concatenate([[0.0], lengths_of_spans()[1]])


def covered(
    rows: Rows,
    chosen: np.ndarray,
    vocabulary: Vocabulary,
    rng: np.random.Generator,
    split: tuple[float, ...],
    span: np.ndarray | None = None,
) -> Corrupted:
    """Chosen positions by a split into [MASK], another token, as it is; one lot for each position, or for each span."""
    if vocabulary.mask is None:
        raise ChoiceError("Masking needs a tokenizer with a mask token, such as wordpiece.")
    if len(split) != 3 or min(split) < 0 or abs(sum(split) - 1) > 1e-6:
        raise ChoiceError(f"split={split!r} must be three shares that sum to 1: masked, replaced, kept.")
    uniforms = rng.random(chosen.shape)
    if span is not None:
        uniforms = np.take_along_axis(rng.random((len(chosen), int(span.max(initial=0)) + 1)), np.maximum(span, 0), axis=1)
    masked, replaced = chosen & (uniforms < split[0]), chosen & (uniforms >= split[0]) & (uniforms < split[0] + split[1])
    source = rows.changed(masked, vocabulary.mask, MASKED)
    source = source.changed(replaced, rng.choice(ordinary(vocabulary), chosen.shape), REPLACED)
    kept = chosen & ~masked & ~replaced
    return Corrupted(source.changed(kept, source.ids, SCORED), chosen, labels={} if span is None else {"span": span})


def _sizes(rows: Rows) -> np.ndarray:
    """How many tokens each word has: [row, word]."""
    free, count = rows.free, int(rows.words.max(initial=0)) + 1
    key = (np.arange(len(free))[:, None] * count + rows.words)[free]
    return np.bincount(key, minlength=len(free) * count).reshape(len(free), count)


MASKING: dict[str, CorruptionStrategy] = {
    "mlm": CorruptionStrategy(
        mlm,
        about="**BERT's masked language modelling (mlm).** 15% of the tokens are chosen. Of these 80% become [MASK], 10% another "
        "token, 10% stay as they are. The model predicts all of these, and only these.",
        needs=("mask",),
        masked_lm=True,
        counts={"mlm": {}, COINS: {"exact": False}},
    ),
    "whole-word": CorruptionStrategy(
        whole_word,
        about="**BERT, whole words.** All tokens of a word are chosen together. Write a word that is cut into several, "
        "such as *tiredness*: if only one of them is masked, the others give it away.",
        needs=("mask",),
        masked_lm=True,
    ),
    "spanbert": CorruptionStrategy(
        spanbert,
        about="**SpanBERT.** Spans of whole words. Masking, replacing or keeping is decided once for each span. Also, each hidden token is "
        "predicted from the encoder's outputs on both sides of its span (SBO).",
        needs=("mask",),
        masked_lm=True,
        law=spanbert_law,
    ),
}
