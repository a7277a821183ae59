"""What a lesson page has besides pictures: questions to guess, exercises that are checked, and a box about the slides."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from explorer.app import core, deeds, present
from explorer.app.glossary import marked, say
from explorer.records import Exercise

ASIDE: dict[str, Any] = {"horizontal": True, "label_visibility": "collapsed", "persist_state": "session"}
LOOK, TRY = "Hover over the figure above.", "Try again, or press *Show me*."  # with a figure beside it, and without
HINTS = {0: "a whole number", 1: "a number, one decimal"}


def plain(text: str) -> str:
    """A text that Markdown leaves as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|$:<>~&])", r"\\\1", " ".join(text.split()))


@st.fragment
def predict(question: Exercise, key: str, reveal: Callable[[], None], before: Callable[[], None] | None = None) -> None:
    """Predict first, then see: `reveal` shows the picture once there is an answer; until then `before` shows what may be seen.

    An answer redraws nothing else.
    """
    if answered(question, key):
        return reveal()
    return before() if before is not None else None


def answered(question: Exercise, key: str) -> bool:
    """A question with its options, and whether what it asks about may be shown: it has an answer, or is not asked."""
    if not core.asks(key):
        return True
    with st.container(border=True, gap="small"):
        say(f"**◇ Predict, then reveal.** {question.question}")
        given = st.radio("Your guess", question.options, index=None, key=key, **ASIDE)
        if given is None and present.answers():
            given = str(question.answer)
        else:
            deeds.check()
        if given is None:
            st.caption("Choose an answer to see what happens.")
        elif question.right(given):
            st.success(f"Yes: {question.shown}. {question.why}")
        else:
            st.info(f"You said *{given}*. It is: **{question.shown}**. {question.why}")
    return given is not None


@st.fragment
def exercises(items: Sequence[Exercise], key: str) -> None:
    """Exercises; each answer is checked against the numbers of this page, and the score stands below them."""
    right, items = 0, core.exercises(items)
    for number, item in enumerate(items, 1):
        st.markdown(f"**{number}.** {marked(item.question)}")
        right += ask(item, f"{key}.{number}", f"Answer to exercise {number}")
    if items:
        st.markdown(f"**{right} of {len(items)}** answered.")


def ask(item: Exercise, name: str, label: str = "Answer", beside: bool = False) -> bool:
    """The place for an answer, and what is said to it: whether it is right. `beside` says that the figure is on the screen as well."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if item.options:
            given = st.radio("Answer", item.options, index=None, key=name, **ASIDE)
        else:
            hint = HINTS.get(item.digits, f"a number, {item.digits} decimals")
            given = st.text_input(
                label, key=name, placeholder=hint, label_visibility="collapsed", width=320, persist_state="session"
            )
        st.button("Show me", key=f"{name}.show", type="tertiary", on_click=_give_up, args=(name, item.question))
    return _judge(item, given or "", name, LOOK if beside else TRY)


def tried(item: Exercise, name: str) -> tuple[int, bool]:
    """How many different wrong answers there were, and whether the answer was shown: after three of them, or asked for."""
    return len(_misses(item, "", name)), _told(item, name)


def forget(name: str) -> None:
    """Ask once more, as if there had been no answer."""
    for one in (name, f"{name}.wrong", f"{name}.shown"):
        st.session_state.pop(one, None)


def _told(item: Exercise, name: str) -> bool:
    """Whether the answer was given away: after three wrong ones, or asked for."""
    return len(_misses(item, "", name)) >= 3 or st.session_state.get(f"{name}.shown") == item.question


def _give_up(name: str, question: str) -> None:
    st.session_state[f"{name}.shown"] = question


def _judge(item: Exercise, given: str, name: str, first: str) -> bool:
    """Say whether it is right: a hint after two wrong answers, the answer and why after three, or when it is asked for."""
    wrong = _misses(item, given, name)
    if given and item.right(given) and st.session_state.get(f"{name}.shown") != item.question:
        st.success(f"Right: {item.shown}. {item.why}")
        return True
    if present.answers() or _told(item, name):
        st.info(f"It is **{item.shown}**. {item.why}")
    elif given:
        st.warning("Not yet. " + (hint_of(item, given) if len(wrong) == 2 else first))
    return False


def _misses(item: Exercise, given: str, name: str) -> list[str]:
    """The different wrong answers to this question so far."""
    question, wrong = st.session_state.get(f"{name}.wrong", (item.question, []))
    if question != item.question:  # the model or the text has changed, and the numbers with it
        wrong = []
    if given and not item.right(given) and given not in wrong:
        wrong = [*wrong, given]
    st.session_state[f"{name}.wrong"] = (item.question, wrong)
    return list(wrong)


def hint_of(item: Exercise, given: str) -> str:
    """Which way the answer lies.

    >>> hint_of(Exercise("How many?", 12.0, "", digits=0), "9")
    'Hint: it is larger than 9, and at most 24.'
    """
    if item.options:
        others = [option for option in item.options if option not in (given, item.answer)]
        return f"Hint: it is not *{others[0]}* either." if len(others) > 1 else "Hint: one answer is left."
    try:
        number = float(given.strip().replace(",", ".").replace("−", "-"))
    except ValueError:
        return "Hint: write a number, for example 0.25."
    answer = float(item.answer)
    if answer > number:
        return f"Hint: it is larger than {given.strip()}, and at most {2 * abs(answer):.{item.digits}f}."
    return f"Hint: it is smaller than {given.strip()}, and at least {answer - abs(answer) / 2:.{item.digits}f}."


def deck(rows: Sequence[tuple[str, str, str]], notation: str) -> None:
    """In your deck: where the slides say it differently, and what to take instead."""
    with st.expander("In your deck: notation, and where slides are loose"):
        say(notation)
        st.markdown("\n".join(("| slide | it says | take it as |", "|---|---|---|", *map(table_row, rows))))


def table_row(cells: Sequence[str]) -> str:
    """One row of a Markdown table. A | ends a cell, inside a formula as well, so formulas get a \\vert."""
    formulas = (re.sub(r"[$][^$]*[$]", lambda found: found[0].replace("|", r"\vert "), cell) for cell in cells)
    return f"| {' | '.join(formulas)} |"
