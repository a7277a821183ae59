"""What one moment of training leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class TrainingStep(Record):
    """The loss by part, the share of the full learning rate and the speed (pieces a second) at one step.

    Now and then the model is measured on held-out text, and the step holds what was found: `metrics` by name; `samples`, what
    the model writes or fills in, a line each; `probes`, by name how much each head does one thing [layer, head]. `snapshot` is
    the step that `ex.load(folder, step=…)` opens, or None.
    """

    step: int
    losses: dict[str, float]
    rate: float
    speed: float = float("nan")
    metrics: dict[str, float] = field(default_factory=dict)
    samples: tuple[str, ...] = ()
    probes: dict[str, np.ndarray] = field(default_factory=dict)
    snapshot: int | None = None
