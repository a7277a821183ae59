"""The records of the front page, made once for every visitor, the Python that makes them again, and the doors to the lessons."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from explorer import meeting, pages
from explorer.errors import ExplorerError
from explorer.lessons import start as lesson
from explorer.pages.parts import elmo as lab
from explorer.pages.parts import tour
from explorer.pages.parts.opening import opened
from explorer.records import Sight
from explorer.text.microworld import stories

READERS = ("bert", "gpt", "bart")
FEW, STORIES = 6, 500
FOLDER = Path(pages.__file__).parent
Span = tuple[int, int]


def names() -> tuple[str, ...]:
    """The four that meet the sentence, ELMo first: it is the oldest."""
    return ("elmo", *READERS)


def told() -> tuple[str, ...]:
    """Those whose guesses and vectors mean something: the trained ones."""
    return names() if lab.trained() else READERS


def model(name: str) -> Any:
    """One of them; an ELMo that has learned nothing where no trained one is there."""
    return lab.elmo() if name == "elmo" else opened(name)


def code(name: str, call: str) -> str:
    """The Python that makes a record again."""
    loaded = (
        lab.start().replace("elmo = ", "model = ") if name == "elmo" else f"import explorer as ex\nmodel = ex.load({name!r})\n"
    )
    return (
        loaded.replace("import explorer as ex\n", "import explorer as ex\nfrom explorer import meeting\n")
        + f"trace = meeting.{call}"
    )


@st.cache_resource(max_entries=200, show_spinner="Reading the sentence …")
def sight(name: str, text: str, span: Span) -> Sight:
    """Who may see whom in one of them."""
    made = meeting.sight(model(name), text, span)
    if name != "elmo" or lab.trained():
        return made
    return replace(made, trained=False, tokens=replace(made.tokens, unseen=None))  # it has met nothing at all


@st.cache_resource(max_entries=200, show_spinner="Asking …")
def answer(name: str, text: str, span: Span) -> Any:
    """What one of them expects at a word."""
    return meeting.answer(model(name), text, span)


@st.cache_resource(max_entries=200, show_spinner="Reading other sentences …")
def moved(name: str, text: str, span: Span, others: tuple[str, ...]) -> Any:
    """How far a word's vector moves in one of them."""
    return meeting.moved(model(name), text, span, others)


@lru_cache(maxsize=1)
def sentences() -> tuple[str, ...]:
    """Sentences of new stories."""
    return tuple(sentence for story in stories(STORIES, 7, "validation") for sentence in story)


@st.cache_data(max_entries=500)
def found(word: str) -> tuple[str, ...]:
    """The first sentences of new stories that hold a word."""
    wanted = word.casefold()
    held = (one for one in sentences() if wanted in one.casefold() and meeting.uses(word, one))
    return tuple(next(held, "") for _ in range(FEW + 1))


def others(word: str, text: str) -> tuple[str, ...]:
    """Other sentences with a word: the one of this page, where it holds the word, then those of stories."""
    first = (lesson.OTHER,) if meeting.uses(word, lesson.OTHER) else ()
    return tuple(dict.fromkeys(one for one in (*first, *found(word)) if one and one != text))[:FEW]


def choices(text: str) -> dict[str, Span]:
    """The words of a sentence, each once, and where it stands first."""
    made: dict[str, Span] = {}
    for span in meeting.words_of(text):
        made.setdefault(text[slice(*span)], span)
    return made


def holds(word: str, text: str) -> bool:
    """Whether a word stands in a text that somebody typed."""
    try:
        return meeting.uses(word, text) is not None
    except ExplorerError:
        return False


def there() -> tuple[str, ...]:
    """The lessons that have a page."""
    return tuple(page for page in lesson.LESSONS if (FOLDER / f"{page}.py").is_file())


def door(title: str) -> None:
    """What stands behind one of the three doors."""
    if title == lesson.TOUR:
        tour.door("Begin the tour →", 1)
    elif title == lesson.OWN:
        st.page_link(str(FOLDER / "yours.py"))
    else:
        lectures()


def lectures() -> None:
    """Every lesson under the lectures that it belongs to, a line for each."""
    for lecture, tab in zip(lesson.LECTURES, st.tabs(list(lesson.LECTURES)), strict=True):
        with tab:
            st.caption(f"{lecture}, {lesson.LECTURES[lecture]}")
            for page in lesson.lessons_of(lecture, there()):
                st.page_link(str(FOLDER / f"{page}.py"))
                st.caption(lesson.LESSONS[page][1])
