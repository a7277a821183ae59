"""A button that plays a choice as a film: in the browser it presses the button “Next” of the choice until the last step is there."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from explorer.app import streamlit_inside

STYLE = (streamlit_inside.FOLDER / "playing.css").read_text("utf-8")
PAUSE = 700  # milliseconds between two steps, where drawing one does not take longer
_component = st.components.v2.component(
    "pretraining-explorer-play", html="<button type='button'>▶ Play</button>", css=STYLE, js=streamlit_inside.script("playing")
)


def button(key: str, label: str, *, last: bool, again: Callable[[], None]) -> None:
    """Play the choice of this name, whose button “Next” has the key `{key}.Right`; `again` goes to its first step."""
    follows = re.sub(r"[^a-zA-Z0-9_-]", "-", f"{key}.Right")  # so Streamlit names the element of a key
    data = {"next": follows, "last": last, "label": label, "pause": PAUSE, "state": streamlit_inside.STATE}
    with st.container(width="content"):
        _component(key=f"{key}.play", data=data, on_again_change=again)
