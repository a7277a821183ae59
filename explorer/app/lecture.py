"""A lesson that is presented: `explorer app --lesson FILE`. Page Down goes to its next step, on whatever page that is."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import streamlit as st

from explorer.app import streamlit_inside
from explorer.app.lesson_plan import MOST, PLANS, LessonPlan, LessonStep, read_plan, written_step
from explorer.app.lessons import LESSONS
from explorer.errors import ExplorerError
from explorer.records import Exercise

VARIABLE = "EXPLORER_LESSON"  # the file, for the process of the server
STEP = "step"  # in the address: which step this is
LETTERS = 10_000  # of a step that a browser has kept
GOES, MINE = "lesson.goes", "lesson.mine"  # in the session: where to go, and the visitor's own steps


def plan() -> LessonPlan | None:
    """The lesson of this server; None without one, or where its file has been spoiled since the start."""
    name = os.environ.get(VARIABLE, "")
    file = PLANS / f"{name}.toml" if (PLANS / f"{name}.toml").is_file() else Path(name)
    try:
        return _read(name, file.stat().st_mtime_ns) if name else None
    except (OSError, ExplorerError):
        return None


@lru_cache(maxsize=4)
def _read(name: str, changed: int) -> LessonPlan:
    return read_plan(name)


def shipped() -> tuple[str, ...]:
    """The lectures that came with the package."""
    return tuple(sorted(path.stem for path in PLANS.glob("*.toml")))


def place() -> int | None:
    """Which step of the lesson is on the screen, counted from 0; None where the page was opened in another way."""
    given, now = st.query_params.get(STEP, ""), plan()
    if now is None or not given.isdecimal() or not 1 <= int(given) <= len(now.steps):
        return None
    return int(given) - 1


def question() -> Exercise | None:
    """The teacher's own question of the step that is on the screen."""
    now, here = plan(), place()
    return None if now is None or here is None else (now.questions or {}).get(now.steps[here].question)


def presented(step: LessonStep, number: int) -> dict[str, str | tuple[str, ...]]:
    """What the address of a step says when it is presented."""
    return step.query | {"present": "1", STEP: str(number + 1)}


def neighbour(by: int) -> tuple[LessonStep, int] | None:
    """The step before or after the one on the screen; None at either end."""
    now, here = plan(), place()
    if now is None or here is None or not 0 <= here + by < len(now.steps):
        return None
    return now.steps[here + by], here + by


def go(by: int) -> bool:
    """Go on or back as soon as the page runs again. Whether a lesson is presented at all."""
    if (there := neighbour(by)) is not None:
        st.session_state[GOES] = there[1]
    return place() is not None


def follow() -> None:
    """At the beginning of a run: to the step that was asked for."""
    now, number = plan(), st.session_state.pop(GOES, None)
    if now is not None and isinstance(number, int) and number < len(now.steps):
        step = now.steps[number]
        streamlit_inside.let_go(step.query)
        st.switch_page(str(LESSONS[step.page].page), query_params=presented(step, number))


def ahead() -> str:
    """The address of the next step without its presentation, for a browser that loads it ahead."""
    there = neighbour(1)
    return "" if there is None else there[0].address


def add(page: str) -> None:
    """The page as it is now, as one more step of the visitor's own lesson."""
    left_out = ("present", STEP, "teacher", "guess", "core")
    query = {name: st.query_params.get_all(name) for name in st.query_params if name not in left_out}
    st.session_state[MINE] = (*st.session_state.get(MINE, ()), written_step(page, query))


def remove(last: int) -> None:
    """Leave out the last steps of the visitor's own lesson."""
    st.session_state[MINE] = st.session_state.get(MINE, ())[:-last]


def restore(kept: object) -> None:
    """The steps that this browser has kept from before, ahead of those of this session."""
    if isinstance(kept, list) and len(kept) <= MOST and all(isinstance(step, str) and len(step) <= LETTERS for step in kept):
        st.session_state[MINE] = (*kept, *st.session_state.get(MINE, ()))


def own_lesson() -> str:
    """The visitor's own steps, as a file."""
    return "\n\n".join(('title = "My lesson"', *st.session_state.get(MINE, ()))) + "\n"
