"""Questions to guess, beside a picture that is drawn at once; with *Guess first* its axes are empty until there is an answer.

An option that stands in the picture can be clicked there, and the guess and the answer stay marked in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from explorer.app import core, deeds, hold, hosted, polling, present, streamlit_inside
from explorer.app.glossary import say
from explorer.records import Exercise
from explorer.records.answering import verdict
from explorer.views.guessed import clicked, marked, spots

KEY, FIRST = "guess", "first.guess"  # in the address, and in the session


def first() -> bool:
    """Whether pictures wait for an answer: the address, the session or the room says so."""
    classroom = hosted.room()
    return bool(st.session_state.get(FIRST, classroom is not None and classroom.guess_first))


def waits(key: str) -> bool:
    """Whether the picture of a question waits for its answer: everywhere, or since the visitor or a step of the tour wants to guess."""
    return first() or deeds.asks(key) or bool(st.session_state.get(f"{key}.waits"))


def gives_away(draw: Callable[[], Any], question: Exercise, key: str) -> bool:
    """Whether a picture that is drawn at once would answer its own question: then the guess is offered, and a room makes it first."""
    return core.asks(key) and not (waits(key) or known(key)) and bool(spots(draw(), question.options))


def offer(question: Exercise, key: str) -> None:
    """A question about what the picture shows: on request its axes are emptied, and the guess is made in them."""
    st.session_state[f"{key}.offered"] = True
    st.button("◇ Guess first", key=f"wait.{key}", on_click=_wait, args=(key,), help=question.question)


def _wait(key: str) -> None:
    st.session_state[f"{key}.waits"] = True


def begin() -> None:
    """A page begins: its address may say whether pictures wait, and from then on says it."""
    if st.query_params.get(KEY) in ("0", "1"):
        st.session_state[FIRST] = st.query_params[KEY] == "1"
    elif FIRST in st.session_state:
        _write()


def button() -> None:
    """The teacher's switch, beside a page's title."""
    st.button(
        "Show at once" if first() else "Guess first", key="guessing.button", on_click=_turn, type="tertiary",
        help="Pictures are drawn at once, their questions beside them." if first() else "Each picture waits for an answer to its question.",
    )  # fmt: skip


def _turn() -> None:
    st.session_state[FIRST] = not first()
    _write()


def _write() -> None:
    st.query_params[KEY] = "1" if first() else "0"


def known(key: str) -> bool:
    """Whether the answer to a question may be seen: it was answered or shown, or is not asked."""
    given = st.session_state.get(key) is not None or bool(st.session_state.get(f"{key}.shown"))
    return given or present.answers() or not core.asks(key)


def answered(question: Exercise, key: str) -> bool:
    """A question with its options, and whether its answer may be seen."""
    if not core.asks(key):
        return True
    with st.container(gap="small", key=f"card.{key}"):
        say(f"**◇ Predict.** {question.question}")
        given = st.radio(
            "Your guess", question.options, index=None, key=key, horizontal=True, label_visibility="collapsed",
            persist_state="session",
        )  # fmt: skip
        deeds.check()
        polling.offer(question, key)
        if not known(key):
            st.button("Show me", key=f"show.{key}", type="tertiary", on_click=_show, args=(key,))
            return False
        _mark_right(question, key)
        message = verdict(question, given or "")
        (st.success if message.kind == "right" else st.info)(message.text)
    return True


def _mark_right(question: Exercise, key: str) -> None:
    """Mark the right option as a picture marks it; the style of the page marks the visitor's own."""
    option = f"{streamlit_inside.OPTION}:has([value='{question.options.index(str(question.answer))}'])"
    right = f"{deeds.selector(f'card.{key}')} {option}"
    st.html(f"<style>{right} {{ border: 2px solid var(--ink) !important; }} {right} p::after {{ content: '\\00a0✓'; }}</style>")


def _show(key: str) -> None:
    st.session_state[f"{key}.shown"] = True


@st.fragment
def predict(question: Exercise, key: str, show: Callable[[], object]) -> None:
    """What `show` draws, with a question about it below; with *Guess first* it waits. An answer redraws nothing else."""
    if not waits(key):
        show()
    if answered(question, key) and waits(key):
        show()


@st.fragment
def after_answer(question: Exercise, key: str, conclude: Callable[[], object] | None = None) -> None:
    """A question about what no picture shows: what `conclude` writes gives the answer, so it waits."""
    if answered(question, key) and conclude is not None:
        conclude()


def conclusion(key: str, words: str) -> None:
    """Words that give the answer to a question, once that may be seen; folded where its picture shows it and nobody has guessed.

    A room sees their place before, so that they move no picture.
    """
    if known(key):
        say(words)
    elif st.session_state.get(f"{key}.offered") and not waits(key):
        with st.expander("What may be concluded"):
            say(words)
    elif present.on():
        say("What may be concluded comes with the answer.")


def with_marks(figure: Any, question: Exercise, key: str) -> Any:
    """A picture with the visitor's guess marked where it stands, and the answer."""
    if not core.asks(key) or not known(key) or not (there := spots(figure, question.options)):
        return figure
    guess, answer = (there.get(str(option)) for option in (st.session_state.get(key), question.answer))
    return marked(figure, guess, answer, hold.mode(), f"✓ {question.called}")


def may_choose(figure: Any, question: Exercise, key: str) -> bool:
    """Whether a guess can be made in a picture: some options stand in it, and there is none yet. No bar fades then when one is clicked."""
    if known(key) or not spots(figure, question.options):
        return False
    figure.update_traces(unselected={"marker": {"opacity": 1}}, selector=lambda trace: trace.type in ("bar", "scatter"))
    return True


def choose(figure: Any, question: Exercise, key: str, point: dict[str, Any]) -> None:
    """A click on an option in a picture is the guess; a click beside them is none."""
    if (option := clicked(figure, question.options, point)) is not None:
        st.session_state[key] = option
