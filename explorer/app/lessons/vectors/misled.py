"""Lesson 2, sentences for which shared words mislead: what every way makes of them, after a guess."""

from __future__ import annotations

from explorer.app import guessing, recorded, web
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.lessons.vectors import misled_questions as lesson
from explorer.app.prose import prose
from explorer.views import VIEWS

NAME = "misled"


def show_misled() -> None:
    """The question, the bars, and what they say."""
    say(prose("vectors")("misled"))
    call = recorded.call(NAME)

    def below() -> None:
        guessing.conclusion("guess.misled", lesson.misled_conclusion(result_of(call)))
        recorded.again(NAME, "misled")

    web.show(VIEWS["sentence-traps"], call, question=(lesson.plain_question(result_of(call)), "guess.misled"), below=below)
