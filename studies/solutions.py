"""The questions of a lesson with their answers, as the very objects that its notebook asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from IPython.display import publish_display_data
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

import explorer
from explorer.records import Exercise

ASKED = "application/vnd.explorer.exercises+json"  # an output that nobody draws


def keep() -> None:
    """From now on `ex.ask` also leaves what it asks among the outputs of its cell, and what waits for an answer is shown."""
    ask = explorer.ask

    def kept(exercises: Exercise | Iterable[Exercise | None] | None, *, then: Callable[[], Any] | None = None) -> Any:
        items = [exercises] if exercises is None or isinstance(exercises, Exercise) else list(exercises)
        known = [item for item in items if item is not None]
        shown = [{"question": i.question, "options": i.options, "answer": i.shown, "why": i.why} for i in known]
        publish_display_data({ASKED: shown})
        widget = ask(items, then=then)
        widget.reveal()  # a page without a kernel cannot wait
        return widget

    explorer.ask = kept


def taken(notebook: NotebookNode) -> list[dict[str, Any]]:
    """The exercises that a run of a notebook left among its outputs; they are taken out of it."""
    exercises: list[dict[str, Any]] = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            exercises += output.get("data", {}).get(ASKED, ())
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if ASKED not in output.get("data", {})]
    return exercises


def cells(title: str, exercises: Sequence[dict[str, Any]]) -> list[NotebookNode]:
    """A lesson's questions and answers as cells of markdown."""
    return [
        new_markdown_cell(f"## {title}"),
        *(new_markdown_cell(_said(number, exercise)) for number, exercise in enumerate(exercises, 1)),
    ]


def _said(number: int, exercise: dict[str, Any]) -> str:
    options = "\n".join(
        f"- {'**' + option + '**' if option == exercise['answer'] else option}" for option in exercise["options"]
    )
    parts = (f"**{number}.** {exercise['question']}", options, f"→ **{exercise['answer']}**. {exercise['why']}")
    return "\n\n".join(part for part in parts if part)
