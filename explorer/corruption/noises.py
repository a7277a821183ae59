"""BART's five noises and the cloze corruptions: the model reads damaged text and writes the original."""

from __future__ import annotations

import numpy as np

from explorer.corruption.rows import MASKED, REPLACED, Corrupted, Rows, budget, drawn, ordinary, rebuilt
from explorer.errors import ChoiceError
from explorer.records import Vocabulary


def restored(original: Rows, damaged: Rows) -> Corrupted:
    """Damaged text to read, the original to write."""
    return Corrupted(damaged, original.real, original.ids, np.where(original.real, original.start, -1))


def mask(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Pieces become masks, one for one."""
    chosen = drawn(rows.free, budget(rows.free, rate), chance)
    return restored(rows, rows.changed(chosen, masked_by(vocabulary), MASKED))


def delete(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Pieces are left out, and nothing says where."""
    chosen = drawn(rows.free, budget(rows.free, rate), chance)
    nothing = np.full(rows.ids.shape, -1)
    return restored(rows, rebuilt(rows, ~chosen, nothing, np.zeros_like(nothing), vocabulary.pad or 0))


def infill(
    rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.3, mean: float = 3.0
) -> Corrupted:
    """Spans with lengths from a Poisson distribution each become one mask; a span of length zero puts one in."""
    return restored(rows, infilled(rows, vocabulary, chance, rate, mean))


def infilled(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, rate: float, mean: float) -> Rows:
    """Rows with spans of pieces replaced by single masks, until the rate is reached."""
    if mean <= 0:
        raise ChoiceError(f"mean={mean!r} must be above 0: it is how long spans are on average.")
    name, free, wanted = masked_by(vocabulary), rows.free, budget(rows.free, rate)
    count, length = free.sum(axis=1), free.shape[1]
    gone, before, spans = np.zeros_like(free), np.full((len(free), length), -1), np.zeros((len(free), length), np.int64)
    place = np.where(free, np.cumsum(free, axis=1) - 1, -length)
    row = np.arange(len(free))
    for _ in range(4 * length):
        room = wanted - gone.sum(axis=1)
        if not (room > 0).any():
            break
        size = np.minimum(chance.poisson(mean, len(free)), room)
        begin = np.floor(chance.random(len(free)) * count).astype(np.int64)
        at = np.argmax(place == begin[:, None], axis=1)
        inside = (place >= begin[:, None]) & (place < (begin + size)[:, None])
        touched = (place >= (begin - 1)[:, None]) & (place <= (begin + size)[:, None])  # masks do not stand side by side
        clear = ~((gone | (before >= 0)) & touched).any(axis=1) & (begin + size <= count) & (room > 0)
        gone |= inside & clear[:, None]
        before[row[clear], at[clear]], spans[row[clear], at[clear]] = name, size[clear]
    return rebuilt(rows, ~gone, before, spans, vocabulary.pad or 0)


def permute(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator) -> Corrupted:
    """The sentences in a random order."""
    return restored(rows, permuted(rows, chance))


def permuted(rows: Rows, chance: np.random.Generator) -> Rows:
    """Rows with their sentences in a random order; special pieces stay where they are."""
    count = int(rows.sentences.max(initial=0)) + 1
    lots = np.take_along_axis(chance.random((len(rows.ids), count)), np.maximum(rows.sentences, 0), axis=1)
    return rows.taken(_order(rows.free, lots))


def rotate(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator) -> Corrupted:
    """The text begins at a random piece, and what stood before it comes last."""
    free = rows.free
    count, place = free.sum(axis=1, keepdims=True), np.cumsum(free, axis=1) - 1
    begin = np.floor(chance.random((len(free), 1)) * count).astype(np.int64)
    return restored(rows, rows.taken(_order(free, (place - begin) % np.maximum(count, 1))))


def bart(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.3, mean: float = 3.0) -> Corrupted:
    """As the published model was trained: sentences permuted, then spans infilled."""
    return restored(rows, infilled(permuted(rows, chance), vocabulary, chance, rate, mean))


def substitute(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Pieces become other pieces."""
    chosen = drawn(rows.free, budget(rows.free, rate), chance)
    return restored(rows, rows.changed(chosen, chance.choice(ordinary(vocabulary), chosen.shape), REPLACED))


def reorder(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """A share of the pieces change places among themselves: each takes the place of the next, in a random round."""
    free = rows.free
    chosen = drawn(free, np.minimum(np.maximum(2, budget(free, rate)), free.sum(axis=1)), chance)
    return restored(rows, rows.taken(_cycle(chosen, chance.random(free.shape))))


def insert(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15) -> Corrupted:
    """Random pieces are put in between."""
    chosen = drawn(rows.free, budget(rows.free, rate), chance)
    new = np.where(chosen, chance.choice(ordinary(vocabulary), chosen.shape), -1)
    return restored(rows, rebuilt(rows, rows.real, new, np.zeros_like(new), vocabulary.pad or 0))


def masked_by(vocabulary: Vocabulary) -> int:
    """The id of the mask piece."""
    if vocabulary.mask is None:
        raise ChoiceError("This noise needs a tokenizer with a mask piece.")
    return vocabulary.mask


def _cycle(moving: np.ndarray, lots: np.ndarray) -> np.ndarray:
    """An order in which each moving place of a row takes what stands at the next one by lot, so that none stays; all others do."""
    ranked = np.argsort(np.where(moving, lots, np.inf), axis=1, kind="stable")  # moving places first, by lot
    at, count = np.arange(moving.shape[1]), moving.sum(axis=1, keepdims=True)
    turned = np.where(at < count, (at + 1) % np.maximum(count, 1), at)
    order = np.empty_like(ranked)
    np.put_along_axis(order, ranked, np.take_along_axis(ranked, turned, axis=1), axis=1)
    return order


def _order(moving: np.ndarray, lots: np.ndarray) -> np.ndarray:
    """An order in which the moving places of each row are sorted by their lots, and all others stay."""
    place = np.broadcast_to(np.arange(moving.shape[1]), moving.shape)
    ranked = np.argsort(np.where(moving, lots, np.inf), axis=1, kind="stable")  # moving places first, by lot
    slot = np.cumsum(moving, axis=1) - 1
    return np.where(moving, np.take_along_axis(ranked, np.maximum(slot, 0), axis=1), place)
