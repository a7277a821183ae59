"""Lesson 12. Decoding: how a text is written once a model is trained, step by step."""

from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.controls import opened, read, usable
from explorer.app.exercises import deck, exercises, plain, predict
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as lesson
from explorer.app.lessons.decoding.beam_contest import section
from explorer.decoding import ORDERS
from explorer.views import VIEWS, theme

st.title("Decoding, step by step")
with st.container(horizontal=True):
    st.latex(r"\hat y = \arg\max_{y_1,\dots,y_L} \prod_{i=1}^{L} P_\theta(y_i \mid y_{<i})", width=380)
    st.latex(r"|V|^L \text{ texts}", width=160)
st.markdown(
    "A trained model gives the probability of each next token. Which text to write is decided by a *decoding strategy*. The lecture's "
    "arg max is over all texts, too many to try; every strategy below avoids that."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    name = st.segmented_control("Model", ["gpt", "gpt2"], default="gpt", required=True, key="writer", bind="query-params")
    text = st.text_input("The beginning", lesson.PROMPT, key="beginning", bind="query-params", width=620)
    pieces = st.slider("Tokens to write", 2, 40, 12, key="pieces", bind="query-params", width=220)
model = opened(name)
record = read(desk.distribution(name, text, ()))

st.header("P(y), token by token", divider="blue")
best = desk.written(name, text, "greedy", "greedy", max_tokens=pieces)
greedy = read(best)
st.markdown("**Greedy** takes the most probable token at each step: $|V|$ candidates a step instead of $|V|^L$ texts.")
web.show(VIEWS["chain"], best)

st.header("Which token comes next?", divider="blue")
st.markdown(
    "Move temperature and the cuts. **Click a bar** (or a name below it) to force this token and continue from there: you are the decoder."
)
said = read(lambda: desk.chosen_pieces("path"))
next_token = desk.distribution(name, text, said)
here = read(next_token)


def clicked(point: dict[str, Any]) -> None:
    """Continue with the token of the clicked bar."""
    desk.choose("path", (*said, int(here.ids[int(point["y"])])))


def bars() -> None:
    """The bars, and buttons to continue and go back."""
    web.show(VIEWS["next-piece"], next_token, key=str(len(said)), click=clicked)
    with st.container(horizontal=True):
        for rank in range(8):
            label = f"{plain(theme.plain(here.texts[rank]))} {here.shares[rank]:.0%}"
            st.button(label, key=f"force.{rank}", on_click=desk.choose, args=("path", (*said, int(here.ids[rank]))))
        st.button("Back", key="force.back", on_click=desk.choose, args=("path", said[:-1]), disabled=not said)
        st.button("From the start", key="force.none", on_click=desk.choose, args=("path", ()), disabled=not said)
    desk.computed(name, text, said)


if said:
    st.markdown(f"Your text: {plain(text)} **{plain(model.tokenizer.decode(said))}**")
    bars()
else:
    predict(lesson.next_question(here), f"guess.next.{name}.{text}", bars)

st.header("The tree of beam search", divider="blue")
st.markdown("**Click a node** to force the text that leads to it, and let the search branch from there.")
with st.container(horizontal=True):
    beams = st.slider("Beams", 1, 8, 4, key="beams", bind="query-params", width=200)
    split = [n for n in (1, 2, 4) if beams % n == 0]
    groups = st.segmented_control("Groups", split, default=1, required=True, key=f"groups of {beams}")
    penalty = st.select_slider(
        "Length penalty (power of n)", [0.0, 0.5, 1.0, 2.0], 1.0, key="penalty", bind="query-params", width=240
    )
    early = st.segmented_control("Early stopping", [False, True, "never"], default=False, required=True, key="early")
options: dict[str, Any] = {"beams": beams, "max_tokens": pieces, "length_penalty": penalty, "early_stopping": early}
strategy = "beam" if groups == 1 else "diverse-beam"
options |= {} if groups == 1 else {"groups": groups}
options |= {"force": dict(enumerate(said))} if said else {}
search = desk.steps(name, text, strategy, **options)
searched = read(search)
if said:
    st.caption("The tokens that you forced are forced here as well: the tree branches after them.")


def followed(point: dict[str, Any]) -> None:
    """Force the text that leads to the node that was clicked."""
    if isinstance(at := point.get("customdata"), str):
        desk.choose("path", tuple(int(piece) for piece in at.split(".")))


web.show(VIEWS["tree"], search, click=followed)

st.header("Does beam search help?", divider="blue")
st.markdown(
    "Sixteen new stories are cut after eight tokens. Greedy and 5-beam search continue them; the true ending competes too."
)
section(name)


@st.fragment
def side_by_side() -> None:
    """The strategies, each with its text; another seed redraws only this section."""
    st.header("Strategies side by side", divider="blue")
    st.markdown("  \n".join(desk.said()))
    seed = int(st.number_input("Seed for sampling", 0, 999, 0, key="seed", bind="query-params", width=180))
    web.show(VIEWS["written"], usable(desk.beside(name, text, seed, pieces)))


side_by_side()

st.header("Every possible text", divider="blue")
st.markdown(
    "With six tokens and four positions all texts can be tried. The six tokens are the most probable next tokens of the prompt."
)
among = [int(piece) for piece in record.ids[:6]]
tried = desk.everything(name, text, among)
read(tried)
web.show(VIEWS["written"], tried, key="tiny")

st.header("Looking at the source while writing", divider="blue")
source = st.text_input("An English sentence for the translator", lesson.SOURCE, key="source", bind="query-params", width=620)
watching = desk.watched("transformer", source, "beam", beams=4, max_tokens=30)
seen = read(watching)
st.markdown(f"The encoder read the sentence once. The decoder writes: **{plain(seen.steps[-1].text)}**")
st.caption(lesson.GENDER)
desk.rewritten(source, watching)

st.header("What is computed, and what is reused", divider="blue")
web.show(VIEWS["cache"], watching)


@st.fragment
def masked() -> None:
    """A masked language model fills blanks, in one order or another."""
    st.header("A masked language model writes too", divider="blue")
    blanks = st.text_input("A text with blanks: ___", lesson.BLANKS, key="blanks", bind="query-params", width=620)
    order = st.segmented_control("Order", list(ORDERS), default="confident", required=True, key="order")
    filled = desk.steps("bert", blanks, "fill", order=order)
    read(filled)
    web.show(VIEWS["filling"], filled)


masked()

exercises(lesson.exercises(greedy, record, searched, seen), "decoding.exercise")
deck(lesson.DECK, lesson.NOTATION)
