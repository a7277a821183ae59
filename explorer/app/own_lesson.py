"""A lesson that a teacher records: the page as it is becomes a step of it, with what the teacher does, asks and notes there."""

from __future__ import annotations

import tomllib
from secrets import token_hex

import streamlit as st

from explorer.app import lecture, streamlit_inside
from explorer.app.lesson_plan import MOST, labels_of, written_question, written_step, written_title
from explorer.app.lessons import LESSONS
from explorer.app.own_questions import typed_exercise
from explorer.errors import ExplorerError

LETTERS = 10_000  # of a step that a browser has kept
MINE, REFUSED = "lesson.mine", "lesson.refused"  # in the session: the steps, and why one was not added
SAYS = {"do": "What you do here", "ask": "What you ask", "note": "A note for yourself"}
TITLE, QUESTION = "lesson.title", "lesson.question"
NAMED = "lesson.named"  # in the session: the title, also while its box is not shown
_steps = st.components.v2.component("pretraining-explorer-steps", html="<span></span>", js=streamlit_inside.script("steps"))


def form(page: str) -> None:
    """Take the page as it is now into a lesson of one's own; below, its steps so far and its file."""
    _steps(key="lesson.kept", data={"steps": st.session_state.get(MINE)}, on_steps_change=lambda: restore(_kept()))
    with st.expander("Notes and a question for this step"):
        for name, label in SAYS.items():
            st.text_input(label, key=f"lesson.{name}", max_chars=LETTERS // 10)
        st.text_area("Your question, then an option on each line, a * before the right one", key=QUESTION)
    st.button("Add this to my lesson", key="lesson.add", on_click=add, args=(page,))
    if refused := st.session_state.pop(REFUSED, ""):
        st.error(refused)
    if not (steps := st.session_state.get(MINE, ())):
        return
    for number, step in enumerate(steps):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{number + 1}. {name_of(step)}", width="stretch")
            st.button("✕", key=f"lesson.drop.{number}", on_click=drop, args=(number,), type="tertiary", help="Remove this step")
    title = st.session_state.get(NAMED, "")
    st.text_input("Title of the lesson", title, key=TITLE, on_change=_named, placeholder="My lesson", max_chars=LETTERS // 100)
    st.download_button(
        f"lesson.toml ({len(steps)} step{'s' * (len(steps) != 1)})",
        written(),
        "lesson.toml",
        key="lesson.file",
        on_click="ignore",
    )
    st.caption("`explorer app --lesson lesson.toml` presents it.")


def _named() -> None:
    st.session_state[NAMED] = st.session_state[TITLE]


def _kept() -> object:
    """The steps that this browser has kept, as it says them."""
    return st.session_state["lesson.kept"].steps


def name_of(step: str) -> str:
    """The page and the part of a step.

    >>> name_of('[[step]]\\npage = "attention"\\npart = "why-d"')
    'Attention, step by step: Why √dₖ'
    """
    try:
        (given,) = tomllib.loads(step)["step"]
        page, part = str(given["page"]), str(given.get("part", ""))
        said = [key for key in ("note", "question") if given.get(key)]
        return LESSONS[page].title + (f": {labels_of(page)[part]}" if part else "") + "".join(f" · {word}" for word in said)
    except (ValueError, KeyError, TypeError):
        return "a step that does not open"


def add(page: str) -> None:
    """The page as it is now, as one more step of the visitor's own lesson."""
    left_out = ("present", lecture.STEP, "teacher", "guess", "core")
    query = {name: st.query_params.get_all(name) for name in st.query_params if name not in left_out}
    said, question = {name: str(st.session_state.get(f"lesson.{name}", "")) for name in SAYS}, ""
    if typed := str(st.session_state.get(QUESTION, "")).strip():
        name = f"question-{token_hex(3)}"  # of all steps: it is said once for the lesson
        try:
            question = "\n\n" + written_question(name, typed_exercise(typed))
        except ExplorerError as error:
            st.session_state[REFUSED] = str(error)
            return
        said["question"] = name
    st.session_state[MINE] = (*st.session_state.get(MINE, ()), written_step(page, query, said) + question)
    for key in (*(f"lesson.{name}" for name in SAYS), QUESTION):
        st.session_state[key] = ""


def drop(number: int) -> None:
    """Leave a step out."""
    steps = st.session_state.get(MINE, ())
    st.session_state[MINE] = (*steps[:number], *steps[number + 1 :])


def restore(kept: object) -> None:
    """The steps that this browser has kept from before, ahead of those of this session."""
    if isinstance(kept, list) and len(kept) <= MOST and all(isinstance(step, str) and len(step) <= LETTERS for step in kept):
        st.session_state[MINE] = (*kept, *st.session_state.get(MINE, ()))


def written() -> str:
    """The visitor's own steps, as a file."""
    title = str(st.session_state.get(NAMED, "")).strip() or "My lesson"
    return "\n\n".join((written_title(title), *st.session_state.get(MINE, ()))) + "\n"
