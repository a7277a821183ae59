"""The core hour: of every lesson only what the tour visits, the boards, one question and two exercises; the rest is folded away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.app.tour_steps import STEPS
from explorer.records import Exercise

KEY, PAGE, ASKED = "core", "core.page", "core.asked"
EXERCISES = 2  # of each lesson
KEPT = {"start": ("predictions",), "yours": ("models",)}  # parts that the tour does not visit, with a picture to try
LAST = "exercises"  # the part that every lesson ends with


def begin(page: str) -> None:
    """A page begins: its name, and whether its address asks for the core hour."""
    st.session_state[PAGE] = page
    if st.query_params.get(KEY) == "1":
        st.session_state[KEY] = True
    elif st.session_state.get(KEY):
        st.query_params[KEY] = "1"


def on() -> bool:
    """Whether only the core is shown."""
    return bool(st.session_state.get(KEY))


def button() -> None:
    """The switch, beside a page's title."""
    st.button(
        "Show everything" if on() else "Core hour", key="core.button", on_click=_turn, type="tertiary",
        help="Everything: all parts, questions and exercises." if on() else "Only what the tour visits, one question and two "
        "exercises a lesson: all lessons in about an hour.",
    )  # fmt: skip


def _turn() -> None:
    if on():
        st.session_state.pop(KEY)
        st.query_params.pop(KEY, None)
    else:
        st.session_state[KEY] = True
        st.query_params[KEY] = "1"


def names(page: str) -> tuple[str, ...]:
    """The parts of a lesson that the core hour keeps, by their names in the address."""
    return (*KEPT.get(page, ()), *(step.part for step in STEPS if step.page == page), LAST)


def parts(every: Sequence[Any], wanted: str) -> Sequence[Any]:
    """Those of a page's parts that are shown; one that the address names is shown in any case."""
    if not on():
        return every
    kept = names(st.session_state[PAGE])
    some = [part for part in every if part.name in (*kept, wanted)]
    return some if len(some) > 1 else [every[0], *some]  # a lesson that the tour does not know


def exercises(items: Sequence[Exercise]) -> Sequence[Exercise]:
    """Those exercises of a lesson that are asked."""
    return items[:EXERCISES] if on() else items


def asks(key: str) -> bool:
    """Whether a question is asked: the one of the tour's step on this page, else the first that is met; other pictures stand open."""
    if not on():
        return True
    page = st.session_state[PAGE]
    ofs = [deed.rstrip("*") for step in STEPS if step.page == page for deed in step.done if deed.startswith("guess.")]
    if ofs:
        return key.startswith(tuple(ofs))
    kind = ".".join(key.split(".")[:2])
    return bool(st.session_state.setdefault(f"{ASKED}.{page}", kind) == kind)
