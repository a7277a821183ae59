"""The results of one evaluation of a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Measured:
    """Metrics by name; samples, a line each; and probes, by name how strongly each attention head shows a pattern [layer, head].

    `counts` says on what it was measured: how many texts, how many windows of them, how many predictions of the first metric.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    samples: tuple[str, ...] = ()
    probes: dict[str, np.ndarray] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


def merged(parts: Iterable[Measured]) -> Measured:
    """Several looks as one; a metric that is no number, because nothing was asked, is left out."""
    metrics: dict[str, float] = {}
    samples: tuple[str, ...] = ()
    probes: dict[str, np.ndarray] = {}
    counts: dict[str, int] = {}
    for part in parts:
        metrics |= {name: float(value) for name, value in part.metrics.items() if value == value}
        samples += part.samples
        probes |= part.probes
        counts = {**part.counts, **counts}
    return Measured(metrics, samples, probes, counts)
