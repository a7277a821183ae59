"""The board on a Streamlit page: a component whose choices go back to Python only when the hand rests."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.cached import kept
from explorer.app.call import Call, program
from explorer.app.controls import made, opened, stamp_of
from explorer.app.exercises import plain
from explorer.errors import ExplorerError
from explorer.records import Trace
from explorer.views.board.module import module, style
from explorer.views.board.pack import hosted, pack
from explorer.views.board.widget import VIEW, board

_component = st.components.v2.component("pretraining-explorer-board", html="<div data-board></div>", css=style(), js=module())


@st.fragment
def show(what: Call, *, key: str = "board", first: dict[str, Any] | None = None) -> None:
    """The board of the trace that a call makes, its place in the address of the page; below it the file and the code.

    `first` is where it begins.
    """
    trace = made(what)
    try:
        data = kept(("board", what.text, stamp_of(what)), lambda: pack(trace))
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return
    if st.session_state.pop(f"{key}.edited", False):
        st.rerun()
    mask = mask_of(trace)
    begin = st.session_state.setdefault(f"{key}.begin", placed(st.query_params.get(key, "")) or first or {})
    _component(
        key=key,
        data=hosted(data, mode=web.mode(), view=begin, asks=True, mask=mask),
        on_view_change=lambda: _moved(key),
        on_edit_change=lambda: _edited(key, trace, mask),
    )
    web.folded("Files · Code", f"{key}.files", lambda: _taken(trace, what, key))


def _moved(key: str) -> None:
    """Write where the board is into the address."""
    view = st.session_state[key].view
    if view:
        st.query_params[key] = ".".join(str(view.get(name, "")) for name in VIEW)


def mask_of(trace: Trace) -> str:
    """How the model of a trace writes a hidden token; empty where it knows none."""
    try:
        tokenizer = opened(trace.model).tokenizer
    except ExplorerError:  # a model of the visitor's, which is not on the shelf
        return ""
    mask = tokenizer.vocabulary.mask
    return "" if mask is None else tokenizer.text_of(mask).strip()


def _edited(key: str, trace: Trace, mask: str) -> None:
    """Do to the sentence of the page what was asked of a token."""
    asked = st.session_state[key].edit
    text = st.session_state.get("text")
    if isinstance(asked, dict) and isinstance(text, str):
        word = mask if asked.get("what") == "mask" else str(asked.get("text", ""))[:60]
        st.session_state["text"] = replaced(text, trace, asked.get("row"), word)
        st.session_state[f"{key}.edited"] = True


def replaced(text: str, trace: Trace, row: Any, word: str) -> str:
    """A sentence with another word at one of its tokens; as it was where there is no such token."""
    if not isinstance(row, int) or not 0 <= row < len(trace.source) or not word.strip():
        return text
    start, end = trace.source.offsets[row]
    held = text[start:end]
    return text if not held.strip() else text[:start] + held[: len(held) - len(held.lstrip())] + word.strip() + text[end:]


def placed(text: str) -> dict[str, Any]:
    """What an address says: "encoder.0.2.softmax.10.3"; nothing where it is not understood."""
    parts = text.split(".")
    if len(parts) != len(VIEW) or not all(parts[n].isdecimal() and len(parts[n]) < 5 for n in (1, 2, 4, 5)):
        return {}
    return {name: int(part) if n in (1, 2, 4, 5) else part for n, (name, part) in enumerate(zip(VIEW, parts, strict=True))}


def _taken(trace: Trace, what: Call, key: str) -> None:
    """The board as a file, and the lines that make it in a notebook."""
    view = placed(st.query_params.get(key, ""))
    st.download_button(
        "HTML", lambda: board(trace, **view).page(), f"board-{trace.model}.html", key=f"{key}.html", on_click="ignore"
    )
    arguments = "".join(f", {name}={value!r}" for name, value in view.items())
    st.code(f"{program(what)}\nex.board(trace{arguments})", language="python")
    st.caption("The address of this page holds the model, the text and the place of the board: copy it to share what you see.")
