"""The sentence of a page as tokens to click: the one that is held stays held over parts and pages, and pictures mark it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from explorer.app import streamlit_inside
from explorer.records import AlignedTraces, Tokens
from explorer.views import theme
from explorer.views.beside import unit_names

KEY, HELD, SHOWN = "hold", "hold.word", "hold.shown"
_component = st.components.v2.component(
    "pretraining-explorer-tokens",
    html="<div data-tokens role='group' aria-label='Tokens of the sentence'></div>",
    css=(streamlit_inside.FOLDER / "hold.css").read_text("utf-8"),
    js=streamlit_inside.script("hold"),
)
NOTHING: tuple[tuple[str, ...], int | None, str] = ((), None, "")


def bar(text: str, tokens: Tokens) -> int | None:
    """The tokens of a page's sentence; the row of the held one, if one is held."""
    row = row_of(text, tokens)
    st.session_state[SHOWN] = (tuple(theme.labels(tokens)), row, text)
    every = [
        {"text": (token.replace("·", " ").strip() or token) + theme.UNSEEN * strange, "start": -1 if special else start}
        for token, special, strange, (start, _) in zip(
            tokens.texts, tokens.special, tokens.unseen or (False,) * len(tokens), tokens.offsets, strict=True
        )
    ]
    start = "" if row is None else tokens.offsets[row][0]
    _component(
        key="hold.tokens", data={"tokens": every, "start": start, "colour": theme.HELD[mode()]},
        on_chosen_change=lambda: _chosen(text, tokens),
    )  # fmt: skip
    return row


def units(record: AlignedTraces) -> None:
    """The units of two aligned texts below each other: the one with the held token is held, and pictures of units mark it."""
    labels, text = tuple(unit_names(record)), record.texts[0]
    place = row_of(text, record.first.source)
    row = None if place is None else int(record.units[0][place])
    st.session_state[SHOWN] = (labels, row, text)
    every = [
        {"text": f"{' beside '.join(word or 'nothing' for word in pair)}, {kind}", "lines": [word or "–" for word in pair], "kind": kind,
         "start": -1 if kind == "special" else int(span[0][0])}
        for pair, kind, span in zip(record.words, record.kinds, record.spans, strict=True)
    ]  # fmt: skip
    start = "" if row is None else every[row]["start"]
    _component(
        key="hold.units", data={"tokens": every, "start": start, "colour": theme.HELD[mode()]},
        on_chosen_change=partial(_unit_chosen, text, record.first.source, record.units[0], record.spans),
    )  # fmt: skip


def _unit_chosen(text: str, tokens: Tokens, units: np.ndarray, spans: np.ndarray) -> None:
    """A unit was clicked: hold where it begins in the first text, or free it where it is held."""
    unit = st.session_state["hold.units"].chosen
    if not isinstance(unit, int) or not 0 <= unit < len(spans) or spans[unit][0][0] < 0:
        return
    place = row_of(text, tokens)
    if place is not None and units[place] == unit:
        free()
    else:
        keep_span(text, (int(spans[unit][0][0]), int(spans[unit][0][1])))


def row_of(text: str, tokens: Tokens) -> int | None:
    """Where the held token is in this sentence: at the place in the address, or where the word that was held elsewhere first occurs."""
    start = _start(text, st.query_params.get(KEY, ""), st.session_state.get(HELD))
    if start is None:
        return None
    inside = (row for row, (begin, end) in enumerate(tokens.offsets) if begin <= start < end and not tokens.special[row])
    return next(inside, None)


def _start(text: str, address: str, kept: tuple[str, str, int] | None) -> int | None:
    """The letter of the text at which what is held begins."""
    if kept is None:
        return (
            int(address) if address.isascii() and address.isdigit() and len(address) < 5 and int(address) < len(text) else None
        )
    sentence, word, start = kept
    if sentence == text:
        return start
    place = text.find(word)
    return None if place < 0 else place


def keep(text: str, tokens: Tokens, row: int) -> None:
    """Hold a token of a sentence; it stands in the address."""
    if not tokens.special[row]:
        keep_span(text, tokens.offsets[row])


def keep_span(text: str, span: tuple[int, int]) -> None:
    """Hold a word of a sentence."""
    start, end = span
    start += len(text[start:end]) - len(text[start:end].lstrip())
    if end <= start:
        return
    st.session_state[HELD] = (text, text[start:end], start)
    st.query_params[KEY] = str(start)


def free() -> None:
    """Hold nothing."""
    st.session_state.pop(HELD, None)
    if KEY in st.query_params:
        del st.query_params[KEY]


def _chosen(text: str, tokens: Tokens) -> None:
    """A token was clicked: hold it, or free it where it is held."""
    row = st.session_state["hold.tokens"].chosen
    if not isinstance(row, int) or not 0 <= row < len(tokens):
        return
    if row_of(text, tokens) == row:
        free()
    else:
        keep(text, tokens, row)


def shown_text() -> str:
    """The sentence whose tokens this page shows; empty before it shows any."""
    return str(st.session_state.get(SHOWN, NOTHING)[2])


def held_row() -> int | None:
    """The row of the held token on this page."""
    return st.session_state.get(SHOWN, NOTHING)[1]


def follow(tokens: Tokens, row: object) -> bool:
    """A board turned to another token: the bar holds it too, where the board reads the sentence of the bar. Whether it does."""
    labels, _, text = st.session_state.get(SHOWN, NOTHING)
    if not isinstance(row, int) or not 0 <= row < len(tokens) or tuple(theme.labels(tokens)) != labels or tokens.special[row]:
        return False
    keep(text, tokens, row)
    st.session_state[SHOWN] = (labels, row, text)  # the bar is not drawn again when a board alone is
    return True


def begin() -> None:
    """A page begins: it has shown no tokens yet."""
    st.session_state.pop(SHOWN, None)


def framed(figure: Any) -> Any:
    """A picture whose axes name the tokens of the sentence, with the held one in a frame."""
    labels, row, _ = st.session_state.get(SHOWN, NOTHING)
    if row is None:
        return figure
    colour, mark = theme.HELD[mode()], theme.mark_of(labels)
    for name in list(figure.layout):
        axis = figure.layout[name]
        if not name.startswith(("xaxis", "yaxis")) or axis.uirevision != mark or row not in list(axis.tickvals):
            continue
        place = list(axis.tickvals).index(row)
        axis.ticktext = [
            f'<span style="color:{colour}"><b>{text}</b></span>' if n == place else text for n, text in enumerate(axis.ticktext)
        ]
        _frame(figure, name, row, colour)
    return figure


def _frame(figure: Any, axis: str, row: int, colour: str) -> None:
    """A frame round one row or column of the pictures on an axis, from edge to edge."""
    way, number = axis[0], axis[5:]
    other = "y" if way == "x" else "x"
    crossed = (figure.layout[axis].anchor or f"{other}{number}").removesuffix(" domain")
    places = {way + "0": row - 0.5, way + "1": row + 0.5, f"{way}ref": way + number}
    places |= {other + "0": 0, other + "1": 1, f"{other}ref": f"{crossed if crossed != 'free' else other} domain"}
    figure.add_shape(type="rect", line={"color": colour, "width": 1.5}, fillcolor="rgba(0,0,0,0)", **places)


def mode() -> str:
    """Light or dark, as the visitor's page is."""
    return "dark" if st.context.theme.type == "dark" else "light"
