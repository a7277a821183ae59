"""What a discriminator says about each piece of a text in which some were replaced."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.corruption import Corruption
from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Detection(Record):
    """A generator filled in some pieces; `chances` [place] are the discriminator's probabilities that a piece is not the original."""

    model: str
    corruption: Corruption
    chances: np.ndarray

    @property
    def new(self) -> np.ndarray:
        """Which pieces really are another than the original: a generator that guesses right replaces nothing."""
        return self.corruption.source.ids != self.corruption.original.ids

    @property
    def said(self) -> np.ndarray:
        """Which pieces the discriminator calls replaced."""
        return self.chances > 0.5

    @property
    def f1(self) -> float:
        """2 · found / (called replaced + replaced); NaN where there was nothing to find and nothing was found."""
        both, either = float((self.said & self.new).sum()), float(self.said.sum() + self.new.sum())
        return 2 * both / either if either else float("nan")

    @property
    def signal(self) -> tuple[int, int]:
        """On how many pieces of text a loss falls: all of them for the discriminator, the masks for the generator."""
        masked = sum(done in ("replaced", "kept-but-scored") for done in self.corruption.action)
        return int(self.corruption.scored.sum()), masked
