"""A figure that moves, on a page: all its frames at once, and the one player."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.app import hold, present, weights
from explorer.views.stage.module import stage_style
from explorer.views.view import Range

_component = st.components.v2.component(
    "pretraining-explorer-stage",
    html="<div data-board></div>",
    css=stage_style(),
    js=weights.component_script("stage.js"),
)


def value(key: str, control: Range) -> int:
    """The frame that is shown, by its number in the range: as the address says, or the first."""
    written = st.session_state.get(key, st.query_params.get(key, ""))
    number = int(written) if str(written).isdecimal() else control.first
    st.session_state[key] = min(max(number, control.low), control.high)
    return int(st.session_state[key])


def show(moving: dict[str, Any], key: str, control: Any = None) -> None:
    """A figure, frame by frame; the frame that a hand leaves it at is the value of `key`, and in the address.

    Without a control it begins with its last frame, which has everything.
    """
    last = len(moving["frames"]) - 1
    frames = control if isinstance(control, Range) else Range(moving["label"], 0, last, last)
    data = {"at": value(key, frames) - frames.low, "mode": hold.mode(), "large": present.on()}
    _component(key=f"{key}.staged", data=moving | data, on_at_change=lambda: _rested(key, frames))


def _rested(key: str, control: Range) -> None:
    """The figure has another frame."""
    at = st.session_state[f"{key}.staged"].at
    if isinstance(at, int):
        st.session_state[key] = at + control.low
        st.query_params[key] = str(value(key, control))
