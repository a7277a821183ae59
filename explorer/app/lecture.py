"""A lesson that is presented: `explorer app --lesson FILE`. Page Down goes to its next step, on whatever page that is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import streamlit as st

from explorer.app import streamlit_inside
from explorer.app.lesson_plan import BOXES, PLANS, LessonPlan, LessonStep, read_plan
from explorer.app.lessons import LESSONS
from explorer.errors import ExplorerError
from explorer.records import Exercise

VARIABLE = "EXPLORER_LESSON"  # the file, for the process of the server
STEP = "step"  # in the address: which step this is
GOES = "lesson.goes"  # in the session: where to go


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
    return None if now is None or here is None else now.question_of(now.steps[here])


def presented(step: LessonStep, number: int) -> dict[str, str | tuple[str, ...]]:
    """What the address of a step says when it is presented."""
    return step.query | {"present": "1", STEP: str(number + 1)}


def count() -> int:
    """How many steps the lesson has."""
    now = plan()
    return 0 if now is None else len(now.steps)


def go(number: int) -> None:
    """Go to a step as soon as the page runs again."""
    st.session_state[GOES] = number


def follow() -> None:
    """At the beginning of a run: to the step that was asked for, unless the page shows it already."""
    now, number = plan(), st.session_state.pop(GOES, None)
    if now is not None and isinstance(number, int) and 0 <= number < len(now.steps) and number != place():
        open_step(now.steps[number], presented(now.steps[number], number))


def open_step(step: LessonStep, query: Mapping[str, str | tuple[str, ...]]) -> None:
    """Go to the page of a step, with nothing of what was chosen before."""
    shared = {box for boxes in (("model", "text"), *BOXES.values()) for box in boxes}  # pages hand these on to each other
    streamlit_inside.let_go({*st.query_params, *shared})  # what a step leaves out is as a page opens
    streamlit_inside.go_to(LESSONS[step.page].page, query)


def ahead() -> str:
    """The address of the next step without its presentation, for a browser that loads it ahead."""
    now, here = plan(), place()
    return "" if now is None or here is None or here + 1 == len(now.steps) else now.steps[here + 1].address
