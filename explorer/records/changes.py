"""One text read twice, by a model as it is and as it was changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.edits import Edit
from explorer.records.record import Record
from explorer.records.shares import log_softmax
from explorer.records.trace import Trace


@dataclass(frozen=True, eq=False)
class Change(Record):
    """A trace `before` and one `after` some edits, of the same text."""

    before: Trace
    after: Trace

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What was changed."""
        return self.after.edits

    @property
    def divergence(self) -> np.ndarray:
        """How far the predictions moved at each row: KL(before ‖ after) in bits."""
        return divergence(self.before.outputs["lm"], self.after.outputs["lm"])

    def downstream(self, stream: str) -> np.ndarray:
        """The largest change of a weight in each head of a stream [layer, head]."""
        pairs = [(a, b) for a, b in zip(self.before.attention, self.after.attention, strict=True) if a.stream == stream]
        return np.stack([np.abs(a.weights - b.weights).max(axis=(1, 2)) for a, b in pairs])


@dataclass(frozen=True, eq=False)
class Damage(Record):
    """What silencing each part alone does to the predictions for a text: mean KL in bits.

    `heads` [layer, head], `parts` [layer, part] with their `names`, and `whole` [layer] for all heads of a layer at once.
    """

    model: str
    stream: str
    heads: np.ndarray
    parts: np.ndarray
    names: tuple[str, ...]
    whole: np.ndarray


def divergence(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """KL(before ‖ after) of each row of raw scores, in bits."""
    first, second = (log_softmax(scores.astype(np.float64)) for scores in (before, after))
    moved = (np.exp(first) * (first - second)).sum(-1) / np.log(2)
    return np.maximum(moved, 0.0)
