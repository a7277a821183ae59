"""A lecture as a file: `lesson.toml`, an ordered list of steps, each a part of a page with its text, model and controls.

    title = "Attention in twenty minutes"

    [[step]]
    page = "attention"
    part = "why-d"
    text = "The dog saw the cat."
    do = "raise the width of the keys"
    ask = "what does the largest weight do?"

`explorer app --lesson FILE` presents it: Page Down goes to the next step, on whatever page that is.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from explorer.app.lessons import LESSONS
from explorer.app.own_questions import exercise_of
from explorer.app.part_names import EXERCISES, addressed
from explorer.errors import ExplorerError, FileError
from explorer.models.store import models
from explorer.records import Exercise

PLANS = Path(__file__).parent / "plans"
MOST = 100  # steps of a lesson
TEXTS = ("page", "part", "text", "model", "do", "ask", "note", "question")
BOXES = {  # the keys of the model and of the text in the address of a page; without an entry "model" and "text"
    "corruption": ("masked", "story"), "decoding": ("writer", "beginning"), "finetuning": ("tuned", "text.tuned"),
    "prompting": ("prompted", "text.prompt"), "tokens": ("", "text.tokens"), "training": ("kept", "text"),
    "vectors": ("vectors", "text"), "elmo": ("", "text"), "start": ("", "text"), "families": ("model", ""), "positions": ("", ""),
}  # fmt: skip


@dataclass(frozen=True)
class LessonStep:
    """One step: where it is, what the teacher does there, what may be asked, and a note that only the teacher sees."""

    page: str
    part: str = ""
    text: str = ""
    model: str = ""
    do: str = ""
    ask: str = ""
    note: str = ""
    question: str = ""
    minute: int = 0
    controls: tuple[tuple[str, str | tuple[str, ...]], ...] = ()  # several values where several are chosen

    @property
    def query(self) -> dict[str, str | tuple[str, ...]]:
        """What its address says besides the page."""
        model, text = BOXES.get(self.page, ("model", "text"))
        boxes = {model: self.model, text: self.text}
        return {name: value for name, value in ({"part": self.part} | boxes | dict(self.controls)).items() if name and value}

    @property
    def address(self) -> str:
        """Its address on a server.

        >>> LessonStep("attention", "why-d", text="A dog.").address
        '/attention?part=why-d&text=A%20dog.'
        """
        query = urlencode(self.query, quote_via=quote, doseq=True)
        return f"/{'' if self.page == 'start' else self.page}" + (f"?{query}" if query else "")


@dataclass(frozen=True)
class LessonPlan:
    """A lesson: its title, its steps, what may be concluded and what may not, and the teacher's own questions by their names."""

    title: str
    steps: tuple[LessonStep, ...]
    concluded: str = ""
    not_concluded: str = ""
    questions: Mapping[str, Exercise] | None = None

    def question_of(self, step: LessonStep) -> Exercise | None:
        """The teacher's own question of a step."""
        return (self.questions or {}).get(step.question)


@cache
def labels_of(page: str) -> dict[str, str]:
    """The parts of a page, read from its source: what the bar writes, by the name in the address.

    >>> labels_of("attention")["both-masks"]
    'Both masks'
    """
    calls = [node for node in ast.walk(ast.parse(LESSONS[page].page.read_text("utf-8"))) if isinstance(node, ast.Call)]
    parts = [call.args for call in calls if isinstance(call.func, ast.Name) and call.func.id == "PagePart"]
    labels = [args[2] if len(args) > 2 else args[0] for args in parts]
    return {
        addressed(label): label
        for label in (*(str(node.value) for node in labels if isinstance(node, ast.Constant)), EXERCISES)
    }


def read_plan(path: str | Path) -> LessonPlan:
    """A lesson from its file, or one of the shipped ones by its name (L0 to L4).

    >>> read_plan("L0").steps[0].page
    'start'
    """
    file = PLANS / f"{path}.toml" if re.fullmatch(r"L\d", str(path)) else Path(path)
    try:
        text = file.read_text("utf-8")
        given = tomllib.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{file} cannot be read as a lesson ({error}). See docs/classroom.md.") from error
    return plan_of(given, text, str(file))


def plan_of(given: dict[str, Any], text: str, name: str) -> LessonPlan:
    """A lesson from what its file says; a fault is said with its line."""
    questions = {}
    for number, each in enumerate(_tables(given, "question", text, name)):
        with_name = dict(each)
        called = str(with_name.pop("name", number + 1))
        try:
            questions[called] = exercise_of(with_name)
        except ExplorerError as error:
            raise _fault(name, _line(text, "question", number), str(error)) from error
    steps = _tables(given, "step", text, name)
    if not 1 <= len(steps) <= MOST:
        raise _fault(name, 1, f"it has {len(steps)} steps, but a lesson has 1 to {MOST}. Each begins with [[step]].")
    if unknown := sorted(set(given) - {"title", "concluded", "not_concluded", "step", "question"}):
        raise _fault(name, _line_of(text, unknown[0]), f"a lesson has no {unknown[0]!r}.")
    read = tuple(_step(each, number, text, name, questions) for number, each in enumerate(steps))
    said = [str(given.get(key, "")) for key in ("title", "concluded", "not_concluded")]
    return LessonPlan(said[0] or Path(name).stem, read, said[1], said[2], questions)


def _tables(given: dict[str, Any], key: str, text: str, name: str) -> list[dict[str, Any]]:
    every = given.get(key, [])
    if not isinstance(every, list) or not all(isinstance(each, dict) for each in every):
        raise _fault(name, _line_of(text, key), f"each {key} begins with [[{key}]].")
    return every


def _step(given: dict[str, Any], number: int, text: str, name: str, questions: Mapping[str, Exercise]) -> LessonStep:
    """One step, if all that it names is there."""

    def refused(key: str, reason: str) -> FileError:
        return _fault(name, _line(text, "step", number, key), reason)

    for key, value in given.items():
        fits = isinstance(value, {"minute": int, "controls": dict}.get(key, str))
        if key not in (*TEXTS, "minute", "controls") or not fits:
            raise refused(key, f"a step has no {key} = {value!r}. It has: {', '.join((*TEXTS, 'minute', 'controls'))}.")
    page = given.get("page", "")
    for key, known in (("page", LESSONS), ("model", models()), ("question", questions)):
        if (value := given.get(key, "")) not in known and (value or key == "page"):
            raise refused(key, f"there is no {key} {value!r}. There are: {', '.join(known) or 'none'}.")
    if (part := given.get("part", "")) and addressed(part) not in labels_of(page):
        raise refused("part", f"the page {page!r} has no part {part!r}. It has: {', '.join(labels_of(page))}.")
    controls = tuple(
        (str(key), tuple(map(str, value)) if isinstance(value, list) else str(value))
        for key, value in given.get("controls", {}).items()
    )
    return LessonStep(**{**given, "part": addressed(part), "controls": controls})


def _fault(name: str, line: int, reason: str) -> FileError:
    return FileError(f"{name}, line {line}: {reason}")


def _line(text: str, table: str, number: int, key: str = "") -> int:
    """The line of a key in the so-manyth table of its kind."""
    heads = [at for at, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*\[\[\s*{table}\s*\]\]", line)]
    if number >= len(heads):
        return 1
    after = text.splitlines()[heads[number] :]
    return next(
        (heads[number] + at for at, line in enumerate(after, 1) if key and re.match(rf"\s*{key}\b", line)), heads[number]
    )


def _line_of(text: str, key: str) -> int:
    return next((at for at, line in enumerate(text.splitlines(), 1) if re.match(rf"\s*\[*{re.escape(key)}\b", line)), 1)


def written_step(page: str, query: Mapping[str, Sequence[str]], said: Mapping[str, str] | None = None) -> str:
    """A page as it is now, as a step to put into a lesson; `said` are the teacher's texts to it: do, ask, note, the name of a question.

    >>> print(written_step("heads", {"part": "all-layers", "text": "A dog."}))
    [[step]]
    page = "heads"
    part = "all-layers"
    text = "A dog."
    """
    model, text = BOXES.get(page, ("model", "text"))
    names = {"part": "part", model: "model", text: "text"}
    own = {names[key]: value[-1] if isinstance(value, list) else value for key, value in query.items() if key in names and key}
    controls = {key: value for key, value in query.items() if key not in names}
    texts = own | {key: value for key, value in (said or {}).items() if value.strip()}
    lines = ["[[step]]", f"page = {_toml(page)}", *(f"{key} = {_toml(value)}" for key, value in texts.items())]
    inner = ", ".join(f"{_toml(key)} = {_toml(value)}" for key, value in controls.items())
    return "\n".join([*lines, *([f"controls = {{ {inner} }}"] if inner else [])])


def written_title(title: str) -> str:
    """The first line of a lesson."""
    return f"title = {_toml(title)}"


def written_question(name: str, question: Exercise) -> str:
    """A teacher's own question, as a lesson holds it."""
    fields = {"name": name, "question": question.question, "options": list(question.options), "answer": str(question.answer)}
    return "\n".join(["[[question]]", *(f"{key} = {_toml(value)}" for key, value in fields.items())])


def _toml(value: object) -> str:
    """A text, or a list of texts, as TOML writes it."""
    if not isinstance(value, str):
        every = list(value) if isinstance(value, list | tuple) else [str(value)]
        return _toml(every[0]) if len(every) == 1 else f"[{', '.join(map(_toml, every))}]"
    marks = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return (
        '"'
        + "".join(
            marks.get(letter, letter if letter >= " " and letter != "\x7f" else f"\\u{ord(letter):04x}") for letter in value
        )
        + '"'
    )
