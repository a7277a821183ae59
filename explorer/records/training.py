"""What one moment of training leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class TrainingStep(Record):
    """The loss by part, the learning rate and the speed at one step."""

    step: int
    losses: dict[str, float]
    rate: float
    speed: float = float("nan")
    metrics: dict[str, float] = field(default_factory=dict)
