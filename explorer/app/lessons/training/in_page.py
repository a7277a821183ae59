"""A model that is trained in the visitor's browser: its dials, its curves, and what it predicts meanwhile."""

from __future__ import annotations

import secrets

import streamlit as st

import explorer as ex
from explorer.app import hosted, streamlit_inside, web, weights
from explorer.app.class_runs import RUNS
from explorer.app.glossary import say
from explorer.app.prose import prose
from explorer.errors import ExplorerError
from explorer.views.learning.module import learning_style

_component = st.components.v2.component(
    "pretraining-explorer-learning",
    html="<div data-board style='--high: 40rem'></div>",
    css=learning_style(),
    js=weights.component_script("learning.js"),
)
SENT = "learning.sent"  # in the session: a mark of the run that was sent last, and what is said of it
CODE = """import explorer as ex

figure = ex.learning("stories")  # or a task: "reverse"
ex.save(figure, "learning.html")  # a file that trains without a server
"""


def show_in_page() -> None:
    """The training, and the lines that make a file of it."""
    say(prose("training")("in the page"))
    data = {"mode": web.mode(), "room": hosted.room() is not None, "sent": st.session_state.get(SENT, ["", ""])}
    _component(key="learning", data=data, on_run_change=lambda: send(st.session_state["learning"].get("run")))
    web.folded("Files · Code", "learning.files", _taken)


def send(written: object) -> None:
    """Give the run that a browser sends, which may be anything, to the class of this room."""
    if isinstance(written, str) and (classroom := hosted.room()) is not None:
        try:
            run = RUNS.put(streamlit_inside.session(), written, st.context.ip_address or "", classroom.votes)
            said = (
                f"Sent to the class: seed {run.seed}, {run.steps:,} step{'s' * (run.steps != 1)}, held-out loss {run.loss:.3g}."
            )
        except ExplorerError as error:
            said = f"Not sent: {error}"
        st.session_state[SENT] = [secrets.token_hex(4), said]


def _taken() -> None:
    st.download_button("HTML", lambda: ex.learning().page(), "learning.html", key="learning.html", on_click="ignore")
    st.code(CODE, language="python")
