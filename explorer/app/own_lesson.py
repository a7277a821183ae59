"""A lesson that a teacher records: the page as it is becomes a step of it, with what the teacher does, asks and notes there."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from secrets import token_hex

import streamlit as st

from explorer.app import lecture, streamlit_inside
from explorer.app.lesson_plan import MOST, LessonPlan, labels_of, plan_of, written_question, written_step, written_title
from explorer.app.lessons import LESSONS
from explorer.app.own_questions import typed, typed_exercise
from explorer.errors import ExplorerError

LETTERS = 10_000  # of a step that a browser has kept
KEY = "record"  # in the address
# in the session: the steps, why one was not added, whether they are recorded, which one is changed, and whether it is to be opened;
# the one that was removed last, how often the boxes were emptied, whether the list is open, and what the file has
MINE, REFUSED, RECORDS, CHANGED, GOES = "lesson.mine", "lesson.refused", "lesson.records", "lesson.changed", "lesson.opens"
DROPPED, TURN, LIST, NAMED = "lesson.dropped", "lesson.turn", "lesson.steps", "lesson.named"
TITLE, QUESTION = "lesson.title", "question"
SAYS = {"note": "Note for yourself", "do": "What you do here", "ask": "What you ask aloud"}
HELP = "A bar at the foot of every page adds what is on the screen as a step. It ends in a file that Page Down presents."
_steps = st.components.v2.component("pretraining-explorer-steps", html="<span></span>", js=streamlit_inside.script("steps"))


def box(name: str) -> str:
    """The key of a box; another one for every step, since a browser keeps what was typed into a box that it does not show."""
    return f"lesson.{name}.{st.session_state.get(TURN, 0)}"


def begin() -> None:
    """From now on every lesson page has the bar that records it, also when it is loaded again: the address says it."""
    st.query_params[KEY] = "1"


def begun() -> bool:
    """Whether recording has just begun, and no page has shown its bar yet."""
    return KEY in st.query_params and not st.session_state.get(RECORDS)


def end() -> None:
    """The bar goes; the steps stay in the browser."""
    st.query_params.pop(KEY, None)
    for key in (RECORDS, CHANGED):
        st.session_state.pop(key, None)


def bar(page: str) -> None:
    """While a lesson is recorded, a bar at the foot of every lesson page: a note, a question, *Add this page*, and the steps so far."""
    if page not in LESSONS or not (st.session_state.get(RECORDS) or KEY in st.query_params):
        return
    st.session_state[RECORDS] = True
    st.query_params[KEY] = "1"  # of the next page, too
    with st.container(key="recording"):
        _bar(page)


@st.fragment
def _bar(page: str) -> None:
    _steps(key="lesson.kept", data={"steps": st.session_state.get(MINE)}, on_steps_change=lambda: restore(_kept()))
    steps, changed = st.session_state.get(MINE, ()), st.session_state.get(CHANGED)
    if st.session_state.pop(GOES, False) and (plan := read(steps[changed])) is not None:
        lecture.open_step(plan.steps[0], plan.steps[0].query)
    if refused := st.session_state.pop(REFUSED, ""):
        st.error(refused)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**Step {len(steps) + 1 if changed is None else changed + 1}**", width="content")
        note, *more = SAYS
        empty = f"{SAYS[note]} (optional)"
        st.text_input(SAYS[note], key=box(note), max_chars=LETTERS // 10, placeholder=empty, label_visibility="collapsed")
        with st.popover("Question", width="content"):
            st.text_area("Your question, then an option on each line, a * before the right one", key=box(QUESTION))
            for name in more:
                st.text_input(SAYS[name], key=box(name), max_chars=LETTERS // 10)
        said = "Add this page" if changed is None else f"Replace step {changed + 1}"
        st.button(said, key="lesson.add", on_click=add, args=(page,), type="primary", width="content")
        nothing = not steps and DROPPED not in st.session_state
        with st.popover("My lesson", width="content", disabled=nothing, key=LIST, on_change="rerun") as popover:
            if popover.open:
                _listed(steps)
        if st.button("Close", key="lesson.end", type="tertiary", width="content", help="The steps stay in this browser."):
            end()
            st.rerun()


def _listed(steps: Sequence[str]) -> None:
    """The lesson so far: its title and its file, then each step, to be opened, moved up or removed."""
    file = st.session_state.setdefault(NAMED, {"title": ""})
    file["steps"] = steps
    title, most = file["title"], LETTERS // 100
    st.text_input("Title of the lesson", title, key=TITLE, on_change=_named, placeholder="My lesson", max_chars=most)
    st.download_button(
        "Download lesson.toml", lambda: written(**file), "lesson.toml", key="lesson.file", on_click="ignore", type="primary"
    )
    st.caption("`explorer app --lesson lesson.toml` presents it.")
    if DROPPED in st.session_state:
        st.button(f"Put step {st.session_state[DROPPED][0] + 1} back", key="lesson.back", on_click=put_back)
    for number, step in enumerate(steps):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name, key = f"{number + 1}. {name_of(step)}", f"lesson.open.{number}"
            st.button(name, key=key, on_click=change, args=(number,), type="tertiary", help="Open it, to change it")
            st.space("stretch")
            for sign, act, says in (("↑", move_up, "One step earlier"), ("✕", drop, "Remove this step")):
                first = act is move_up and not number
                st.button(
                    sign, key=f"{key}.{sign}", on_click=act, args=(number,), type="tertiary", help=says, disabled=first,
                )  # fmt: skip


def _named() -> None:
    st.session_state[NAMED]["title"] = st.session_state[TITLE]


def _kept() -> object:
    """The steps that this browser has kept, as it says them."""
    return st.session_state["lesson.kept"].steps


def read(step: str) -> LessonPlan | None:
    """A step as a lesson of its own; None for one that does not open."""
    try:
        return plan_of(tomllib.loads(step), step, "This step")
    except (ValueError, ExplorerError):
        return None


def name_of(step: str) -> str:
    """The page and the part of a step.

    >>> name_of('[[step]]\\npage = "attention"\\npart = "why-d"')
    'Attention, step by step: Why √dₖ'
    """
    if (plan := read(step)) is None:
        return "a step that does not open"
    given = plan.steps[0]
    said = [f" · {word}" for word in ("note", "question") if getattr(given, word)]
    return LESSONS[given.page].title + (f": {labels_of(given.page)[given.part]}" if given.part else "") + "".join(said)


def add(page: str) -> None:
    """The page as it is now, as one more step of the visitor's own lesson, or in the place of the one that is changed."""
    left_out = ("present", lecture.STEP, "teacher", "guess", "core", KEY)
    query = {name: st.query_params.get_all(name) for name in st.query_params if name not in left_out}
    said, question = {name: str(st.session_state.get(box(name), "")) for name in SAYS}, ""
    steps, changed = list(st.session_state.get(MINE) or ()), st.session_state.get(CHANGED)
    if changed is None and len(steps) == MOST:
        st.session_state[REFUSED] = f"A lesson has at most {MOST} steps."
        return
    if typed_text := str(st.session_state.get(box(QUESTION), "")).strip():
        name = f"question-{token_hex(3)}"  # of all steps: it is said once for the lesson
        try:
            question = "\n\n" + written_question(name, typed_exercise(typed_text))
        except ExplorerError as error:
            st.session_state[REFUSED] = str(error)
            return
        said["question"] = name
    at = len(steps) if changed is None else changed
    steps[at : at + 1] = [written_step(page, query, said) + question]
    _hold(steps)
    _write({})


def _hold(steps: Sequence[str]) -> None:
    """These are the steps now, and none of them is being changed."""
    st.session_state[MINE] = tuple(steps)
    st.session_state.pop(CHANGED, None)


def change(number: int) -> None:
    """Take a step up again: what was said of it is in the boxes, and *Add* puts the page in its place."""
    if (plan := read(st.session_state[MINE][number])) is None:
        return
    (step,) = plan.steps
    own = plan.question_of(step)
    st.session_state[CHANGED], st.session_state[LIST], st.session_state[GOES] = number, False, True
    _write({name: getattr(step, name) for name in SAYS}, "" if own is None else typed(own))


def _write(said: dict[str, str], question: str = "") -> None:
    st.session_state[TURN] = st.session_state.get(TURN, 0) + 1
    for name in SAYS:
        st.session_state[box(name)] = said.get(name, "")
    st.session_state[box(QUESTION)] = question


def move_up(number: int) -> None:
    """Exchange a step with the one before it."""
    steps = list(st.session_state[MINE])
    steps[number - 1 : number + 1] = steps[number], steps[number - 1]
    _hold(steps)


def drop(number: int) -> None:
    """Leave a step out."""
    steps = list(st.session_state[MINE])
    st.session_state[DROPPED] = number, steps.pop(number)
    _hold(steps)


def put_back() -> None:
    """The step that was removed last, where it was."""
    number, step = st.session_state.pop(DROPPED)
    steps = list(st.session_state[MINE])
    steps.insert(number, step)
    _hold(steps)


def restore(kept: object) -> None:
    """The steps that this browser has kept from before, ahead of those of this session."""
    if isinstance(kept, list) and len(kept) <= MOST and all(isinstance(step, str) and len(step) <= LETTERS for step in kept):
        st.session_state[MINE] = (*kept, *st.session_state.get(MINE, ()))


def written(title: str, steps: Sequence[str]) -> str:
    """The visitor's own steps, as a file."""
    return "\n\n".join((written_title(title.strip() or "My lesson"), *steps)) + "\n"
