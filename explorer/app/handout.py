"""A hand-out of a lesson: one HTML file, a printed page for each step, and the answers on the last one."""

from __future__ import annotations

from html import escape

from explorer.app.lesson_plan import LessonPlan, LessonStep, labels_of
from explorer.app.lessons import LESSONS

STYLE = """
body { font: 18px/1.5 "Source Sans", "Segoe UI", Helvetica, Arial, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #888; padding: 1rem 0; } .lines { height: 9rem; border: 1px dashed #888; }
@media print { section { break-after: page; border: 0; } .lines { height: 14cm; } }
"""


def page_of(plan: LessonPlan, server: str = "") -> str:
    """The hand-out of a lesson; with the address of a server each step has its link."""
    steps = "".join(_section(step, number, server) for number, step in enumerate(plan.steps, 1))
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>{escape(plan.title)}</title><style>{STYLE}</style>"
        f"<h1>{escape(plan.title)}</h1>{steps}<section><h2>What may be concluded</h2>{_last(plan)}</section></html>"
    )


def _section(step: LessonStep, number: int, server: str) -> str:
    where = LESSONS[step.page].title + (f": {label}" if (label := labels_of(step.page).get(step.part, "")) else "")
    link = f"<p><a href='{escape(server + step.address)}'>{escape(server + step.address)}</a></p>" if server else ""
    text = f"<p>Text: <i>{escape(step.text)}</i></p>" if step.text else ""
    question = f"<p><b>{escape(_sentence(step.ask))}</b></p><div class='lines'></div>" if step.ask else ""
    return f"<section><h2>{number}. {escape(where)}</h2><p>{escape(_sentence(step.do))}</p>{text}{link}{question}</section>"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:].replace("*", "")


def _last(plan: LessonPlan) -> str:
    """What may be concluded, what may not, and the answers to the teacher's own questions."""
    answers = "".join(
        f"<li>{escape(question.question)} <b>{escape(question.shown)}</b> {escape(question.why)}</li>"
        for question in (plan.questions or {}).values()
    )
    return f"<p>{escape(_sentence(plan.concluded))}</p><p>Not: {escape(plan.not_concluded)}</p><ol>{answers}</ol>"
