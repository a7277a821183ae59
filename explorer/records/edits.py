"""What a student may change inside a model, as data.

An edit is asked at four places of attention, `on_scale` (a number), `on_allowed` [query, key], `on_weights`
[head, query, key] and `on_context` [head, query, dim], and answers with the value it was given or another.
It uses only arithmetic that NumPy arrays and tensors share, so the same edit changes the running model
and re-derives the record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Edit(Record):
    """A change to one part of a model; `None` for layer or head means all of them."""

    stream: str

    def touches(self, stream: str, layer: int) -> bool:
        """Whether this edit concerns this layer of this stream."""
        mine = getattr(self, "layer", None)
        return stream == self.stream and (mine is None or mine == layer)

    def on_scale(self, value: float) -> float:
        """The factor on the scores."""
        return value

    def on_allowed(self, value: Any) -> Any:
        """Who may see whom."""
        return value

    def on_weights(self, value: Any) -> Any:
        """The attention weights, after the softmax."""
        return value

    def on_context(self, value: Any) -> Any:
        """What each head hands on: its weights times the values."""
        return value

    @property
    def label(self) -> str:
        """The edit in a few words, for captions."""
        return f"{type(self).__name__}({self.stream})"


@dataclass(frozen=True, eq=False)
class SilenceHead(Edit):
    """Switch a head off: what it hands on is replaced by zeros. Its weights stay to be seen."""

    layer: int | None = None
    head: int | None = None

    def on_context(self, value: Any) -> Any:
        """Zeros for the head (or for all of them)."""
        keep = (np.arange(value.shape[-3]) != self.head) if self.head is not None else np.zeros(value.shape[-3], bool)
        changed = value + 0  # a copy, in NumPy and in torch alike
        changed[..., ~keep, :, :] = 0
        return changed

    @property
    def label(self) -> str:
        """The edit in a few words, for captions."""
        head = "every head" if self.head is None else f"head {self.head}"
        layer = "every layer" if self.layer is None else f"layer {self.layer}"
        return f"{head} of {layer} silenced"


@dataclass(frozen=True, eq=False)
class NoScale(Edit):
    """Leave out the division by √d: the softmax sees the raw scores."""

    def on_scale(self, value: float) -> float:
        """One: the scores stay as they are."""
        return 1.0

    @property
    def label(self) -> str:
        """The edit in a few words, for captions."""
        return "not divided by √d"


@dataclass(frozen=True, eq=False)
class SetMask(Edit):
    """Say who may see whom: `allowed` [query, key] of true and false replaces the model's own mask."""

    allowed: np.ndarray

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "allowed", np.asarray(self.allowed, dtype=bool))
        except (ValueError, TypeError) as error:
            raise ChoiceError("A mask needs rows of equal length, one for each query, of true and false.") from error
        super().__post_init__()

    def on_allowed(self, value: Any) -> Any:
        """The mask that was set."""
        return self.allowed.copy()  # the record stays its own

    @property
    def label(self) -> str:
        """The edit in a few words, for captions."""
        return "mask set by hand"
