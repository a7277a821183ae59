"""Lesson 6. Three families: one block, three masks; what a mask does to trained weights, and what training without it does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from explorer.app import board, hold, web
from explorer.app.controls import attentive, chosen_model, opened, read, result_of, sentence
from explorer.app.frame import MODEL, NOTHING, TEXT, LessonPage, PagePart, asking
from explorer.app.glossary import lead, say
from explorer.app.lectured import warn_of_lectured
from explorer.app.lessons.families import parts, published
from explorer.app.lessons.families import questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.records import Exercise
from explorer.views import VIEWS

PROSE = prose("families")

INSIDE = {"Part by part": "board", "A norm by hand": "norm-by-hand", "A lens on every layer": "lens"}


def show_masks(question: tuple[Exercise, str] | None) -> None:
    """The mask, the attention weights and the loss: on this text, on new stories, or on the board."""
    shown = partial(web.show, question=question)
    ways: dict[str, Callable[[], object]] = {
        "This text": partial(shown, VIEWS["under-masks"], parts.under(name, text), steps="mask")
    }
    if family != "encoder-decoder":
        ways["New stories"] = partial(shown, VIEWS["held-masks"], parts.held_out_losses(name))
    web.one_of("Look at", ways | {"The board": mask_after_mask}, "masks.shows")


def mask_after_mask() -> None:
    """One board that goes from mask to mask."""
    side = "encoder" if family == "encoder" else "decoder"
    say("Press **T** for the next mask, or drag the slider below the board. Watch the weights, and which tokens enter a sum.")
    board.series(parts.masks(name, text), key="masks.board", first={"stream": side, "layer": 0, "station": "softmax"})


def masks() -> None:
    """The same weights under another mask, after a guess."""
    read(parts.under(name, text))
    if family == "encoder-decoder":
        st.caption(
            "Here the mask of the decoder changes, while it reads its own output. Choose gpt2 or bert to predict the loss on new stories."
        )
        show_masks(None)
    else:
        show_masks((lesson.mask_question(result_of(parts.held_out_losses(name))), "guess.mask"))


def blocks() -> None:
    """The blueprint, and the block that is chosen."""
    built = read(parts.built(name, text))
    question = lesson.doubling_question(built)
    web.show(
        VIEWS["blueprint"], parts.built(name, text), beside=partial(parts.block, built), click=partial(parts.clicked, built),
        question=(question, "guess.doubling") if question else None,
    )  # fmt: skip


def summed() -> None:
    """The input of the first layer as a sum."""
    say(read(partial(parts.shapes, name, text)))
    with st.container(horizontal=True):
        for formula in (
            r"h_0 = U W_e + W_p",
            r"h_i = \mathrm{block}(h_{i-1}),\quad i = 1,\dots,L",
            r"p = \mathrm{softmax}(h_L W_e^\top)",
        ):
            st.latex(formula, width="content")
    read(parts.traced(name, text))
    web.show(VIEWS["input-sum"], parts.traced(name, text))


@st.fragment
def stream() -> None:
    """The residual stream in one of three pictures."""
    say_rest = lead(PROSE("stream"))
    read(parts.traced(name, text))
    shown = st.segmented_control(
        "Picture", tuple(INSIDE), default="Part by part", required=True, key="inside", bind="query-params"
    )
    if INSIDE[shown] == "lens":
        if family == "encoder":
            say(prose("heads")("visible"))
        read(parts.lens(name, text))
        web.show(VIEWS["lens"], parts.lens(name, text))
    elif INSIDE[shown] == "board":
        first = result_of(parts.traced(name, text)).attention[0].stream
        begin = {"stream": first, "layer": 0, "head": 0, "station": "add1"}
        board.show(parts.traced(name, text), key="families.board", first=begin)
    else:
        web.show(VIEWS[INSIDE[shown]], parts.traced(name, text))
    say_rest()


def sightlines() -> None:
    """Who can see whom in each family."""
    read(parts.seen(text))
    web.beside(VIEWS["sightlines"], [(record,) for record in parts.seen(text)])


def growing() -> None:
    """The encoder once, the decoder step by step."""
    say_rest = lead(read(partial(parts.once, text)))
    web.show(VIEWS["growing"], parts.watched(text), first=("step",))
    board.show(parts.translated(text), key="writing.board", first=parts.source_first(), steps=parts.watched(text).attr("steps"))
    say_rest()


page = LessonPage(PROSE, parts.about())
with page.bar, st.container(horizontal=True, vertical_alignment="bottom"):
    name = chosen_model([stored for stored in attentive() if stored not in parts.SILENT], first="gpt2")
    text = sentence()
family = opened(name).family
with page.bar:
    hold.bar(text, read(lambda: opened(name).tokens(text)))
notice(text, name)
warn_of_lectured(text)

page.parts(
    PagePart("What it is built of", blocks, "Blueprint"),
    PagePart("The same weights under other masks", masks, "Masks"),
    PagePart("Trained without the mask: words see themselves", parts.unmasked, "Unmasked", more=True),
    PagePart("The input as a sum", summed, "Input", more=True),
    PagePart("The residual stream", stream, "Residual stream"),
    PagePart("Who can see whom", sightlines, "Sightlines", more=True),
    PagePart("Encoder once, decoder step by step", growing, "Cross-attention", reads=TEXT),
    PagePart("One wrong word", parts.exposed_section, "One wrong word", more=True),
    PagePart("Cost by length", partial(parts.cost_section, name), "Cost", more=True, reads=MODEL),
    PagePart("Count the parameters", published.counter, "Published sizes", more=True),
    PagePart("RNN or Transformer?", published.recurrent, "RNN", more=True, reads=NOTHING),
    asking(partial(parts.family_exercises, name, text), "families.exercise", PROSE),
)
