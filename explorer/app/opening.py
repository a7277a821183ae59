"""The opening of the front page, which plays once and then answers what a visitor types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.analysis import architectures
from explorer.app import hold, weights
from explorer.app.cached import cached, lasting_data
from explorer.app.controls import opened
from explorer.app.notice import known_instead
from explorer.app.opening_record import opening_record
from explorer.models.cache import stamp
from explorer.models.store import shelf_folder
from explorer.views.opening.module import opening_style
from explorer.views.titles import TITLES

KEY = "start.opening"
_component = st.components.v2.component(
    "pretraining-explorer-opening",
    html="<div data-opening style='min-height: calc(100svh - 4rem)'></div>",
    css=opening_style(),
    js=weights.component_script("opening.js"),
)


def show(names: Sequence[str], own: tuple[str, str], now: tuple[str, str], *, tour: str, door: str) -> None:
    """The opening with these models. `own` are its sentence and the word that is missing first, `now` those of the page.

    `tour` is the address at which the guided tour begins or goes on, `door` its name; empty while it runs, and then nothing plays.
    """
    record = own_record(tuple(names), *own)
    known = known_instead(now[0], *names) if now[0] != own[0] else ()
    told = {
        "text": now[0],
        "word": now[1],
        "film": bool(tour),
        "tour": tour,
        "door": door,
        "mode": hold.mode(),
        "known": {"text": now[0], "words": known},
    }
    _component(key=KEY, data={"record": record, "told": told}, on_typed_change=_typed)


def own_record(names: tuple[str, ...], text: str, word: str) -> dict[str, Any]:
    """What the opening says of its own sentence, and where its page finds the script of the models."""
    return kept_record(names, text, word) | {"script": weights.script_address("board.js")}


def _typed() -> None:
    """The page follows a sentence that was typed into the opening."""
    typed = st.session_state[KEY].typed
    if isinstance(typed, dict) and isinstance(text := typed.get("text"), str) and text.strip():
        st.session_state["text"], st.session_state["chosen"] = text[: architectures.LETTERS], str(typed.get("word", ""))


@cached(models=tuple(TITLES))
def kept_record(names: tuple[str, ...], text: str, word: str) -> dict[str, Any]:
    """The record, kept on disk as well: a server that starts again needs no model for it, as long as the models are the same."""
    folders = [folder for name in names if (folder := shelf_folder(name)) is not None]
    return lasting_data(("opening", names, text, word, stamp(*folders)), lambda: _computed(names, text, word))


def _computed(names: Sequence[str], text: str, word: str) -> dict[str, Any]:
    addresses = {name: weights.short_address_of(name) for name in names}
    return opening_record({name: opened(name) for name in names}, addresses, text, word)
