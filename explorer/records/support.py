"""What can be shown of each architecture that was tried."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Support(Record):
    """One architecture, as it was measured on a tiny model with random weights.

    `way` is "stages" (every stage of attention), "weights" (the weights alone) or "refused", then `reason` says why. `weights` and
    `outputs` are the largest differences to what the class computes by itself with eager attention, `residual` the largest gap of
    the weights that were computed again from q, k and the mask. `edits` names the changes that it can undergo.
    """

    architecture: str
    way: str
    family: str = ""
    streams: tuple[str, ...] = ()
    weights: float = float("nan")
    outputs: float = float("nan")
    residual: float = float("nan")
    states: bool = False
    edits: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, eq=False)
class SupportTable(Record):
    """All of them, and with which versions."""

    rows: tuple[Support, ...]
    versions: str
