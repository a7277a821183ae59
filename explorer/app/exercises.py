"""What a lesson page has besides pictures: exercises that are checked, and a box about the slides."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import streamlit as st

from explorer.app import core, polling, present
from explorer.app.glossary import marked, say
from explorer.records import Exercise
from explorer.records.answering import Tries, feedback, score, wanted_form

ASIDE: dict[str, Any] = {"horizontal": True, "label_visibility": "collapsed", "persist_state": "session"}
LOOK, TRY = "Hover over the figure above.", "Try again, or press *Show me*."  # with a figure beside it, and without


def plain(text: str) -> str:
    """A text that Markdown leaves as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|$:<>~&])", r"\\\1", " ".join(text.split()))


@st.fragment
def exercises(items: Sequence[Exercise], key: str) -> None:
    """Exercises; each answer is checked against the numbers of this page, and the score stands below them."""
    right, items = 0, core.exercises(items)
    for number, item in enumerate(items, 1):
        st.markdown(f"**{number}.** {marked(item.question)}")
        right += ask(item, f"{key}.{number}", f"Answer to exercise {number}")
    if items and (right or not core.on()):
        st.markdown(score(right, len(items)))


def ask(item: Exercise, name: str, label: str = "Answer", beside: bool = False) -> bool:
    """The place for an answer, and what is said to it: whether it is right. `beside` says that the figure is on the screen as well."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if item.options:
            given = st.radio("Answer", item.options, index=None, key=name, **ASIDE)
        else:
            given = st.text_input(
                label, key=name, placeholder=wanted_form(item), label_visibility="collapsed", width=320, persist_state="session"
            )
        st.button("Show me", key=f"{name}.show", type="tertiary", on_click=_give_up, args=(name, item))
    polling.offer(item, name)
    return _judge(item, given or "", name, LOOK if beside else TRY)


def tried(item: Exercise, name: str) -> tuple[int, bool]:
    """How many different wrong answers there were, and whether the answer was shown: after three of them, or asked for."""
    tries = _tries(item, name)
    return len(tries.wrong), tries.shown


def forget(name: str) -> None:
    """Ask once more, as if there had been no answer."""
    for key in (name, f"{name}.tries"):
        st.session_state.pop(key, None)


def _tries(item: Exercise, name: str, given: str = "") -> Tries:
    """The answers to this question so far, with this one."""
    tries: Tries = st.session_state.get(f"{name}.tries", Tries()).after(item, given)
    st.session_state[f"{name}.tries"] = tries
    return tries


def _give_up(name: str, item: Exercise) -> None:
    st.session_state[f"{name}.tries"] = _tries(item, name).show(item)


def _judge(item: Exercise, given: str, name: str, first: str) -> bool:
    """Say whether it is right."""
    message = feedback(item, _tries(item, name, given), given, first, opened=present.answers())
    ways = {"right": st.success, "shown": st.info, "wrong": st.warning}
    if message.kind:
        ways[message.kind](message.text)
    return message.kind == "right"


def deck(rows: Sequence[Sequence[str]], notation: str) -> None:
    """What the signs mean; and folded, where the slides say it differently, and what to take instead."""
    say(f"**Notation.** {notation}")
    with st.expander("In your deck: where slides are imprecise"):
        say("L0 to L4 are the five lectures of the course, in their order.")
        st.markdown("\n".join(("| slide | it says | take it as |", "|---|---|---|", *map(table_row, rows))))


def table_row(cells: Sequence[str]) -> str:
    """One row of a Markdown table. A | ends a cell, inside a formula as well, so formulas get a \\vert."""
    formulas = (re.sub(r"[$][^$]*[$]", lambda match: match[0].replace("|", r"\vert "), cell) for cell in cells)
    return f"| {' | '.join(formulas)} |"
