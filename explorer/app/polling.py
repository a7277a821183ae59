"""To ask the class a question of a page: one key puts it on every phone, then shows its bars, then asks once more."""

from __future__ import annotations

import time
from collections.abc import Callable
from html import escape

import streamlit as st

from explorer.app import present, streamlit_inside, teacher
from explorer.app.markup import marked_up
from explorer.app.vote import BOOTH, Ballot
from explorer.errors import ExplorerError
from explorer.records import Exercise

_says = st.components.v2.component(
    "pretraining-explorer-says",
    html="<div role='status' aria-live='polite'><span class='heard'></span> <span class='seen'></span></div>",
    css=".heard { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }",
    js=streamlit_inside.script("says"),
)
HEARD: list[Callable[[Exercise, str], object]] = []  # who hears each question of a page and its key: a homework that is written
ANSWERED = "The answer is shown."
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
            live(question)


def _is_asked(question: Exercise) -> bool:
    ballot = BOOTH.now
    return ballot is not None and (ballot.question, ballot.options) == (question.question, question.options)


def _next_step(question: Exercise) -> tuple[str, Callable[..., None]]:
    """What the key V does now."""
    ballot = BOOTH.now
    if ballot is None or ballot.shown or not _is_asked(question):
        return "Ask the class", lambda: put(question)
    return ("Second round", BOOTH.again) if ballot.bars else ("Show the bars", BOOTH.show_bars)


@st.fragment(run_every=2)
def live(question: Exercise) -> None:
    """The bars of a question, as long as it is the one that the class is asked."""
    ballot = BOOTH.now
    if ballot is not None and _is_asked(question):
        count("vote.count", ballot)
        bars(ballot)


def count(key: str, ballot: Ballot) -> None:
    """How the vote is: who hears the page is told once the answer is shown."""
    voted = f"{turnout} voted" if (turnout := BOOTH.turnout) else "Nobody has joined."
    status(key, voted, time_left(ballot), heard=ANSWERED if ballot.shown else "")


def time_left(ballot: Ballot) -> str:
    """How many seconds votes are taken."""
    left = ballot.ends - time.time()
    return "" if not ballot.ends or ballot.shown else f"{left:.0f} s left" if left > 0 else "Time is up."


def bars(ballot: Ballot) -> None:
    """How many voted for what, beside the round before; the right answer has a check mark once it is shown."""
    if not ballot.bars:
        return
    before, drawn = ballot.earlier[-1] if ballot.earlier else None, ""
    for choice, votes in zip(ballot.choices, ballot.counts, strict=True):
        was = "" if before is None else f" (before: {before.get(choice, 0)})"
        right = "✓ " * (ballot.shown and choice == ballot.answer)
        drawn += f"<div>{right}{marked_up(choice)} · <b>{votes}</b>{was}</div>"
        drawn += _track(f"{choice}: {votes} votes", votes / max(1, len(ballot.votes)))
        if before is not None:
            first, all_of_it = before.get(choice, 0), max(1, sum(before.values()))
            drawn += _track(f"{choice}, round before: {first} votes", first / all_of_it, "earlier")
    st.html(drawn)


def _track(name: str, share: float, kind: str = "") -> str:
    return f'<div class="vote-track {kind}" role="img" aria-label="{escape(name)}"><div style="width:{100 * share:.1f}%"></div></div>'


def status(key: str, *said: str, heard: str = "") -> None:
    """What changes by itself; a screen reader says it when it does, and before it what is `heard` only."""
    _says(key=key, data={"seen": " ".join(filter(None, said)), "heard": heard})
