"""A model that is trained in the visitor's browser: its dials, its curves, and what it predicts meanwhile."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web, weights
from explorer.app.glossary import say
from explorer.app.prose import prose
from explorer.views.learning.module import learning_style

_component = st.components.v2.component(
    "pretraining-explorer-learning",
    html="<div data-board style='--high: 40rem'></div>",
    css=learning_style(),
    js=weights.component_script("learning.js"),
)
CODE = """import explorer as ex

figure = ex.learning("stories")  # or a task: "reverse"
ex.save(figure, "learning.html")  # a file that trains without a server
"""


def show_in_page() -> None:
    """The training, and the lines that make a file of it."""
    say(prose("training")("in the page"))
    _component(key="learning", data={"mode": web.mode()})
    web.folded("Files · Code", "learning.files", _taken)


def _taken() -> None:
    st.download_button("HTML", lambda: ex.learning().page(), "learning.html", key="learning.html", on_click="ignore")
    st.code(CODE, language="python")
