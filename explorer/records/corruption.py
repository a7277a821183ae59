"""One text before and after corruption: what the model reads, what it should say, and where the loss falls."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens

ACTIONS = ("kept", "masked", "replaced", "kept-but-scored", "inserted", "moved")


@dataclass(frozen=True, eq=False)
class Corruption(Record):
    """What a strategy made of one text.

    `target` is None where the model should say the original, place for place. `origin` lists for each piece of the source the
    original places that it stands for (none: it was put in), `action` what happened to it, `deleted` the original places
    that no piece stands for. `scored` is over the target, or over the source where there is none. `spans` are (first place,
    how many) of what is hidden together. `nominal` and `realised` are shares of the text; NaN where the strategy has none.
    """

    strategy: str
    original: Tokens
    source: Tokens
    target: Tokens | None
    origin: tuple[tuple[int, ...], ...]
    action: tuple[str, ...]
    deleted: tuple[int, ...]
    scored: np.ndarray
    spans: tuple[tuple[int, int], ...]
    nominal: float
    realised: float
    seed: int
    labels: dict[str, tuple[int, ...]] = field(default_factory=dict)
