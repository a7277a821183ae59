"""Vectors of whole sentences, how well each way of making them ranks pairs, and the counts of a small corpus before and after an edit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.shares import cosine


@dataclass(frozen=True, eq=False)
class Likeness(Record):
    """How alike each way makes every two of some sentences: `cosines` [way, text, text], not a number where a way knows no word.

    `unseen` [way, text] is the share of the pieces that the way's model never met.
    """

    texts: tuple[str, ...]
    ways: tuple[str, ...]
    cosines: np.ndarray
    unseen: np.ndarray


@dataclass(frozen=True, eq=False)
class Ranked(Record):
    """How well each way of making a vector ranks pairs of new sentences: the rank correlation of its cosines with the gold grades.

    `scores` [kind, way, seed] are asked on each of `kinds` of new sentences; `intervals` [kind, way, 3] their mean and its 95 %
    interval over the seeds; `gains` [kind, way, 3] the same for the way `best` minus each way. `grades` [pair] and `cosines`
    [way, pair] are those of the first kind and the first seed.
    """

    kinds: tuple[str, ...]
    ways: tuple[str, ...]
    best: str
    scores: np.ndarray
    intervals: np.ndarray
    gains: np.ndarray
    grades: np.ndarray
    cosines: np.ndarray
    note: str = ""


@dataclass(frozen=True, eq=False)
class Edited(Record):
    """A small corpus before and after an edit, counted as GloVe counts: `table` [before or now, word, word] is how often words stand
    near each other, each time 1/distance, for the words of `pair`, a and b, and then for `words`, which stand near one of them.

    `totals` [before or now, a or b] is what stands near a and near b in all, and `texts` the number of sentences, before and now.
    """

    pair: tuple[str, str]
    words: tuple[str, ...]
    table: np.ndarray
    totals: np.ndarray
    texts: tuple[int, int]

    @property
    def chances(self) -> np.ndarray:
        """P(k | a) and P(k | b) of every word k, [before or now, a or b, word]."""
        return self.table[:, :2, 2:] / np.where(self.totals > 0, self.totals, 1.0)[..., None]

    @property
    def ratios(self) -> np.ndarray:
        """P(k | a) / P(k | b), [before or now, word]; infinite where k never stands near b, not a number where it stands near neither."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.chances[:, 0] / self.chances[:, 1]

    @property
    def alike(self) -> np.ndarray:
        """The cosine between the rows of counts of a and b over the words that are shown, [before or now]."""
        a, b = self.table[:, 0, 2:], self.table[:, 1, 2:]
        return cosine(a, b)
