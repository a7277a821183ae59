"""The head of a lesson: which model, which sentence, and the trace of the one reading the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from explorer.errors import ExplorerError
from explorer.library import models
from explorer.views import theme

FIRST = "bert"  # the model that a lesson opens with
SENTENCE = "The animal didn't cross the street because it was too tired."


@st.cache_resource(max_entries=4, show_spinner="Opening the model …")
def opened(name: str) -> Any:
    """One model for every visitor."""
    from explorer.loading import load

    return load(name, device="cpu")


@st.cache_resource(max_entries=200, show_spinner="Reading the sentence …")
def traced(name: str, text: str) -> Any:
    """One trace for every visitor who asks the same; records are read-only, so sharing is safe."""
    from explorer.tracing import trace

    return trace(opened(name), text, blocks=True)


def asked(names: Sequence[str] | None = None) -> tuple[str, str]:
    """The model and the sentence that the visitor chose; both follow from page to page."""
    offered = list(models() if names is None else names)
    if st.session_state.get("model", offered[0]) not in offered:
        del st.session_state["model"]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = FIRST if FIRST in offered else offered[0]
        name = st.segmented_control("Model", offered, default=first, required=True, key="model", bind="query-params")
        return name, st.text_input("Your sentence", SENTENCE, key="text", bind="query-params")


def read(make: Callable[[], Any]) -> Any:
    """What `make` makes; where it cannot, the page says why and ends."""
    try:
        return make()
    except ExplorerError as error:
        st.warning(str(error))
        st.stop()


def warn_of_unseen(tokens: Any) -> None:
    """Say how much of the text the model never met."""
    if note := theme.unseen_note(tokens):
        st.info(f"{note}. What the model does with these pieces says nothing about language.")
