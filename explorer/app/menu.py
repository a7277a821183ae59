"""The menu: the lessons in sections, in the order of the course, and the pages beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from explorer.app import hosted, lecture, streamlit_inside, tour
from explorer.app.lessons import LESSONS, SECTIONS, Lesson, section_of
from explorer.models.store import models

HERE = Path(__file__).parent
GLOSSARY, HAND_IN, LESSON, RUNS, STATUS, VOTE = (
    HERE / f"{name}_page.py" for name in ("glossary", "hand_in", "lesson", "runs", "status", "vote")
)


def pages() -> dict[str, list[Any]]:
    """The pages of the app by section; a lesson without its models is reached by its address only."""
    known = set(models())
    menu = {
        section: [_page(lesson, known) for lesson in LESSONS.values() if section_of(lesson.name) == section]
        for section in SECTIONS
    }
    first, *_, last = menu
    menu[first].append(st.Page(_tour, title="Guided tour", url_path="tour"))
    menu[first] += [st.Page(GLOSSARY, title="Glossary", url_path="glossary"), st.Page(VOTE, title="Vote", url_path="vote")]
    menu[first].append(st.Page(_front, title="Start", url_path="start", visibility="hidden"))
    menu[first].append(st.Page(_vote, title="Vote here", url_path="v", visibility="hidden"))
    classroom = hosted.room()
    visible: Any = "hidden" if classroom is not None and lecture.plan() is None else "visible"
    menu[first].append(st.Page(LESSON, title="Lesson", url_path="lesson", visibility=visible))
    menu[first].append(st.Page(RUNS, title="Runs of the class", url_path="runs", visibility="hidden"))
    taken: Any = "visible" if classroom is not None and classroom.hand_ins else "hidden"
    menu[first].append(st.Page(HAND_IN, title="Hand in", url_path="hand-in", visibility=taken))
    menu[last].append(st.Page(STATUS, title="Status", url_path="status"))
    return menu


def _front() -> None:
    """The address /start: the front page, which has the address /."""
    streamlit_inside.go_to(LESSONS["start"].page, st.query_params.to_dict())


def _tour() -> None:
    """The address /tour: the first step of the guided tour, or the one at which a visitor is or left it."""
    step, asked = tour.entry()
    streamlit_inside.go_to(LESSONS[step.page].page, asked)


def _vote() -> None:
    """The address /v: the vote, for whoever types it."""
    streamlit_inside.go_to(VOTE, st.query_params.to_dict())


def _page(lesson: Lesson, known: set[str]) -> Any:
    """The page of one lesson."""
    visible = "visible" if set(lesson.models) <= known else "hidden"
    first = lesson.name == "start"
    return st.Page(  # the first one has the address /, and Streamlit keeps its own name from other pages
        lesson.page, title=lesson.title, url_path="front" if first else lesson.name, default=first,
        visibility=visible,  # type: ignore[arg-type]
    )  # fmt: skip
