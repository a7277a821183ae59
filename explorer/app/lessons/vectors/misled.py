"""Lesson 2, sentences for which shared words mislead: what every way makes of them, after a guess."""

from __future__ import annotations

from explorer.app import recorded, web
from explorer.app.controls import result_of
from explorer.app.exercises import predict
from explorer.app.glossary import say
from explorer.app.lessons.vectors import misled_questions as lesson
from explorer.app.prose import prose
from explorer.views import VIEWS

NAME = "misled"


def has_misled() -> bool:
    """Whether it was measured."""
    return recorded.there(NAME)


def show_misled() -> None:
    """The question, the bars, and what they say."""
    say(prose("vectors")("misled"))
    call = recorded.call(NAME)

    def show() -> None:
        """Both kinds of questions."""
        web.show(VIEWS["sentence-traps"], call)
        say(lesson.misled_conclusion(result_of(call)))
        recorded.again(NAME, "misled")

    predict(lesson.plain_question(result_of(call)), "guess.misled", show)
