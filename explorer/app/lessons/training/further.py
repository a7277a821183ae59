"""Settings of a training that few change: the optimiser, the schedule of its rate, dropout, smoothed labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.app.lessons.training import parts as lab
from explorer.models.presets import preset
from explorer.training.objectives import OBJECTIVES
from explorer.training.plan import OPTIMISERS
from explorer.training.schedules import SCHEDULES

USUAL = "as the preset"


def further(system: str) -> dict[str, Any]:
    """What was chosen that differs from the preset; only systems of layers have these settings."""
    if system not in lab.SYSTEMS or OBJECTIVES[preset(system).objective].taught:
        return {}
    offered: dict[str, tuple[str, Sequence[Any]]] = {
        "optimiser": ("Optimiser", OPTIMISERS), "schedule": ("Schedule of the rate", tuple(SCHEDULES)),
        "dropout": ("Dropout", (0.0, 0.1, 0.3, 0.5)), "smoothing": ("Label smoothing", (0.0, 0.1, 0.3)),
    }  # fmt: skip
    chosen = {name: _chosen(name, label, values) for name, (label, values) in offered.items()}
    return {name: value for name, value in chosen.items() if value != USUAL}


def _chosen(name: str, label: str, values: Sequence[Any]) -> Any:
    return st.select_slider(label, (USUAL, *values), USUAL, key=f"live.{name}", bind="query-params", width=300)
