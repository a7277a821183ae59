"""What one moment of training leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class TrainingStep(Record):
    """The loss by part, the share of the full learning rate and the speed (pieces a second) at one step.

    `metrics` are measured on held-out text where a snapshot is taken; `snapshot` is the step that `ex.load(folder, step=…)`
    opens, or None.
    """

    step: int
    losses: dict[str, float]
    rate: float
    speed: float = float("nan")
    metrics: dict[str, float] = field(default_factory=dict)
    snapshot: int | None = None
