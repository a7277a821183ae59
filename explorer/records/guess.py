"""What a model says at each place of a corrupted text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.corruption import Corruption
from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Guess(Record):
    """A masked model reads x̃: its likeliest pieces at every place, and what it gives to the original piece.

    `texts` and `shares` [place, rank] hold the likeliest pieces and their probabilities over the whole vocabulary; `truth`
    [place] is the probability of the piece that stood there.
    """

    model: str
    corruption: Corruption
    texts: tuple[tuple[str, ...], ...]
    shares: np.ndarray
    truth: np.ndarray

    @property
    def surprise(self) -> np.ndarray:
        """−log P(w | x̃) at every place, scored or not."""
        return -np.log(np.maximum(self.truth.astype(np.float64), 1e-30))

    @property
    def loss(self) -> float:
        """L = Σ −log P(w | x̃) over the scored places only."""
        return float(self.surprise[self.corruption.scored].sum())


@dataclass(frozen=True, eq=False)
class SpanGuess(Record):
    """What SpanBERT's two heads say of every hidden piece of one corrupted text.

    `places`, `left` and `right` [asked] are the hidden places and the two boundaries of the span that each lies in. The other three
    hold first the masked head, which reads each place itself, then the boundary head: `texts` and `shares` [head, asked, rank] their
    likeliest pieces, `truth` [head, asked] what they give to the piece that stood there.
    """

    model: str
    corruption: Corruption
    places: np.ndarray
    left: np.ndarray
    right: np.ndarray
    texts: tuple[tuple[tuple[str, ...], ...], ...]
    shares: np.ndarray
    truth: np.ndarray

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The boundaries of every span, from left to right."""
        return tuple(sorted(set(zip(self.left.tolist(), self.right.tolist(), strict=True))))
