"""The guided tour: short steps from page to page, each with one thing to do, where to look, and what one knows afterwards."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from explorer.app import deeds, streamlit_inside
from explorer.app.lessons import LESSONS, SENTENCE
from explorer.app.lessons.first_cell import STORY
from explorer.app.lessons.start import questions as start
from explorer.app.lessons.vectors import questions as vectors
from explorer.app.prose import filled

MINUTES = 1.0  # planned for a step, not measured: half of it to read about 70 words, half to do what it asks and to look
FURTHER = "Further lessons"  # the chapter of the lessons for which no step is written


@dataclass(frozen=True)
class TourStep:
    """One step: its page and the part of it, a sentence, what to do, where to look, what one knows then, words that the page
    shows, the picture to look at, the deeds that tick it off together, and what its controls are set to.
    """

    page: str
    part: str  # as the address names it; the first where none is named
    says: str
    do: str
    look: str
    know: str
    mark: str
    picture: str = "*"  # a figure, a board or a box, by the beginning of its key
    done: tuple[str, ...] = ()  # as `deeds` reads them
    lower: bool = False  # whether the lower end of the picture is what to look at
    waits: float = 0.0  # the second of the film at which the opening waits for the deed; 0 where it does not wait
    hides: tuple[str, ...] = ()  # controls of the page that would push the picture out of the window
    cuts: tuple[str, ...] = ()  # what else of the page, by its own selectors
    bare: bool = False  # whether its board shows the square of weights alone
    choices: Mapping[str, Any] = field(default_factory=dict)
    boards: Mapping[str, str] = field(default_factory=dict)  # where its boards begin, as an address says it
    chapter: str = FURTHER

    @property
    def pictures(self) -> str:
        """Where the picture is on the page, whether it is drawn or still waits for an answer."""
        if self.picture == "*":
            return streamlit_inside.PICTURE
        named = deeds.selector(self.picture)
        begins = deeds.selector(f"{self.picture}.*")
        return f"{named}, {begins}:is([class*=-figure], [class*=-empty])"


@dataclass(frozen=True)
class Chapter:
    """Steps that follow each other and belong together, by their numbers from 1."""

    title: str
    steps: range

    def place(self, number: int) -> str:
        """Where in it a step is.

        >>> Chapter("Attention", range(6, 11)).place(7)
        'Attention · 2 of 5'
        """
        return f"{self.title} · {self.steps.index(number) + 1} of {len(self.steps)}"


def chapters(steps: Sequence[TourStep]) -> tuple[Chapter, ...]:
    """The chapters of these steps, in their order."""
    numbers = groupby(range(1, len(steps) + 1), key=lambda number: steps[number - 1].chapter)
    found = [(title, list(some)) for title, some in numbers]
    return tuple(Chapter(title, range(some[0], some[-1] + 1)) for title, some in found)


def minutes(count: int) -> int:
    """How long this many steps take at the planned pace, in whole minutes."""
    return math.ceil(count * MINUTES)


def _step(entry: dict[str, Any]) -> TourStep:
    """A step of the file, with the texts of the lessons in its gaps."""
    gaps = {
        "sentence": SENTENCE,
        "start": start.TEXT,
        "word": start.WORD,
        "parallel": vectors.PARALLEL,
        "story": STORY,
    }
    texts: dict[str, Any] = {name: filled(value, gaps) for name, value in entry.items() if isinstance(value, str)}
    texts |= {
        "done": tuple(filled(deed, gaps) for deed in entry.get("done", ())),
        "hides": tuple(entry.get("hides", ())),
        "cuts": tuple(entry.get("cuts", ())),
        "lower": entry.get("lower", False),
        "bare": entry.get("bare", False),
        "waits": entry.get("waits", 0.0),
    }
    choices = {key: filled(value, gaps) if isinstance(value, str) else value for key, value in entry.get("choices", {}).items()}
    return TourStep(**texts, choices=choices, boards=entry.get("boards", {}))


FILE = tomllib.loads(Path(__file__).with_name("tour.toml").read_text("utf-8"))
STEPS = tuple(_step(step | {"chapter": chapter["title"]}) for chapter in FILE["chapter"] for step in chapter["step"])


def steps_on(pages: Collection[str]) -> tuple[TourStep, ...]:
    """The steps whose pages there are; a lesson without a step here gets one from its line in the list of lessons."""
    written = tuple(step for step in STEPS if step.page in pages)
    others = [LESSONS[name] for name in pages if name in LESSONS and name not in {step.page for step in written}]
    todo, look = "Move each control once.", "What changes with it, and what stays."
    return written + tuple(TourStep(lesson.name, "", lesson.about, todo, look, lesson.about, lesson.title) for lesson in others)


def number_of(address: object, count: int) -> int | None:
    """A step's number, from 1, as an address says it, or the one after the last, which is the end; None where it says none."""
    text = str(address)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 and 1 <= int(text) <= count + 1 else None
