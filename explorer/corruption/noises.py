"""BART's five noises and the cloze corruptions: the model reads damaged text and writes the original."""

from __future__ import annotations

from math import exp, factorial

import numpy as np

from explorer.corruption.rows import MASKED, REPLACED, Corrupted, Rows, chosen_count, drawn, ordinary, rebuilt
from explorer.corruption.strategy import CorruptionStrategy
from explorer.errors import ChoiceError
from explorer.records import Vocabulary

LONGEST = 1_000_000  # tokens of a span on average


def restored(original: Rows, damaged: Rows) -> Corrupted:
    """Damaged text to read, the original to write."""
    return Corrupted(damaged, original.attention_mask, original.ids, np.where(original.attention_mask, original.start, -1))


def mask(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Tokens become masks, one for one."""
    chosen = drawn(rows.free, chosen_count(rows.free, rate), rng)
    return restored(rows, rows.changed(chosen, masked_by(vocabulary), MASKED))


def delete(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Tokens are deleted, without a mask."""
    chosen = drawn(rows.free, chosen_count(rows.free, rate), rng)
    nothing = np.full(rows.ids.shape, -1)
    return restored(rows, rebuilt(rows, ~chosen, nothing, np.zeros_like(nothing), vocabulary.pad or 0))


def infill(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.3, mean: float = 3.0) -> Corrupted:
    """Spans with lengths from a Poisson distribution each become one mask; a span of length zero puts one in."""
    return restored(rows, infilled(rows, vocabulary, rng, rate, mean))


def infilled(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, rate: float, mean: float) -> Rows:
    """Rows with spans of tokens replaced by single masks, until the rate is reached."""
    if not 0 < mean <= LONGEST:
        raise ChoiceError(f"mean={mean!r} must be above 0 and at most {LONGEST:,}: it is the mean length of the spans.")
    name, free, wanted = masked_by(vocabulary), rows.free, chosen_count(rows.free, rate)
    count, length = free.sum(axis=1), free.shape[1]
    gone, before, spans = np.zeros_like(free), np.full((len(free), length), -1), np.zeros((len(free), length), np.int64)
    place = np.where(free, np.cumsum(free, axis=1) - 1, -length)
    row = np.arange(len(free))
    for _ in range(4 * length):
        room = wanted - gone.sum(axis=1)
        if not (room > 0).any():
            break
        size = np.minimum(rng.poisson(mean, len(free)), room)
        begin = np.floor(rng.random(len(free)) * count).astype(np.int64)
        at = np.argmax(place == begin[:, None], axis=1)
        inside = (place >= begin[:, None]) & (place < (begin + size)[:, None])
        touched = (place >= (begin - 1)[:, None]) & (place <= (begin + size)[:, None])  # masks are not adjacent
        clear = ~((gone | (before >= 0)) & touched).any(axis=1) & (begin + size <= count) & (room > 0)
        gone |= inside & clear[:, None]
        before[row[clear], at[clear]], spans[row[clear], at[clear]] = name, size[clear]
    return rebuilt(rows, ~gone, before, spans, vocabulary.pad or 0)


def infill_law(tokens: int, mean: float = 3.0) -> np.ndarray:
    """Poisson with mean 3, zero included; cut where less than a millionth is left."""
    return np.array([exp(-mean) * mean**n / factorial(n) for n in range(15)])


def permute(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator) -> Corrupted:
    """The sentences in a random order."""
    return restored(rows, permuted(rows, rng))


def permuted(rows: Rows, rng: np.random.Generator) -> Rows:
    """Rows with their sentences in a random order; special tokens stay where they are."""
    count = int(rows.sentences.max(initial=0)) + 1
    uniforms = rng.random((len(rows.ids), count))
    uniforms = np.take_along_axis(uniforms, np.maximum(rows.sentences, 0), axis=1)
    return rows.taken(_order(rows.free, uniforms))


def rotate(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator) -> Corrupted:
    """The text begins at a random token, and the part before it comes last."""
    free = rows.free
    count, place = free.sum(axis=1, keepdims=True), np.cumsum(free, axis=1) - 1
    begin = np.floor(rng.random((len(free), 1)) * count).astype(np.int64)
    return restored(rows, rows.taken(_order(free, (place - begin) % np.maximum(count, 1))))


def bart(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.3, mean: float = 3.0) -> Corrupted:
    """As the published model was trained: sentences permuted, then spans infilled."""
    return restored(rows, infilled(permuted(rows, rng), vocabulary, rng, rate, mean))


def substitute(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Tokens become other tokens."""
    chosen = drawn(rows.free, chosen_count(rows.free, rate), rng)
    return restored(rows, rows.changed(chosen, rng.choice(ordinary(vocabulary), chosen.shape), REPLACED))


def reorder(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """A share of the tokens change places among themselves: each takes the place of the next, in a random round."""
    free = rows.free
    chosen = drawn(free, np.minimum(np.maximum(2, chosen_count(free, rate)), free.sum(axis=1)), rng)
    return restored(rows, rows.taken(_cycle(chosen, rng.random(free.shape))))


def insert(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Random tokens are put in between."""
    chosen = drawn(rows.free, chosen_count(rows.free, rate), rng)
    new = np.where(chosen, rng.choice(ordinary(vocabulary), chosen.shape), -1)
    return restored(rows, rebuilt(rows, rows.attention_mask, new, np.zeros_like(new), vocabulary.pad or 0))


def masked_by(vocabulary: Vocabulary) -> int:
    """The id of the mask token."""
    if vocabulary.mask is None:
        raise ChoiceError("This noise needs a tokenizer with a mask token.")
    return vocabulary.mask


def _cycle(moving: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """An order in which each moving position of a row takes the token of the next one in a random cycle; all others stay."""
    ranked = np.argsort(np.where(moving, uniforms, np.inf), axis=1, kind="stable")  # moving positions first, in random order
    at, count = np.arange(moving.shape[1]), moving.sum(axis=1, keepdims=True)
    turned = np.where(at < count, (at + 1) % np.maximum(count, 1), at)
    order = np.empty_like(ranked)
    np.put_along_axis(order, ranked, np.take_along_axis(ranked, turned, axis=1), axis=1)
    return order


def _order(moving: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """An order in which the moving positions of each row are sorted by their random numbers, and all others stay."""
    place = np.broadcast_to(np.arange(moving.shape[1]), moving.shape)
    ranked = np.argsort(np.where(moving, uniforms, np.inf), axis=1, kind="stable")  # moving positions first, in random order
    slot = np.cumsum(moving, axis=1) - 1
    return np.where(moving, np.take_along_axis(ranked, np.maximum(slot, 0), axis=1), place)


NOISES: dict[str, CorruptionStrategy] = {
    "bart": CorruptionStrategy(
        bart,
        about="**BART as published.** Sentences in a new order, then spans with lengths from a Poisson distribution become one mask each."
        "",
        needs=("mask",),
        counts={},
    ),
    "bart-mask": CorruptionStrategy(
        mask, about="**BART's first noise.** Tokens become [MASK]; the model writes the whole text again.", needs=("mask",)
    ),
    "bart-delete": CorruptionStrategy(delete, about="**BART's second noise.** Tokens are deleted, without a mask."),
    "bart-infill": CorruptionStrategy(
        infill,
        about="**BART's third noise.** A span becomes *one* mask, so the model must find how much is missing. Sometimes "
        "nothing is: a span of length 0 only inserts a mask.",
        needs=("mask",),
        law=infill_law,
    ),
    "bart-permute": CorruptionStrategy(permute, about="**BART's fourth noise.** The sentences in another order."),
    "bart-rotate": CorruptionStrategy(
        rotate, about="**BART's fifth noise.** The text begins at a random token; the model finds the true beginning."
    ),
}
CLOZE: dict[str, CorruptionStrategy] = {
    "cloze-substitute": CorruptionStrategy(
        substitute, about="**Substitution.** Tokens are replaced by random ones; nothing marks them.", counts={}
    ),
    "cloze-reorder": CorruptionStrategy(reorder, about="**Reordering.** Some tokens swap their positions."),
    "cloze-delete": CorruptionStrategy(delete, about="**Deletion.** Tokens are left out.", counts={}),
    "cloze-insert": CorruptionStrategy(insert, about="**Insertion.** Random tokens are inserted."),
}
