"""Lesson 6. Three families: one block, three masks; what a mask does to trained weights, and what training without it does."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.lessons import families as lesson
from explorer.pages.parts import families as parts
from explorer.pages.parts.elmo import trained
from explorer.pages.parts.opening import SENTENCE, attentive, one_of, opened, read, warn_of_unseen
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS

st.title("Three families")
st.markdown(
    "An encoder, a decoder and an encoder–decoder are built of the same blocks. They differ in who may see whom, in whether a second text "
    "is looked at, and therefore in what can be asked of them."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    name = one_of("Model", [held for held in attentive() if held not in parts.SILENT], "model", "gpt2")
    text = st.text_input("Your sentence", SENTENCE, key="text", bind="query-params")
start, family = parts.start(name, text), opened(name).family

st.header("The same weights under other masks", divider="blue")
known = read(partial(parts.under, name, text))
warn_of_unseen(known.traces["its own"].source)
more = parts.said(name, text)


def show_masks() -> None:
    """The mask, what is looked at, and the loss: on this text, then on new stories."""
    web.show(VIEWS["under-masks"], known, code=parts.code(start, "masks", "under_masks", more))
    if family != "encoder-decoder":
        web.show(VIEWS["held-masks"], parts.held(name), code=parts.HELD.format(start=start))


if family == "encoder-decoder":
    st.caption(
        "Here the mask of the decoder changes, while it reads its own answer. Choose gpt2 or bert to be asked about new stories."
    )
    show_masks()
else:
    predict(lesson.mask_question(parts.held(name)), "guess.mask", show_masks)

st.header("Trained without the mask: words see themselves", divider="blue")
parts.unmasked()

st.header("What it is built of", divider="blue")
built = read(partial(parts.built, name, text))
show = partial(
    web.show, VIEWS["blueprint"], built, code=parts.code(start, "blueprint", "blueprint", more), beside=partial(parts.block, built),
    click=partial(parts.clicked, built),
)  # fmt: skip
predict(lesson.keeping_question(built), "guess.keeping", show)

st.header("The input as a sum", divider="blue")
with st.container(horizontal=True):
    st.latex(r"h_0 = U W_e + W_p", width=170)
    st.latex(r"h_i = \mathrm{block}(h_{i-1}),\quad i = 1,\dots,L", width=270)
    st.latex(r"p = \mathrm{softmax}(h_L W_e^\top)", width=200)
st.markdown(parts.shapes(name, text))
trace = read(partial(parts.traced, name, text))
code = f"{start}trace = ex.trace(model, text{more}, blocks=True)"
web.show(VIEWS["input-sum"], trace, code=code)

st.header("The residual stream", divider="blue")
inside = {"Block by block": "residual-stream", "A norm by hand": "norm-by-hand", "A lens on every layer": "lens"}


@st.fragment
def stream() -> None:
    """The residual stream in one of three pictures."""
    shown = st.segmented_control(
        "Picture", tuple(inside), default="Block by block", required=True, key="inside", bind="query-params"
    )
    if inside[shown] == "lens":
        web.show(VIEWS["lens"], read(partial(parts.lens, name, text)), code=f"{start}trace = ex.lens(model, text{more})")
    else:
        web.show(VIEWS[inside[shown]], trace, code=code)


stream()

st.header("Who can see whom", divider="blue")
if not trained():
    st.caption(
        "There is no trained ELMo on the shelf yet; the one drawn here has random weights. Whom it can see does not depend on them."
    )
web.show(VIEWS["sightlines"], read(partial(parts.seen, text)), code=parts.SEEN.format(text=text))

st.header("Encoder once, decoder step by step", divider="blue")
st.markdown(read(partial(parts.once, text)))
watch = f"from explorer.generating.watching import watch\ntrace = watch(ex.load('transformer'), {text!r}, max_tokens={parts.ANSWER})"
web.show(VIEWS["growing"], parts.watched(text), code=f"import explorer as ex\n{watch}")

st.header("One wrong word", divider="blue")
st.markdown(
    "In training the decoder reads the right text, shifted one place to the right, whatever it would have said: **teacher forcing**. "
    "When it writes, it reads its own words."
)


@st.fragment
def exposed() -> None:
    """Where one wrong word leads a decoder."""
    wrote = st.segmented_control(
        "Who writes", tuple(parts.EXPOSED), default="gpt2", required=True, key="writer", bind="query-params"
    )
    predict(lesson.exposure_question(parts.exposed(wrote)), f"guess.{wrote}", partial(parts.show_exposed, wrote))


exposed()

st.header("Cost by length", divider="blue")


@st.fragment
def cost() -> None:
    """What a text costs in each family, by its length."""
    size = st.segmented_control(
        "Size", (parts.HERE, *parts.PUBLISHED), default=parts.HERE, required=True, key="size", bind="query-params"
    )
    what = st.segmented_control("Cost", tuple(parts.COSTS), default="by length", required=True, key="cost", bind="query-params")
    maker = parts.COSTS[what]
    web.show(VIEWS["curves"], parts.costs(name, size, maker), code=parts.priced(name, size, maker), key=maker)


cost()

exercises(lesson.exercises(known, built, trace, parts.half(name)), "families.exercise")
deck(lesson.DECK, lesson.NOTATION)
