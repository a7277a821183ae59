"""What corruption does over many draws: how much is hidden, how long spans are, and which sentences are worth hiding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Rates(Record):
    """How much of one text (of so many `pieces`) each strategy hides: what it aims at, and what it did in every draw.

    `nominal` [strategy] and `realised` [strategy, draw] are shares of the text.
    """

    names: tuple[str, ...]
    nominal: np.ndarray
    realised: np.ndarray
    pieces: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.realised.ndim != 2 or not len(self.names) == len(self.nominal) == len(self.realised):
            raise ChoiceError(f"{len(self.names)} names need as many nominal rates and rows of realised ones.")

    def of(self, name: str) -> np.ndarray:
        """The realised shares of one strategy, draw by draw."""
        return self.realised[self.names.index(name)]


@dataclass(frozen=True, eq=False)
class SpanLengths(Record):
    """How long the spans of a strategy are: the law they are drawn from, and what came of it in one text.

    `nominal` and `realised` are shares over `lengths`, counted in `unit`; `spans` is how many were drawn.
    """

    strategy: str
    unit: str
    lengths: np.ndarray
    nominal: np.ndarray
    realised: np.ndarray
    spans: int
    pieces: int

    @property
    def means(self) -> tuple[float, float]:
        """The mean length by the law, and as it came out."""
        return float(self.nominal @ self.lengths), float(self.realised @ self.lengths)


@dataclass(frozen=True, eq=False)
class GapSentences(Record):
    """The sentences of a text, how much each shares with the rest (ROUGE-1 F1), and which ones PEGASUS hides."""

    sentences: tuple[str, ...]
    scores: np.ndarray
    chosen: tuple[bool, ...]
    rate: float
