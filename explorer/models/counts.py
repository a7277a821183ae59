"""Counting n-grams, and smoothing: probability for n-grams that were never counted.

An n-gram is a context (the tokens before) and the token that follows. Contexts form a tree: a context of three tokens is a context of
two with one more token on its left. So every context has a number, and a context with its next token is a single whole number,
`context · size + token`: counting is sorting numbers, and looking up is searching in a sorted list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from explorer.records import Record

Split = tuple[
    np.ndarray, np.ndarray
]  # what each n-gram keeps [n-gram], what each context passes on to the shorter one [context]


@dataclass(frozen=True, eq=False)
class Level(Record):
    """Every n-gram of one length that occurs in a corpus.

    `contexts` [context] holds each context as `shorter context · size + the token on its left`, sorted; its index in the list is its
    number. `grams` [n-gram] holds `context · size + next token`, sorted. `seen` says how often each occurs, `preceded` by how many
    different tokens it is preceded (for the longest n-grams, where no longer context was counted: `seen` again).
    """

    size: int
    contexts: np.ndarray
    grams: np.ndarray
    seen: np.ndarray
    preceded: np.ndarray

    @property
    def heads(self) -> np.ndarray:
        """The number of the context of each n-gram."""
        return self.grams // self.size

    @property
    def pieces(self) -> np.ndarray:
        """The last token of each n-gram."""
        return self.grams % self.size


@dataclass(frozen=True, eq=False)
class Counts(Record):
    """The n-grams of a corpus, from the single tokens (level 0) to the longest."""

    levels: tuple[Level, ...]


def count(tokens: np.ndarray, before: Sequence[np.ndarray], size: int) -> Counts:
    """Count n-grams of every length: `before[j]` holds, for each of `tokens`, the token j + 1 positions to its left."""
    heads = np.zeros(len(tokens), dtype=np.int64)
    contexts = [np.zeros(1, dtype=np.int64)]  # there is one empty context, number 0
    for left in before:
        known, heads = ranked(heads * size + left, len(contexts[-1]) * size)
        contexts.append(known)
    grams, seen = np.unique(heads * size + tokens, return_counts=True)
    levels = [Level(size, contexts[-1], grams, seen, seen)]
    for shorter in reversed(contexts[:-1]):
        levels.insert(0, _without_leftmost(levels[0], shorter))
    return Counts(tuple(levels))


def _without_leftmost(level: Level, contexts: np.ndarray) -> Level:
    """The n-grams without the leftmost token of each."""
    shorter = level.contexts[level.heads] // level.size  # [n-gram] number of the context without its leftmost token
    grams, place = np.unique(shorter * level.size + level.pieces, return_inverse=True)
    seen = np.bincount(place, weights=level.seen).astype(np.int64)  # sums of whole numbers below 2⁵³ are exact
    return Level(level.size, contexts, grams, seen, np.bincount(place))


def ranked(keys: np.ndarray, below: int) -> tuple[np.ndarray, np.ndarray]:
    """The different keys in order, and for every key its index among them. All keys are smaller than `below`."""
    if below > 4 * len(keys):
        return np.unique(keys, return_inverse=True)
    present = np.zeros(below, dtype=bool)  # few possible keys: marking them is faster than sorting
    present[keys] = True
    return np.flatnonzero(present), (np.cumsum(present) - 1)[keys]


def find(table: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The index of each key in a sorted table; −1 where it is not there."""
    place = np.minimum(np.searchsorted(table, keys), len(table) - 1)
    return np.where(table[place] == keys, place, -1)


def find_contexts(counts: Counts, before: Sequence[np.ndarray], many: int) -> list[np.ndarray]:
    """For each level the numbers of `many` contexts; −1 for one that never occurred, and so for all that are longer."""
    heads = [np.zeros(many, dtype=np.int64)]
    for level, left in zip(counts.levels[1:], before, strict=True):
        heads.append(find(level.contexts, heads[-1] * level.size + left))  # −1 makes a negative key, which is in no table
    return heads


def witten_bell(level: Level) -> Split:
    """Witten and Bell: a context passes on probability in proportion to its number of different next tokens, as if each new one were
    one more event.

    P(w | h) = (count of h w + kinds after h · P(w | shorter h)) / (count of h + kinds after h)
    """
    heads = level.heads
    kinds, total = np.bincount(heads), np.bincount(heads, weights=level.seen)
    return level.seen / (total + kinds)[heads], kinds / (total + kinds)


def kneser_ney(level: Level) -> Split:
    """Kneser and Ney: take the same discount D from every count, and count shorter n-grams by what they are preceded by.

    P(w | h) = (c − D) / c of h + D · kinds after h / c of h · P(w | shorter h). Below the longest n-grams, c is the number of
    different tokens on the left: *Francisco* is frequent, but it follows one word only, so it is a poor guess elsewhere.
    D is n₁ / (n₁ + 2 n₂), from how many n-grams occur once and twice; where a small corpus has none of one kind, it is 0.5.
    """
    n1, n2 = (int((level.preceded == k).sum()) for k in (1, 2))
    return _discounted(level, [n1 / (n1 + 2 * n2)] * 3 if n1 and n2 else [0.5] * 3)


def modified_kneser_ney(level: Level) -> Split:
    """Chen and Goodman: as Kneser and Ney, with three discounts, for n-grams counted once, twice, and more often.

    They follow from how many n-grams occur once, twice, three and four times; where a small corpus has none of one kind,
    or where a discount would not be positive, they are 0.5, 1 and 1.5.
    """
    n = [int((level.preceded == k).sum()) for k in (1, 2, 3, 4)]
    if not all(n):
        return _discounted(level, [0.5, 1.0, 1.5])
    y = n[0] / (n[0] + 2 * n[1])
    discounts = [k - (k + 1) * y * n[k] / n[k - 1] for k in (1, 2, 3)]
    return _discounted(level, discounts if min(discounts) > 0 else [0.5, 1.0, 1.5])


def _discounted(level: Level, discounts: list[float]) -> Split:
    heads, counts = level.heads, level.preceded
    taken = np.array(discounts)[np.minimum(counts, 3) - 1]
    total = np.bincount(heads, weights=counts)
    return (counts - taken) / total[heads], np.bincount(heads, weights=taken) / total


SMOOTHINGS: dict[str, Callable[[Level], Split]] = {
    "witten-bell": witten_bell,
    "kneser-ney": kneser_ney,
    "modified-kneser-ney": modified_kneser_ney,
}
