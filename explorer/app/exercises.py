"""What a lesson page has besides pictures: questions to guess, exercises that are checked, and a box about the slides."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from explorer.app import present
from explorer.records import Exercise

ASIDE: dict[str, Any] = {"horizontal": True, "label_visibility": "collapsed", "persist_state": "session"}
HINTS = {0: "a whole number", 1: "a number, one decimal"}


def plain(text: str) -> str:
    """A text that Markdown leaves as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|$:<>~&])", r"\\\1", " ".join(text.split()))


@st.fragment
def predict(question: Exercise, key: str, reveal: Callable[[], None]) -> None:
    """Predict first, then see: `reveal` shows the picture once there is an answer. An answer redraws nothing else."""
    with st.container(border=True):
        st.markdown(f"**◇ Predict, then reveal.** {question.question}")
        given = st.radio(
            "Your guess",
            question.options,
            index=None,
            key=key,
            horizontal=True,
            label_visibility="collapsed",
            persist_state="session",
        )
        if given is None and present.answers():
            given = str(question.answer)
        if given is None:
            st.caption("Choose an answer to see what happens.")
            return
        if question.right(given):
            st.success(f"Yes: {question.shown}. {question.why}")
        else:
            st.info(f"You said *{given}*. It is: **{question.shown}**. {question.why}")
    reveal()


@st.fragment
def exercises(items: Sequence[Exercise], key: str) -> None:
    """Exercises; each answer is checked against the numbers of this page."""
    for number, item in enumerate(items, 1):
        st.markdown(f"**{number}.** {item.question}")
        name = f"{key}.{number}"
        if item.options:
            given = st.radio(
                "Answer",
                item.options,
                index=None,
                key=name,
                horizontal=True,
                label_visibility="collapsed",
                persist_state="session",
            )
        else:
            hint = HINTS.get(item.digits, f"a number, {item.digits} decimals")
            given = st.text_input(
                f"Answer to exercise {number}",
                key=name,
                placeholder=hint,
                label_visibility="collapsed",
                width=320,
                persist_state="session",
            )
        if given:
            _judge(item, given)


def _judge(item: Exercise, given: str) -> None:
    if item.right(given):
        st.success(f"Right: {item.shown}. {item.why}")
    else:
        st.warning("Not yet. Hover over the figure or open its table.")


def deck(rows: Sequence[tuple[str, str, str]], notation: str) -> None:
    """In your deck: where the slides say it differently, and what to take instead."""
    with st.expander("In your deck: notation, and where slides are loose"):
        st.markdown(notation)
        st.markdown("\n".join(("| slide | it says | take it as |", "|---|---|---|", *map(table_row, rows))))


def table_row(cells: Sequence[str]) -> str:
    """One row of a Markdown table. A | ends a cell, inside a formula as well, so formulas get a \\vert."""
    formulas = (re.sub(r"[$][^$]*[$]", lambda found: found[0].replace("|", r"\vert "), cell) for cell in cells)
    return f"| {' | '.join(formulas)} |"
