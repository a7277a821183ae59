"""Numbers along an axis, for every comparison: what was measured, and how far the measurements spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Curve(Record):
    """One line: y over x, with the lowest and the highest measurement where there were several."""

    label: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("y", "low", "high"):
            values = getattr(self, name)
            if values is not None and values.shape != self.x.shape:
                raise ChoiceError(f"The curve {self.label!r} has {len(self.x)} places but {name} holds {values.shape}.")


@dataclass(frozen=True, eq=False)
class Curves(Record):
    """Several lines over the same axes, a note on how they were measured, and perhaps a place along the axis that has a name."""

    title: str
    across: str
    up: str
    lines: tuple[Curve, ...]
    note: str = ""
    log: bool = False
    mark: tuple[str, float] | None = None


def spread(label: str, x: np.ndarray, runs: np.ndarray) -> Curve:
    """The mean of several runs [run, place] with their lowest and highest."""
    return Curve(label, x, runs.mean(axis=0), runs.min(axis=0), runs.max(axis=0))


@dataclass(frozen=True, eq=False)
class Saturation(Record):
    """What a softmax does to scores q·k of ever wider queries and keys, whose parts are independent with variance 1.

    For each width: `scores` [width, key] of one query, and over many queries, without and with ÷ √d [width, 2]: the mean
    `largest` weight, the mean size of the softmax's `slope` ‖∂α/∂s‖ and the share of `single` rows, with one weight above 0.99.
    """

    widths: np.ndarray
    scores: np.ndarray
    largest: np.ndarray
    slope: np.ndarray
    single: np.ndarray
    draws: int
