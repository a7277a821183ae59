"""What a teacher and its student say at each place of the same corrupted text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.corruption import Corruption
from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Copied(Record):
    """A teacher and its student read the same x̃.

    `texts` [place, rank] are the pieces that both together find likeliest, `shares` [temperature, who, place, rank] their
    probabilities over the whole vocabulary (who: 0 the teacher, 1 the student), softmax(scores / T) at each of `temperatures`;
    `gap` [temperature, place] is KL(teacher ‖ student).
    """

    names: tuple[str, str]
    corruption: Corruption
    texts: tuple[tuple[str, ...], ...]
    temperatures: tuple[float, ...]
    shares: np.ndarray
    gap: np.ndarray

    @property
    def agree(self) -> float:
        """The share of hidden places at which both find the same piece likeliest, as far as it stands in `texts`."""
        best = self.shares[0].argmax(-1)[:, self.corruption.scored]  # [who, hidden place]
        return float((best[0] == best[1]).mean())
