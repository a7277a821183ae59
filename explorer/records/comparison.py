"""What changed between two runs over the same pieces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class Comparison(Record):
    """Before and after, place by place.

    `weights` holds for each stream the largest change of a weight [layer, head]; `hidden` how far each state moved, as a
    share of its length before [layer + 1, position]; `surprise` is −log p of the piece that stands where a row predicts,
    before and after [2, row], NaN where no such piece is known; `loss` their means; `answers` the likeliest piece of each
    row before and after.
    """

    tokens: Tokens
    weights: Mapping[str, np.ndarray]
    hidden: Mapping[str, np.ndarray]
    surprise: np.ndarray
    loss: tuple[float, float]
    answers: tuple[tuple[str, str], ...]

    @property
    def changed(self) -> tuple[int, ...]:
        """The rows whose likeliest piece is another one now."""
        return tuple(row for row, (before, after) in enumerate(self.answers) if before != after)
