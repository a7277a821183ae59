"""Questions in JupyterLab: exercises with hints and a score, and predictions whose picture waits for an answer."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ipywidgets as widgets
from IPython.display import display
from IPython.utils.capture import capture_output

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.records import Exercise
from explorer.records.answering import Feedback, Tries, feedback, score, verdict, wanted_form
from explorer.views.export import prose
from explorer.views.lab import Below, display_with_text

LOOK = "Try again, or press *Show me*."
AHEAD = "**◇ Predict, then reveal.** "
LEFT_OUT = "*A question about words that this text does not have, or about a part that this model does not have, is left out.*"
PREDICTION = "explorer-prediction"  # the class of a question that something waits for
MARKS = {"right": "✓ ", "wrong": "✗ "}


class Asked(widgets.VBox):
    """One question on the screen of a notebook: a field for the answer, and what is said to it.

    `right` is whether it was answered, `closed` whether its answer is known: a prediction has one try.
    """

    def __init__(self, item: Exercise, *, ahead: bool, number: str = "") -> None:
        self.item, self.ahead, self.tries, self.said = item, ahead, Tries(), Feedback()
        self.changed: Callable[[], None] = lambda: None
        if item.options:
            self.answer = widgets.RadioButtons(options=list(item.options), value=None, layout={"width": "auto"})
        else:
            self.answer = widgets.Text(placeholder=f"{wanted_form(item)}, then Enter", continuous_update=False)
        self.answer.observe(self._judge, names="value")
        self.show_me = widgets.Button(description="Show me", layout={"width": "auto"})
        self.show_me.on_click(self._give_up)
        self.verdict = widgets.HTMLMath()
        field = widgets.HBox([self.answer, *([] if ahead else [self.show_me])], layout={"align_items": "flex-end"})
        super().__init__([widgets.HTMLMath(prose(f"{AHEAD if ahead else number}{item.question}")), field, self.verdict])
        if ahead:
            self.add_class(PREDICTION)

    @property
    def right(self) -> bool:
        """Whether the answer is right, and was not shown before."""
        return self.said.kind == "right"

    @property
    def closed(self) -> bool:
        """Whether what the question is about may be shown."""
        return self.said.kind in ("right", "shown")

    def as_text(self, *, alone: bool) -> str:
        """The answer that was given and what was said to it, below its question; one that is `alone` is not repeated."""
        asked = "" if alone else f"{self.item.question}\n\n"
        return f"{asked}*Your answer: {self.answer.value or 'shown'}.* {MARKS.get(self.said.kind, '')}{self.said.text}"

    def _give_up(self, button: object) -> None:
        self.tries = self.tries.show(self.item)
        self._judge(button)

    def _judge(self, change: object) -> None:
        given = self.answer.value or ""
        if self.ahead:
            self.said = verdict(self.item, given) if given else Feedback()
        else:
            self.tries = self.tries.after(self.item, given)
            self.said = feedback(self.item, self.tries, given, LOOK)
        self.verdict.value = prose(MARKS.get(self.said.kind, "") + self.said.text) if self.said.text else ""
        self.changed()


class QuestionBox(widgets.VBox):
    """The questions of a cell, with the score of exercises, and what waits for their answers."""

    def __init__(self, items: Sequence[Exercise], reveal: Callable[[], Any] | None, *, left_out: bool = False) -> None:
        ahead = reveal is not None
        numbers = [f"**{n}.** " if len(items) > 1 else "" for n in range(1, len(items) + 1)]
        self.asked = [Asked(item, ahead=ahead, number=number) for item, number in zip(items, numbers, strict=True)]
        self.score, self.waiting, self.opened = widgets.HTML(), list[_Waiting](), False
        self.answers = Below()
        for question in self.asked:
            question.changed = self._changed
        below = [self.score] if reveal is None else [self.then(reveal)]
        note = [widgets.HTML(prose(LEFT_OUT))] if left_out else []
        super().__init__([*self.asked, *note, *below, self.answers])
        self._changed()

    def then(self, reveal: Callable[[], Any]) -> widgets.VBox:
        """What `reveal` shows, for another cell: it waits there until every question has its answer."""
        self.waiting.append(waiting := _Waiting(reveal))
        self._changed()
        return waiting

    def reveal(self) -> None:
        """Show what waits without an answer: a page without a kernel cannot wait."""
        self.opened = True
        self._changed()

    def _ipython_display_(self) -> None:
        """The questions; a saved notebook holds their text, and the answers that were given."""
        text = "".join(prose(question.item.question) for question in self.asked)
        title = "\n".join(question.item.question for question in self.asked)
        display_with_text(self, title=title, text=text, stills=(self.answers,))
        self._keep_answers()

    def _keep_answers(self) -> None:
        """Put what was answered, and what was said to it, into the notebook: a reader without widgets sees it."""
        answered = [entry.as_text(alone=len(self.asked) == 1) for entry in self.asked if entry.said.kind]
        if answered:
            html = "".join(map(prose, answered)) + (self.score.value if self.score in self.children else "")
            self.answers.keep({"text/html": html, "text/plain": "\n".join(answered)})

    def _changed(self) -> None:
        if any(entry.said.kind for entry in self.asked):
            self.score.value = prose(score(sum(entry.right for entry in self.asked), len(self.asked)))
            self._keep_answers()
        if self.opened or all(entry.closed for entry in self.asked):
            for entry in self.waiting:
                entry.appear()


class _Waiting(widgets.VBox):
    """What is shown once, when the time has come."""

    def __init__(self, reveal: Callable[[], Any]) -> None:
        self.reveal: Callable[[], Any] | None = reveal
        super().__init__([widgets.HTML(f"<p><em>{self}</em></p>")])

    def __repr__(self) -> str:
        return "It is shown when you have answered."  # what a page without widgets says in its place

    def appear(self) -> None:
        """Call it, and put what it prints, displays and returns here; an error too, which nobody would see otherwise."""
        if self.reveal is None:
            return
        reveal, self.reveal = self.reveal, None
        failed: list[dict[str, Any]] = []
        with capture_output() as captured:
            try:
                value = reveal()
                if value is not None:
                    display(value)
            except Exception as error:  # the student's own mistake is theirs to read
                failed.append(_traced(error))
        outputs: list[dict[str, Any]] = [
            {"output_type": "stream", "name": name, "text": text}
            for name, text in (("stdout", captured.stdout), ("stderr", captured.stderr))
            if text
        ]
        outputs += [
            {"output_type": "display_data", "data": output.data or {}, "metadata": output.metadata or {}}
            for output in captured.outputs
        ]
        self.children = (widgets.Output(outputs=(*outputs, *failed)),)


def _traced(error: Exception) -> dict[str, Any]:
    lines = traceback.format_exception(error)
    return {"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": lines}


@checked
def ask(exercises: Exercise | Iterable[Exercise | None] | None, *, then: Callable[[], Any] | None = None) -> QuestionBox:
    """Exercises whose answers are checked against the numbers of the lesson: with hints, *Show me*, and a score.

    With `then` they are predictions with one try: what it shows, prints or returns waits until each has an answer, also under
    *Run All*. `.then(…)` of the result does the same for another cell. None is a question that a lesson cannot ask about this text
    or model: it is left out, which a sentence says.

    >>> drawn = ex.analysis.saturation()
    >>> guess = ex.ask(ex.lesson("attention").scale_question(drawn), then=lambda: ex.show("saturation", drawn))
    >>> guess.asked[0].closed
    False
    """
    items: list[Any]
    try:
        items = [exercises] if exercises is None or isinstance(exercises, Exercise) else list(exercises)
    except TypeError:  # an array without a dimension says that it has items, and has none
        items = [exercises]
    wrong = next((item for item in items if item is not None and not isinstance(item, Exercise)), None)
    if wrong is not None or not items:
        raise ChoiceError(
            f"ask takes exercises, which a lesson makes; this is {type(wrong).__name__ if items else 'an empty list'}."
        )
    known = [item for item in items if item is not None]
    return QuestionBox(known, then, left_out=len(known) < len(items))
