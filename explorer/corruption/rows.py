"""Rows of tokens while they are being corrupted, and what comes of them: whole batches at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from explorer.records import Vocabulary

KEPT, MASKED, REPLACED, SCORED, INSERTED, MOVED = range(6)


@dataclass(frozen=True)
class Rows:
    """A batch of texts, each position with where it came from. Everything is [row, position].

    `words` and `sentences` number what each token belongs to (−1 for special tokens). A token covers the positions
    order[start], …, order[start + count − 1] of the original: one as a rule, several for a mask that hides a span, none for
    an insertion. `order` is 0, 1, 2, … unless words were moved.
    """

    ids: np.ndarray
    attention_mask: np.ndarray
    words: np.ndarray
    sentences: np.ndarray
    start: np.ndarray
    count: np.ndarray
    action: np.ndarray
    order: np.ndarray

    @property
    def free(self) -> np.ndarray:
        """Where there is text that may be hidden, replaced, moved or left out: not padding, not special."""
        return self.attention_mask & (self.words >= 0)

    def changed(self, where: np.ndarray, ids: np.ndarray | int, action: int) -> Rows:
        """The same rows with other tokens at some positions."""
        return replace(self, ids=np.where(where, ids, self.ids), action=np.where(where, action, self.action))

    def taken(self, order: np.ndarray) -> Rows:
        """The same rows with position i holding what was at order[i]; what is no longer where it was has moved. Before all else."""
        parts = {
            name: np.take_along_axis(getattr(self, name), order, axis=1) for name in ("ids", "words", "sentences", "order")
        }
        moved = (order != np.arange(order.shape[1])) & self.attention_mask
        action = np.where(moved, MOVED, np.take_along_axis(self.action, order, axis=1))
        return replace(self, **parts, action=action)


def rows_of(ids: np.ndarray, attention_mask: np.ndarray, words: np.ndarray, sentences: np.ndarray) -> Rows:
    """Untouched rows: every token covers itself."""
    positions = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
    count, action = attention_mask.astype(np.int64), np.zeros(ids.shape, np.int64)
    return Rows(ids, attention_mask, words, sentences, positions, count, action, positions)


@dataclass(frozen=True)
class Corrupted:
    """Rows after corruption: what the model reads, what it should say, and where that is scored.

    `target` [row, position] is None where the model should say the original, position for position; then `scored` is over the
    source, otherwise over the target. `target_start` says which original position each token of the target is (−1: none).
    """

    source: Rows
    scored: np.ndarray
    target: np.ndarray | None = None
    target_start: np.ndarray | None = None
    labels: Mapping[str, np.ndarray] = field(default_factory=dict)


def hidden_share(rows: Rows, corrupted: Corrupted) -> np.ndarray:
    """The share of each row's text that was hidden, replaced or left out: [row].

    Where nothing was, what was moved counts, or what was put in. Beside hiding, moving is not counted.
    """
    source, count = corrupted.source, np.maximum(rows.free.sum(axis=1), 1)
    kept, moved = ((source.free & (source.action == action)).sum(axis=1) for action in (KEPT, MOVED))
    gone = rows.free.sum(axis=1) - kept - moved
    inserted = (source.attention_mask & (source.action == INSERTED)).sum(axis=1)
    hidden: np.ndarray = np.where(gone > 0, gone, np.where(moved > 0, moved, inserted)) / count
    return hidden


def packed_left(values: Mapping[str, np.ndarray], keep: np.ndarray, pad: int) -> dict[str, np.ndarray]:
    """What is kept of each row, moved to the left: arrays [row, longest row], and "attention_mask". Padding is 0, in ids `pad`."""
    length = int(keep.sum(axis=1).max(initial=1))
    positions, row = np.cumsum(keep, axis=1)[keep] - 1, np.nonzero(keep)[0]
    packed = {}
    for name, value in values.items():
        room = np.full((len(keep), length), pad if name == "ids" else 0, np.int64)
        room[row, positions] = value[keep]
        packed[name] = room
    packed["attention_mask"] = np.arange(length) < keep.sum(axis=1)[:, None]
    return packed


def rebuilt(rows: Rows, keep: np.ndarray, before: np.ndarray, spans: np.ndarray, pad: int) -> Rows:
    """Rows with some positions left out and new tokens put in.

    `keep` says which positions stay; `before` is the id of a token put in before each position (−1: none), instead of the
    next `spans` positions. A column more than the rows have lets something be put in at the end.
    """
    count, length = rows.ids.shape
    if before.shape[1] == length:
        before, spans = (np.pad(x, ((0, 0), (0, 1)), constant_values=fill) for x, fill in ((before, -1), (spans, 0)))
    slots = np.zeros((count, length + 1, 2), np.int64)
    start = np.pad(rows.start, ((0, 0), (0, 1)), constant_values=length)

    def both(new: np.ndarray | int, old: np.ndarray) -> np.ndarray:
        slots[..., 0], slots[:, :length, 1] = new, old
        return slots.reshape(count, -1).copy()

    values = {
        "ids": both(before, rows.ids),
        "start": both(start, rows.start),
        "count": both(spans, rows.count),
        "action": both(np.where(spans > 0, MASKED, INSERTED), rows.action),
        "words": both(np.pad(rows.words, ((0, 0), (0, 1)), constant_values=-1), rows.words),
        "sentences": both(np.pad(rows.sentences, ((0, 0), (0, 1)), constant_values=-1), rows.sentences),
    }
    chosen = both(before >= 0, keep & rows.attention_mask).astype(bool)
    return Rows(**packed_left(values, chosen, pad), order=rows.order)


def ordinary(vocabulary: Vocabulary) -> np.ndarray:
    """The ids that are text."""
    return _without(vocabulary.size, vocabulary.special)


@lru_cache(maxsize=8)
def _without(size: int, special: tuple[int, ...]) -> np.ndarray:
    """Looked up once for each vocabulary: it takes longer than hiding."""
    ordinary = np.setdiff1d(np.arange(size), special)
    ordinary.flags.writeable = False
    return ordinary


def chosen_count(free: np.ndarray, rate: float) -> np.ndarray:
    """How many positions of each row are chosen: the nearest whole number to the rate, at least one where there is text."""
    count = free.sum(axis=1)
    chosen: np.ndarray = np.minimum(np.maximum(1, np.rint(rate * count)), count).astype(np.int64)
    return chosen


def drawn(free: np.ndarray, wanted: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Exactly `wanted` of the free positions of each row, each as likely as any other."""
    uniforms = np.where(free, rng.random(free.shape), np.inf)
    ordered = np.sort(uniforms, axis=1)
    last = np.take_along_axis(ordered, np.maximum(wanted - 1, 0)[:, None], axis=1)
    chosen: np.ndarray = (uniforms <= last) & free & (wanted > 0)[:, None]
    return chosen
