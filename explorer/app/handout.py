"""A hand-out of a lesson: one HTML file, a printed page for each step with its questions, and the answers after the last one."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from explorer.app.homework.collecting import HomeworkStep
from explorer.app.lesson_plan import LessonPlan
from explorer.app.markup import marked_up
from explorer.records import Exercise
from explorer.records.answering import wanted_form

STYLE = """
body { font: 18px/1.5 "Source Sans", "Segoe UI", Helvetica, Arial, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #888; padding: 1rem 0; } .lines { height: 9rem; border: 1px dashed #888; }
ul { list-style: "☐ "; } ul li { padding-left: 0.3em; } h1, h2 { margin: 0; } p, ul { margin: 0.6rem 0; }
@media print {
  body { font-size: 12pt; margin: 0 auto; }
  section { break-after: page; border: 0; } section:not(:last-child) { display: flex; flex-direction: column; min-height: 21cm; }
  .lines { flex: 1; min-height: 3cm; } li { break-inside: avoid; }
}
"""


def page_of(plan: LessonPlan, steps: Sequence[HomeworkStep]) -> str:
    """The hand-out of a lesson, whose steps were opened to hear what their pages ask."""
    sections = "".join(_section(each, number) for number, each in enumerate(steps, 1))
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(plan.title)}</title><style>{STYLE}</style>"
        f"<h1>{escape(plan.title)}</h1>{sections}<section>{_last(plan, steps)}</section></html>"
    )


def _section(each: HomeworkStep, number: int) -> str:
    """A step: what is done there, what is asked, and room to write."""
    step = each.step
    lines = (
        _sentence(step.do),
        step.text and f"Text: <i>{escape(step.text)}</i>",
        step.ask and f"<b>{_sentence(step.ask)}</b>",
    )
    said = "".join(f"<p>{line}</p>" for line in lines if line)
    asked = "".join(map(_question, (*each.guesses, *each.exercises)))
    return f"<section><h2>{number}. {escape(each.title)}</h2>{said}{asked}<div class='lines'></div></section>"


def _question(question: Exercise) -> str:
    """A question of a page, with its choices to tick, or the form of its number."""
    ticks = "".join(f"<li>{marked_up(option)}</li>" for option in question.options)
    answer = f"<ul>{ticks}</ul>" if ticks else f"<p>__________ ({escape(wanted_form(question))})</p>"
    return f"<p>{marked_up(question.question)}</p>{answer}"


def _sentence(words: str) -> str:
    return marked_up(words[:1].upper() + words[1:])


def _last(plan: LessonPlan, steps: Sequence[HomeworkStep]) -> str:
    """What may be concluded, what may not, and all answers by their steps."""
    concluded = f"<p>{_sentence(plan.concluded)}</p>" if plan.concluded else ""
    concluded += f"<p>Not: {marked_up(plan.not_concluded)}</p>" if plan.not_concluded else ""
    answers = "".join(
        f"<li value='{number}'>{marked_up(question.question)} <b>{marked_up(question.shown)}</b>. {marked_up(question.why)}</li>"
        for number, each in enumerate(steps, 1)
        for question in (*each.guesses, *each.exercises)
    )
    return (f"<h2>What may be concluded</h2>{concluded}" if concluded else "") + f"<h2>Answers</h2><ol>{answers}</ol>"
