"""The menu: the lessons in sections, in the order of the course, and the pages beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from explorer.app.lessons import LESSONS, SECTIONS, Lesson, section_of
from explorer.models.store import models

HERE = Path(__file__).parent
GLOSSARY, STATUS, VOTE = HERE / "glossary_page.py", HERE / "status_page.py", HERE / "vote_page.py"


def pages() -> dict[str, list[Any]]:
    """The pages of the app by section; a lesson without its models is reached by its address only."""
    known = set(models())
    menu = {
        section: [_page(lesson, known) for lesson in LESSONS.values() if section_of(lesson.name) == section]
        for section in SECTIONS
    }
    first, *_, last = menu
    menu[first] += [st.Page(GLOSSARY, title="Glossary", url_path="glossary"), st.Page(VOTE, title="Vote", url_path="vote")]
    menu[last].append(st.Page(STATUS, title="Status", url_path="status"))
    return menu


def _page(lesson: Lesson, known: set[str]) -> Any:
    """The page of one lesson."""
    visible = "visible" if set(lesson.models) <= known else "hidden"
    return st.Page(
        lesson.page, title=lesson.title, url_path=lesson.name, default=lesson.name == "start",
        visibility=visible,  # type: ignore[arg-type]
    )  # fmt: skip
