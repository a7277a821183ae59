"""What a lesson asks at home: its pages are run as a visitor would open them, and what they ask, show and read is kept."""

from __future__ import annotations

import json
import logging
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from explorer.app import polling, streamlit_inside
from explorer.app.lesson_plan import BOXES, LessonPlan, LessonStep, labels_of
from explorer.app.lessons import LESSONS
from explorer.app.part_names import EXERCISES, addressed
from explorer.errors import FileError
from explorer.records import Exercise


@dataclass(frozen=True)
class HomeworkStep:
    """One step at home: its place, what to do there, what is asked, its pictures, and the model and text of its board."""

    title: str
    step: LessonStep
    guesses: tuple[Exercise, ...] = ()
    exercises: tuple[Exercise, ...] = ()
    pictures: tuple[dict[str, Any], ...] = ()
    model: str = ""
    text: str = ""
    board: bool = False


def collected(plan: LessonPlan, home: Path, most: int, say: Callable[[str], object]) -> list[HomeworkStep]:
    """Every step of a lesson; after the last one of each page come its first exercises, at most so many.

    `home` is the file of the app, which registers the pages.
    """
    last = {step.page: number for number, step in enumerate(plan.steps)}
    steps = []
    with _questions() as asked, chdir(home.parent):
        for number, step in enumerate(plan.steps):
            say(f"{number + 1} of {len(plan.steps)}: {step.page} {step.part}".rstrip())
            own = plan.question_of(step)
            steps.append(_step(streamlit_inside.visitor(home), step, asked, own, most if last[step.page] == number else 0))
    return steps


def _step(at: Any, step: LessonStep, asked: list[tuple[str, Exercise]], own: Exercise | None, most: int) -> HomeworkStep:
    """A step as its page shows it now."""
    practises = step.part == addressed(EXERCISES)
    _open(at, step, step.query, asked)
    here = tuple(question for _, question in asked)
    board = bool(most) or any("board" in shown.proto.component_name for shown in at.get("bidi_component"))
    model, text = (_value(at, key) for key in BOXES.get(step.page, ("model", "text")))
    charts = [chart.proto for chart in at.get("plotly_chart")]
    pictures = tuple(json.loads(chart.spec, object_hook=_numbers) | {"says": chart.alt} for chart in charts)
    if most and not practises:
        _open(at, step, step.query | {"part": addressed(EXERCISES)}, asked)
    exercises = tuple(question for _, question in asked)[:most]
    guesses = (*(() if practises else here), *([own] if own else []))
    label = labels_of(step.page).get(step.part, "")
    title = LESSONS[step.page].title + (f": {label}" if label else "")
    return HomeworkStep(title, step, guesses, exercises, pictures, model or _usual(step.page), text, board)


def _numbers(part: dict[str, Any]) -> Any:
    """A part of a picture as it is sent; its numbers come as bytes."""
    if "bdata" not in part:
        return part
    numbers = np.frombuffer(b64decode(part["bdata"]), part["dtype"])
    return numbers.reshape([int(side) for side in str(part.get("shape", numbers.size)).split(",")])


def _usual(page: str) -> str:
    """The model of a page that offers no choice of one."""
    return "" if BOXES.get(page, ("model", ""))[0] else next(iter(LESSONS[page].models), "")


def _value(at: Any, key: str) -> str:
    """What stands in a box of a page; nothing where the part has no such box."""
    return str(at.session_state[key] or "") if key and key in at.session_state else ""


def _open(at: Any, step: LessonStep, query: Mapping[str, str | tuple[str, ...]], asked: list[tuple[str, Exercise]]) -> None:
    """A part of a page, as its address opens it."""
    at.query_params.clear()
    for name, value in query.items():
        at.query_params[name] = value if isinstance(value, str) else list(value)
    asked.clear()
    at.switch_page(str(LESSONS[step.page].page)).run()
    if at.exception:
        raise FileError(
            f"The step {step.page} {step.part} of this lesson does not open. Present it once, and fix it or leave it out."
        )


@contextmanager
def _questions() -> Iterator[list[tuple[str, Exercise]]]:
    """The questions of the pages that are run inside, each with its key, as they are asked."""
    asked: list[tuple[str, Exercise]] = []

    def hear(question: Exercise, key: str) -> None:
        asked.append((key, question))

    polling.HEARD.append(hear)
    logging.disable(logging.WARNING)  # Streamlit warns of every page that runs without a server
    try:
        yield asked
    finally:
        polling.HEARD.remove(hear)
        logging.disable(logging.NOTSET)
