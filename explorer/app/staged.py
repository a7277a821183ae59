"""A figure that moves, on a page: all its frames at once, and the one player."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.app import hold, present, weights
from explorer.views.stage.module import stage_style
from explorer.views.view import Choice, Range

_component = st.components.v2.component(
    "pretraining-explorer-stage",
    html="<div data-board style='--high: 14rem'></div>",
    css=stage_style(),
    js=weights.component_script("stage.js"),
)


def value(key: str, control: Choice | Range) -> Any:
    """What the frame that is shown stands for: as the address says, or the first."""
    written = str(st.session_state.get(key, st.query_params.get(key, "")))
    among = {str(one): one for one in control.places}
    if isinstance(control, Range) and written.isdecimal():
        written = str(min(max(int(written), control.low), control.high))
    st.session_state[key] = among.get(written, control.first)
    return st.session_state[key]


def show(moving: dict[str, Any], key: str, control: Choice | Range | None = None) -> None:
    """A figure, frame by frame; the frame that a hand leaves it at is the value of `key`, and in the address.

    Without a control it begins with its last frame, which has everything.
    """
    last = len(moving["frames"]) - 1
    frames = control or Range(moving["label"], 0, last, last)
    data = {"at": frames.places.index(value(key, frames)), "mode": hold.mode(), "large": present.on()}
    _component(key=f"{key}.staged", data=moving | data, on_at_change=lambda: _rested(key, frames))


def _rested(key: str, control: Choice | Range) -> None:
    """The figure has another frame."""
    at = st.session_state[f"{key}.staged"].at
    if isinstance(at, int) and 0 <= at < len(control.places):
        st.session_state[key] = control.places[at]
        st.query_params[key] = str(value(key, control))
