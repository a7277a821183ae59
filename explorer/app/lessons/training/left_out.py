"""Trainings without residual connections, norms or feed-forward layers, after a guess."""

from __future__ import annotations

from explorer.app import recorded
from explorer.app.controls import made
from explorer.app.glossary import say
from explorer.app.lessons.training import left_out_questions as lesson

NAME = "left-out"


def there() -> bool:
    """Whether it was measured."""
    return recorded.there(NAME)


def section() -> None:
    """What is left out, and what becomes of the loss."""
    say(lesson.SAYS)
    call = recorded.call(NAME)
    recorded.guessed(lesson.costliest_question(made(call)), "guess.left_out", {NAME: lesson.said(made(call))})
