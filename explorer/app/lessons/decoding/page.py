"""Lesson 12. Decoding: how a text is written once a model is trained, step by step."""

from typing import Any

import streamlit as st

from explorer.lessons import decoding as lesson
from explorer.pages.parts import decoding as desk
from explorer.pages.parts.contests import section
from explorer.pages.parts.opening import opened, read
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, plain, predict
from explorer.views import VIEWS, theme

st.title("Decoding, step by step")
with st.container(horizontal=True):
    st.latex(r"\hat y = \arg\max_{y_1,\dots,y_L} \prod_{i=1}^{L} P_\theta(y_i \mid y_{<i})", width=380)
    st.latex(r"|V|^L \text{ texts}", width=160)
st.markdown(
    "A trained model says how probable each next piece is. It does not say which text to write: that is the business of a *decoding "
    "strategy*. The lecture's arg max runs over all texts, too many to try; every strategy below is a way around that."
)
with st.container(horizontal=True, vertical_alignment="bottom"):
    name = st.segmented_control("Model", ["gpt", "gpt2"], default="gpt", required=True, key="writer", bind="query-params")
    text = st.text_input("The beginning", lesson.PROMPT, key="beginning", bind="query-params", width=620)
    pieces = st.slider("Pieces to write", 2, 40, 12, key="pieces", bind="query-params", width=220)
model = opened(name)
record = read(lambda: desk.distribution(name, text, ()))

st.header("P(y), piece by piece", divider="blue")
greedy = read(lambda: desk.written(name, text, "greedy", "greedy", max_tokens=pieces))
st.markdown("**Greedy** takes the likeliest piece at each step: $|V|$ candidates a step instead of $|V|^L$ texts.")
web.show(VIEWS["chain"], greedy, code=desk.code_of_written(name, text, "greedy", "greedy", max_tokens=pieces))

st.header("Which piece comes next?", divider="blue")
st.markdown(
    "Move temperature and the cuts. **Click a bar** (or a name below it) to force this piece and go on from there: you are the decoder."
)
said = read(lambda: desk.chosen_pieces("path"))
here = read(lambda: desk.distribution(name, text, said))


def clicked(point: dict[str, Any]) -> None:
    """Go on with the piece whose bar was clicked."""
    desk.choose("path", (*said, int(here.ids[int(point["y"])])))


def bars() -> None:
    """The bars, and ways to go on and back."""
    web.show(VIEWS["next-piece"], here, code=desk.code_of_distribution(name, text, said), key=str(len(said)), click=clicked)
    with st.container(horizontal=True):
        for rank in range(8):
            label = f"{plain(theme.plain(here.texts[rank]))} {here.shares[rank]:.0%}"
            st.button(label, key=f"force.{rank}", on_click=desk.choose, args=("path", (*said, int(here.ids[rank]))))
        st.button("Back", key="force.back", on_click=desk.choose, args=("path", said[:-1]), disabled=not said)
        st.button("From the start", key="force.none", on_click=desk.choose, args=("path", ()), disabled=not said)


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
searched = read(lambda: desk.steps(name, text, strategy, **options))
if said:
    st.caption("The pieces that you forced are forced here as well: the tree branches after them.")


def followed(point: dict[str, Any]) -> None:
    """Force the text that leads to the node that was clicked."""
    if isinstance(at := point.get("customdata"), str):
        desk.choose("path", tuple(int(piece) for piece in at.split(".")))


web.show(VIEWS["tree"], searched, code=desk.code_of_steps(name, text, strategy, **options), click=followed)

st.header("Is the search worth it?", divider="blue")
st.markdown("Sixteen new stories are cut after eight pieces. Greedy and five beams go on; so does the one who wrote them.")
section(name)


@st.fragment
def side_by_side() -> None:
    """The strategies, each with what it wrote; another seed draws only this anew."""
    st.header("Strategies side by side", divider="blue")
    st.markdown("  \n".join(f"**{key}**: {what}" for key, what in lesson.SAYS.items()))
    seed = int(st.number_input("Seed of what is drawn", 0, 999, 0, key="seed", bind="query-params", width=180))
    every = read(lambda: desk.beside(name, text, seed, pieces))
    web.show(VIEWS["written"], every, code=desk.code_of_beside(name, text, seed, pieces))


side_by_side()

st.header("Every text there is", divider="blue")
st.markdown(
    "With six pieces and four places all texts can be tried. The pieces are those that the model finds likeliest first."
)
among = [int(piece) for piece in record.ids[:6]]
tried = read(lambda: desk.everything(name, text, among))
web.show(VIEWS["written"], tried, code=desk.code_of_everything(name, text, among), key="tiny")

st.header("Looking at the source while writing", divider="blue")
source = st.text_input("An English sentence for the translator", lesson.SOURCE, key="source", bind="query-params", width=620)
seen = read(lambda: desk.watched("transformer", source, "beam", beams=4, max_tokens=30))
st.markdown(f"The encoder read the sentence once. The decoder writes: **{plain(seen.steps[-1].text)}**")
watching = desk.code_of_watched("transformer", source, "beam", beams=4, max_tokens=30)
web.show(VIEWS["growing"], seen, code=watching, steps="step")

st.header("What is computed, and what is reused", divider="blue")
web.show(VIEWS["cache"], seen, code=watching)


@st.fragment
def masked() -> None:
    """A masked model fills blanks, in one order or another."""
    st.header("A masked model writes too", divider="blue")
    blanks = st.text_input("A text with blanks: ___", lesson.BLANKS, key="blanks", bind="query-params", width=620)
    order = st.segmented_control(
        "Order", ["left", "confident", "mask-predict"], default="confident", required=True, key="order"
    )
    filled = read(lambda: desk.steps("bert", blanks, "fill", order=order))
    web.show(VIEWS["filling"], filled, code=desk.code_of_steps("bert", blanks, "fill", order=order))


masked()

exercises(lesson.exercises(greedy, record, searched, seen), "decoding.exercise")
deck(lesson.DECK, lesson.NOTATION)
