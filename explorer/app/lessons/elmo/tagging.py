"""A tagger with and without ELMo's vectors beside the word vectors, after a guess."""

from __future__ import annotations

from explorer.app import recorded
from explorer.app.controls import result_of
from explorer.app.glossary import lead
from explorer.app.lessons.elmo import tagging_questions as lesson
from explorer.app.prose import prose

NAME = "tagging"


def show_tagging() -> None:
    """What the taggers read, and how well they do by the number of labelled stories."""
    say_rest = lead(prose("elmo")("tagging"))
    measured = result_of(recorded.call(NAME))
    recorded.guessed(lesson.labels_question(measured), "guess.tagging", {NAME: lesson.tagging_conclusion(measured)})
    say_rest()
