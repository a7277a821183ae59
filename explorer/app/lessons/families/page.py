"""Lesson 6. Three families: one block, three masks; what a mask does to trained weights, and what training without it does."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.app import board, web
from explorer.app.controls import SENTENCE, attentive, made, one_of, opened, read, warn_of_unseen
from explorer.app.exercises import deck, exercises, predict
from explorer.app.lessons.elmo.parts import trained
from explorer.app.lessons.families import parts
from explorer.app.lessons.families import questions as lesson
from explorer.views import VIEWS

st.title("Three families")
st.markdown(
    "An encoder, a decoder and an encoder–decoder are built of the same blocks. They differ in their attention masks, in whether there "
    "is cross-attention to a second text, and therefore in their training objectives."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    name = one_of("Model", [held for held in attentive() if held not in parts.SILENT], "model", "gpt2")
    text = st.text_input("Your sentence", SENTENCE, key="text", bind="query-params")
family = opened(name).family

st.header("The same weights under other masks", divider="blue")
known = read(parts.under(name, text))
warn_of_unseen(known.traces["its own"].source)


def show_masks() -> None:
    """The mask, the attention weights and the loss: on this text, then on new stories."""
    stream = "encoder" if family == "encoder" else "decoder"
    st.markdown(
        "**T** moves to the next mask, or drag the moment below the board: watch the weights, and who takes part in a sum."
    )
    board.series(parts.masks(name, text), key="masks.board", first={"stream": stream, "layer": 0, "station": "softmax"})
    web.show(VIEWS["under-masks"], parts.under(name, text))
    if family != "encoder-decoder":
        web.show(VIEWS["held-masks"], parts.held(name))


if family == "encoder-decoder":
    st.caption(
        "Here the mask of the decoder changes, while it reads its own output. Choose gpt2 or bert to predict the loss on new stories."
    )
    show_masks()
else:
    predict(lesson.mask_question(made(parts.held(name))), "guess.mask", show_masks)

st.header("Trained without the mask: words see themselves", divider="blue")
parts.unmasked()

st.header("What it is built of", divider="blue")
built = read(parts.built(name, text))
show = partial(
    web.show, VIEWS["blueprint"], parts.built(name, text), beside=partial(parts.block, built),
    click=partial(parts.clicked, built),
)  # fmt: skip
predict(lesson.keeping_question(built), "guess.keeping", show)

st.header("The input as a sum", divider="blue")
with st.container(horizontal=True):
    st.latex(r"h_0 = U W_e + W_p", width=170)
    st.latex(r"h_i = \mathrm{block}(h_{i-1}),\quad i = 1,\dots,L", width=270)
    st.latex(r"p = \mathrm{softmax}(h_L W_e^\top)", width=200)
st.markdown(parts.shapes(name, text))
trace = read(parts.traced(name, text))
web.show(VIEWS["input-sum"], parts.traced(name, text))

st.header("The residual stream", divider="blue")
inside = {"Block by block": "board", "A norm by hand": "norm-by-hand", "A lens on every layer": "lens"}


@st.fragment
def stream() -> None:
    """The residual stream in one of three pictures."""
    shown = st.segmented_control(
        "Picture", tuple(inside), default="Block by block", required=True, key="inside", bind="query-params"
    )
    if inside[shown] == "lens":
        read(parts.lens(name, text))
        web.show(VIEWS["lens"], parts.lens(name, text))
    elif inside[shown] == "board":
        begin = {"stream": trace.attention[0].stream, "layer": 0, "head": 0, "station": "add1"}
        board.show(parts.traced(name, text), key="families.board", first=begin)
    else:
        web.show(VIEWS[inside[shown]], parts.traced(name, text))


stream()

st.header("Who can see whom", divider="blue")
if not trained():
    st.caption(
        "There is no trained ELMo yet; the one shown here has random weights. Which tokens it can see does not depend on them."
    )
read(parts.seen(text))
web.show(VIEWS["sightlines"], parts.seen(text))

st.header("Encoder once, decoder step by step", divider="blue")
st.markdown(read(partial(parts.once, text)))
written = parts.watched(text).attr("steps")
board.show(
    parts.translated(text),
    key="writing.board",
    first={"stream": "decoder", "layer": 0, "head": 0, "station": "softmax"},
    steps=written,
)

st.header("One wrong word", divider="blue")
st.markdown(
    "In training the decoder reads the gold text, shifted one position to the right, whatever it would have predicted: **teacher "
    "forcing**. When it generates, it reads its own output."
)


@st.fragment
def exposed() -> None:
    """What one wrong token does to a decoder."""
    wrote = st.segmented_control(
        "Decoder of", tuple(parts.EXPOSED), default="gpt2", required=True, key="writer", bind="query-params"
    )
    predict(lesson.exposure_question(made(parts.exposed(wrote))), f"guess.{wrote}", partial(parts.show_exposed, wrote))


exposed()

st.header("Cost by length", divider="blue")


@st.fragment
def cost() -> None:
    """What a layer costs, by the length of the text."""
    size = st.segmented_control(
        "Size", (parts.HERE, *parts.PUBLISHED), default=parts.HERE, required=True, key="size", bind="query-params"
    )
    what = st.segmented_control("Cost", tuple(parts.COSTS), default="by length", required=True, key="cost", bind="query-params")
    maker = parts.COSTS[what]
    web.show(VIEWS["curves"], parts.costs(name, size, maker), key=maker)


cost()

exercises(lesson.exercises(known, built, trace, parts.half(name)), "families.exercise")
deck(lesson.DECK, lesson.NOTATION)
