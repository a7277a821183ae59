"""The head of a lesson: which model, which sentence, and the trace of the one reading the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st

from explorer.errors import ExplorerError
from explorer.library import models
from explorer.nn.config import FAMILIES
from explorer.nn.presets import PRESETS
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

    model = opened(name)
    return trace(model, text, blocks=not getattr(model, "without_blocks", ""))


def attentive() -> list[str]:
    """The models on the shelf whose attention can be looked at: not those that count, read letters or keep one vector a word."""
    others = {name for name, system in PRESETS.items() if system.architecture["family"] not in FAMILIES}
    return [name for name, held in models().items() if held.about()["preset"] not in others]


def asked(names: Sequence[str] | None = None) -> tuple[str, str]:
    """The model and the sentence that the visitor chose; both follow from page to page."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = one_of("Model", attentive() if names is None else names, "model")
        return name, st.text_input("Your sentence", SENTENCE, key="text", bind="query-params")


def one_of(label: str, names: Iterable[str], key: str, first: str = FIRST) -> str:
    """One of these models, chosen by its name; a name in the address that is none of them is forgotten."""
    offered = list(names)
    if st.session_state.get(key, offered[0]) not in offered:
        del st.session_state[key]
    at = offered.index(first) if first in offered else 0
    return st.selectbox(label, offered, at, key=key, bind="query-params", width=220)


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
