"""Trainings without residual connections, norms or feed-forward layers, after a guess."""

from __future__ import annotations

from explorer.app import recorded
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.lessons.training import left_out_questions as lesson
from explorer.app.prose import prose

NAME = "left-out"


def show_left_out() -> None:
    """What is left out, and what becomes of the loss."""
    say(prose("training")("left out"))
    call = recorded.call(NAME)
    recorded.guessed(
        lesson.costliest_question(result_of(call)), "guess.left_out", {NAME: lesson.left_out_conclusion(result_of(call))}
    )
