"""Lesson 3. Attention, step by step: from the vectors that enter a layer to the vectors that leave it."""

from functools import partial

import explorer as ex
from explorer.app import board, web
from explorer.app.call import Call
from explorer.app.controls import model_and_text, model_of, read, result_of
from explorer.app.frame import LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lectured import warn_of_lectured
from explorer.app.lessons.attention import learned_weights
from explorer.app.lessons.attention import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS

PROSE = prose("attention")

DRAWN = Call(ex.analysis.saturation)  # random queries and keys of eight widths
MEASURED = Call(ex.result, "scale")  # twelve training runs


def simple() -> None:
    """Attention without parameters, and the formula that parameters make of it."""
    say(PROSE("composed"))
    web.show(VIEWS["simple"], call)


def drawn() -> None:
    """What the width of the keys does to the softmax."""
    web.show(VIEWS["saturation"], DRAWN, question=(lesson.scale_question(result_of(DRAWN)), "guess.scale"))


def trained() -> None:
    """What it does to training runs."""
    say(PROSE("t5"))
    web.show(VIEWS["curves"], MEASURED, question=(lesson.training_question(result_of(MEASURED)), "guess.training"))


def learned() -> None:
    """One head's matrices before and after training."""
    say(PROSE("learned"))
    web.show(VIEWS["projections"], learned_weights.over_steps(learned_weights.followed(name)))


page = LessonPage(PROSE)
with page.bar:
    name, text = model_and_text()
call = Call(ex.trace, model_of(name), text, blocks=True)
record = read(call)
notice(text, name)
warn_of_lectured(text)

page.parts(
    PagePart("One layer, one operation at a time", partial(board.show, call, first=board.last_head(record)), "Walk"),
    PagePart("First, without parameters", simple, "Without parameters", more=True),
    PagePart("Both masks", partial(web.show, VIEWS["masks"], call)),
    PagePart("Why divide by √dₖ?", drawn, "Why √dₖ"),
    PagePart("Trained with and without √dₖ", trained, "Without √dₖ", more=True),
    *((PagePart("W_Q before and after training", learned, "Learned", more=True),) if learned_weights.followed(name) else ()),
    asking(lambda: lesson.exercises(record), "attention.exercise", PROSE),
)
