"""To ask the class a question of a page: one key puts it on every phone, then shows its bars, then asks once more."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from explorer.app import present, streamlit_inside, tally, teacher
from explorer.app.vote import BOOTH
from explorer.errors import ExplorerError
from explorer.records import Exercise

_says = st.components.v2.component(
    "pretraining-explorer-says",
    html="<div role='status' aria-live='polite'><span class='heard'></span> <span class='seen'></span></div>",
    css=".heard { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }",
    js=streamlit_inside.script("says"),
)
HEARD: list[Callable[[Exercise, str], object]] = []  # who hears each question of a page and its key: a homework that is written
REFUSED, WAITS = "vote.refused", "vote.waits"  # in the session: what was not done, and the question that waits for a yes


def attempt(act: Callable[[], object]) -> None:
    """Do what was pressed, or say on the page why not."""
    try:
        act()
    except ExplorerError as error:
        st.session_state[REFUSED] = str(error)


def say_refused() -> None:
    """What was not done, and why."""
    if refused := st.session_state.pop(REFUSED, ""):
        st.text(refused)


def put(exercise: Exercise, discard: str = "") -> None:
    """Ask the class; where votes would be lost, the question waits for a yes."""
    try:
        BOOTH.open(exercise, discard=discard)
        st.session_state.pop(WAITS, None)
    except ExplorerError as error:
        ballot = BOOTH.now
        st.session_state[REFUSED], st.session_state[WAITS] = str(error), (exercise, ballot.number if ballot else "")


def discard() -> None:
    """The question that waits is asked after all; not where another teacher has opened one since, whose votes would be lost."""
    exercise, number = st.session_state.pop(WAITS)
    put(exercise, number)


def confirm() -> None:
    """What would be lost, and the button that does it all the same."""
    say_refused()
    if WAITS in st.session_state:
        st.button("Discard the votes and ask", key="vote.discard", on_click=discard)


def offer(question: Exercise, key: str) -> None:
    """Beside a question that is shown to a room: the button (key V) that takes its vote one step on, and how the vote is."""
    for hear in HEARD:
        hear(question, key)
    if not present.on() or not teacher.is_teacher():
        return
    with st.container(key=f"vote.beside.{key}", gap="small"):
        label, act = _next_step(question)
        st.button(f"{label} (V)", key=f"put.{key}", type="tertiary", on_click=act)
        if st.session_state.get(WAITS, (None,))[0] is question or _is_asked(question):
            confirm()
        ballot = BOOTH.now
        if ballot is not None and _is_asked(question):
            tally.place(ballot)


def _is_asked(question: Exercise) -> bool:
    ballot = BOOTH.now
    return ballot is not None and (ballot.question, ballot.options) == (question.question, question.options)


def _next_step(question: Exercise) -> tuple[str, Callable[..., None]]:
    """What the key V does now."""
    ballot = BOOTH.now
    if ballot is None or ballot.shown or not _is_asked(question):
        return "Ask the class", lambda: put(question)
    return ("Second round", BOOTH.again) if ballot.bars else ("Show the bars", BOOTH.show_bars)


def status(key: str, *said: str, heard: str = "") -> None:
    """What changes by itself; a screen reader says it when it does, and before it what is `heard` only."""
    _says(key=key, data={"seen": " ".join(filter(None, said)), "heard": heard})
