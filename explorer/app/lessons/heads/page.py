"""Lesson 5. Heads and layers: one head stage by stage, all at a glance, combined, over many texts, and other measures."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import board, web
from explorer.app.call import Call
from explorer.app.controls import model_and_text, model_of, opened, read, result_of, target_of
from explorer.app.frame import MODEL, LessonPage, PagePart, asking
from explorer.app.glossary import say
from explorer.app.lectured import warn_of_lectured
from explorer.app.lessons.heads import behaviour, in_bertviz, many_texts, reasons
from explorer.app.lessons.heads import questions as lesson
from explorer.app.lessons.heads.all_heads import show_all
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.models.transformer import TransformerModel
from explorer.views import VIEWS

PROSE = prose("heads")

STEPS = 64  # on the line of integrated gradients


def asked_of(name: str, text: str, analysis: Callable[..., Any], **options: object) -> Call:
    """The lens, the gradients, what can be seen."""
    return Call(analysis, model_of(name), text, **target_of(opened(name), text), **options)


def formula() -> None:
    """The lecture's formula with the numbers of this model, and how far the board is from the model."""
    width = record.attention[0].q.shape[-1]
    st.latex(r"\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V")
    say(
        PROSE(
            "formula", width=width, record=record, note=" " + PROSE("one head supervised") if behaviour.supervised(name) else ""
        )
    )


def contributing() -> None:
    """How much a token contributes beside its weight, after a guess; of our own models, whose output matrices are known."""
    if not isinstance(opened(name), TransformerModel):
        st.info("The output matrix W_O is known for our own models only. Choose one that comes with the explorer.")
        return
    say(PROSE("contributing"))
    call = asked_of(name, text, ex.analysis.contributions)
    web.show(VIEWS["contributions"], call, question=(lesson.contribution_question(read(call)), "guess.contribution"))


def visible() -> None:
    """What the predictions of an encoder are worth where nothing is hidden."""
    if opened(name).family == "encoder" and board.mask_of(record) not in text:
        say(PROSE("visible"))


def lens() -> None:
    """What the model would predict after each layer."""
    visible()
    measure(ex.lens, text)


def gradients() -> None:
    """Which tokens move a prediction, whatever the weights say; and what each of them has read."""
    mask = board.mask_of(record) if opened(name).family == "encoder" else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        last = len(record.source if record.target is None else record.target) - 1
        if not 0 <= st.session_state.get("gradient.row", 0) <= last:
            del st.session_state["gradient.row"]  # of a longer text
        begin = min(lesson.asked_row(record, mask), last)
        row = int(st.number_input("Prediction at position", 0, last, begin, key="gradient.row", bind="query-params", width=270))
        token = st.text_input("Of which token (empty: the most probable)", key="gradient.token", bind="query-params", width=300)
        hide = bool(mask) and st.toggle(f"Hide it: {mask}", value=True, key="gradient.hide", bind="query-params")
    if mask and not hide:
        visible()
    read_now = board.replaced(text, record, row, mask) if hide else text
    measure(ex.gradient, read_now, row=row, steps=STEPS, **({"token": token} if token.strip() else {}))
    measure(ex.visibility, text)


def measure(analysis: Callable[..., Any], doing: str, **options: object) -> None:
    """A view of a text that does not ask the weights of attention."""
    call = asked_of(name, doing, analysis, **options)
    read(call)
    web.show(VIEWS[call.name], call)


def board_of_heads() -> None:
    """The board, at the weights."""
    first = {"stream": record.attention[0].stream, "layer": 0, "head": 0, "station": "softmax"}
    board.show(traced, key="heads.board", first=first)
    formula()


page = LessonPage(PROSE)
with page.bar:
    name, text = model_and_text()
traced = Call(ex.trace, model_of(name), text)
record = read(traced)
notice(text, name)
warn_of_lectured(text)

page.parts(
    PagePart("All heads of all layers", partial(show_all, name, text, traced), "All layers"),
    PagePart("Tired or wide?", partial(reasons.show_reasons, name), reads=MODEL),
    PagePart("Every head on the board", board_of_heads, "Board", more=True),
    PagePart("Heads combined", partial(web.show, VIEWS["together"], traced), "Combined", more=True),
    PagePart("Weight and contribution", contributing, "Contribution", more=True),
    PagePart("Patterns over many texts", partial(many_texts.show_many_texts, name), "Many texts", reads=MODEL),
    PagePart("Behaviour and heads", behaviour.show_behaviour, "Behaviour", more=True),
    PagePart("Heads that find a word", behaviour.search, "Searched", more=True),
    PagePart("Beyond attention: gradients", gradients, "Gradients", more=True),
    PagePart("Beyond attention: the logit lens", lens, "Lens"),
    PagePart("In BertViz", partial(in_bertviz.show_bertviz, traced), "BertViz", more=True),
    asking(
        lambda: lesson.exercises(record, result_of(many_texts.habits(name)), result_of(asked_of(name, text, ex.visibility))),
        "heads.exercise",
        PROSE,
    ),
)
