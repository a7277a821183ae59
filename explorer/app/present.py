"""Presenting and sharing: large type and one part a screen, and the address of what is on the screen, as text and as a QR code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st
from segno import QRCode, make_qr

from explorer.app import hosted, streamlit_inside

SIZED = re.compile(r"font-size:\s*(\d+)px")
SCREEN = 640  # as high as a picture may be: what a projector of 1,080 lines leaves below the bar
LARGE = 1.5  # times the type of a page, for a room
TEXTS = ("textfont", "insidetextfont", "outsidetextfont")
LONGEST = 858  # bytes of a QR code of 97 × 97 modules, the smallest that a telephone reads from a projector
KEY, PART, ANSWERS = "present", "part", "present.answers"
_component = st.components.v2.component(
    "pretraining-explorer-keys", html="<span></span>", js=streamlit_inside.script("present")
)


def on() -> bool:
    """Whether the page is shown to a room."""
    return st.query_params.get(KEY) == "1"


def answers() -> bool:
    """Whether the presenter has opened the answers."""
    return on() and bool(st.session_state.get(ANSWERS))


def larger(figure: Any) -> Any:
    """A picture with everything in it half as large again, while presenting."""
    if not on():
        return figure
    _shortened(figure)
    layout = figure.layout.to_plotly_json()
    grown = _grown({"font": {"size": 12}, **layout})
    if layout.get("height"):
        grown["height"] = min(layout["height"] * LARGE, SCREEN)
    figure.layout = grown
    for trace in figure.data:
        for name in TEXTS:
            if name in trace and trace[name].size:
                trace[name].size = LARGE * trace[name].size
    return figure


def _shortened(figure: Any) -> None:
    """Of several lines in each cell the first: on a screen that is no higher, larger letters have no room for more."""
    for trace in figure.data:
        if trace.type == "heatmap" and trace.text is not None:
            trace.text = [[str(text).partition("<br>")[0] for text in row] for row in trace.text]


def _grown(setting: Any, name: str = "") -> Any:
    """The same settings with larger fonts and margins."""
    if isinstance(setting, (list, tuple)):
        return [_grown(value, name) for value in setting]
    if isinstance(setting, str):
        return SIZED.sub(lambda match: f"font-size:{LARGE * int(match[1]):.0f}px", setting)
    if not isinstance(setting, dict):
        return setting
    lengths = ("t", "b", "l", "r") if name == "margin" else ("size",) if name.endswith("font") else ()
    return {key: LARGE * value if key in lengths else _grown(value, key) for key, value in setting.items()}


def style() -> None:
    """Large type and no menu, while presenting."""
    if on():
        st.html(streamlit_inside.style("room"))


def buttons() -> None:
    """Share and Present, at the right of a page's title."""
    if on():
        _corner()
    else:
        _share()
    name = "Leave" if on() else "Present"
    st.button(
        name, key="present.button", on_click=_turn, shortcut="Shift+P", type="tertiary",
        help="Large type for a room. Page Up and Page Down change the part, B blanks the screen, A opens the answers.",
    )  # fmt: skip


def _turn() -> None:
    if on():
        del st.query_params[KEY]
        st.session_state.pop(ANSWERS, None)
    else:
        st.query_params[KEY] = "1"


def address() -> str:
    """The address of the page as it is now, with every choice, for somebody else: without the presenter's view."""
    query = {name: value for name, value in st.query_params.to_dict().items() if name != KEY}
    base = hosted.public(st.context.url or "")
    return base + (f"?{urlencode(query, quote_via=quote)}" if query else "")


@st.fragment
def _share() -> None:
    """The address and its QR code, made when they are asked for."""
    with st.popover("Share", type="tertiary", key="share", on_change="rerun") as popover:
        if not popover.open:
            return
        st.markdown("This address holds the page, the model, the text and every choice.")
        address_to_copy(address())
        code(address())


def address_to_copy(where: str) -> None:
    """An address to copy, and whom it reaches."""
    st.code(where, language=None, wrap_lines=True)
    if urlsplit(where).hostname in ("localhost", "127.0.0.1", "::1"):
        st.caption("It opens on this computer only. `explorer app --classroom` serves a room.")


def code(text: str) -> None:
    """A text as a QR code, black on white in both themes."""
    if (length := len(text.encode())) > LONGEST:
        st.text(f"The address has {length:,} bytes; a QR code here holds {LONGEST}. Shorten the text on the page.")
        return
    drawing = qr_code(text).svg_data_uri(border=4, light="#fff", omitsize=True)
    st.image(drawing, width="stretch", alt="QR code of the address of this page")


@lru_cache(maxsize=64)
def qr_code(text: str) -> QRCode:
    """The QR code of a text, with the lowest error correction: the largest modules.

    >>> qr_code("http://127.0.0.1:8501/").designator
    '2-L'
    """
    return make_qr(text.encode(), error="l", boost_error=False)


def keys(parts: Sequence[str], part: str) -> None:
    """The keys of the presenter."""
    if not on():
        return
    _component(key="present.keys", data={"part": part}, on_move_change=lambda: _move(parts, part), on_answers_change=_answer)


@st.fragment(run_every=3)
def _corner() -> None:
    """The code of what is on the screen now, for those who want it on their own."""
    with st.container(key="qr"):
        code(address())


def _move(parts: Sequence[str], part: str) -> None:
    """One part on or back; at either end it stays."""
    by = st.session_state["present.keys"].move
    if by and part in parts:
        place = min(max(list(parts).index(part) + int(by), 0), len(parts) - 1)
        st.query_params[PART] = parts[place]


def _answer() -> None:
    st.session_state[ANSWERS] = not st.session_state.get(ANSWERS)
