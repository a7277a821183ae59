"""Questions for the whole class: the guesses of the lessons, with answers from recorded numbers and shipped models."""

from __future__ import annotations

from collections.abc import Callable

import explorer as ex
from explorer.app import hosted, recorded
from explorer.app.call import Call
from explorer.app.controls import model_of, result_of
from explorer.app.lessons import SENTENCE
from explorer.app.lessons.attention import questions as attention
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.families import parts as families
from explorer.app.lessons.families import questions as family_questions
from explorer.app.lessons.heads import questions as heads
from explorer.app.lessons.positions import questions as positions
from explorer.app.lessons.start import parts as hall
from explorer.app.lessons.start import questions as start
from explorer.app.own_questions import exercise_of
from explorer.errors import ExplorerError
from explorer.records import Exercise

FIRST: dict[str, Callable[[], Exercise | None]] = {
    "moved": lambda: start.moved_question(
        result_of([hall.moved(name, start.TEXT, hall.choices(start.TEXT)[start.WORD], (start.OTHER,)) for name in hall.names()])
    ),
    "scale": lambda: attention.scale_question(result_of(Call(ex.analysis.saturation))),
    "heads": lambda: heads.pointing_question(result_of(Call(ex.trace, model_of("bert"), SENTENCE))),
    "order": lambda: positions.blind_question(result_of(Call(ex.shuffle, model_of("bert"), SENTENCE, seed=1))),
    "mask": lambda: family_questions.mask_question(result_of(families.held_out_losses("gpt2"))),
    "planted": lambda: corruption.planted_question(result_of(recorded.call("planted"))),
}


def questions() -> dict[str, Exercise]:
    """The teacher's own questions, then those whose models and records are there, by name."""
    classroom = hosted.room()
    own = classroom.question if classroom is not None else ()
    exercises: dict[str, Exercise] = {f"own.{number}": exercise_of(given) for number, given in enumerate(own, 1)}
    for name, make in FIRST.items():
        try:
            exercise = make()
        except ExplorerError:  # a model or a record that was not shipped here
            continue
        if exercise is not None and exercise.options:
            exercises[name] = exercise
    return exercises
