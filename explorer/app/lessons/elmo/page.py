"""Lesson 9. ELMo lab: letters, two directions that never meet, and a mix of layers for each task."""

from functools import partial

import streamlit as st

from explorer import library
from explorer.lessons import elmo as lesson
from explorer.pages.parts import elmo as lab
from explorer.pages.parts import recorded
from explorer.pages.parts.opening import read, warn_of_unseen
from explorer.records import Bench, Mixes
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS

AMBIGUOUS = ("bank", "bat", "light", "park", "ring", "play")
ASKED = "from explorer import directions\n"

st.title("ELMo lab")
with st.container(horizontal=True):
    st.latex(r"\mathrm{ELMo}_k = \gamma \sum_{j=0}^{L} s_j\, h_{k,j}", width=220)
    st.latex(r"h_{k,j} = [\overrightarrow{h}_{k,j};\ \overleftarrow{h}_{k,j}], \quad h_{k,0} = [x_k; x_k]", width=340)
st.markdown(
    "A word comes from its letters. Two language models read it, one from the left and one from the right; they share letters and "
    "softmax and never read each other. Then nothing in them changes any more: each task learns $s$ and $\\gamma$, four numbers."
)
if not lab.trained():
    st.warning(
        "There is no trained ELMo on the shelf yet, so the first pictures show random weights: `explorer fit elmo` trains one."
    )
model = lab.elmo()
text = st.text_input("Your text", lesson.TEXT, key="text", bind="query-params")
trace = read(partial(lab.traced, text))
warn_of_unseen(trace.source)

st.header("From letters to a word", divider="blue")
st.markdown(
    "A filter slides over the letters; only its strongest answer is kept. So every word has a vector, also one that nobody has met."
)
word = st.text_input("Word", "fishing", key="word", bind="query-params", width=240)
code = f"{lab.start(ASKED)}trace = directions.filters(elmo, {word!r})"
web.show(VIEWS["letter-filters"], read(partial(lab.found, word)), code=code)

st.header("Two directions", divider="blue")
before, after = lab.traced(lesson.TEXT), lab.traced(lesson.OTHER)
place = before.source.texts.index(lesson.WORD)
both = read(partial(lab.expected, text))
code = f"{lab.start(ASKED)}trace = directions.both_sides(elmo, {text!r})"
show = partial(web.show, VIEWS["both-sides"], both, code=code)
st.markdown(f"*{lesson.TEXT}* and *{lesson.OTHER}*")
predict(lesson.half_question(before, after, place), "guess.half", show)

st.header("One word, many vectors", divider="blue")
st.markdown("Letters give a word one vector. Each layer above makes another of every use.")
chosen = st.segmented_control(
    "A word of several senses", AMBIGUOUS, default="bank", required=True, key="sense", bind="query-params"
)
needs = f"{ASKED}from itertools import islice\nfrom explorer.pages.parts.elmo import uses\n"
code = f"{lab.start(needs)}trace = directions.contexts(elmo, {chosen!r}, tuple(islice(uses({chosen!r}), {lab.USES})))"
web.show(VIEWS["contexts"], read(partial(lab.used, chosen)), code=code)

st.header("What each task takes", divider="blue")
if recorded.there("mixes"):
    measured = library.recorded("mixes", Mixes)
    code = f"{recorded.START}from explorer.records import Mixes\ntrace = library.recorded('mixes', Mixes)"

    def show_shares() -> None:
        """The shares while they are learned, as bars and as ways through the triangle."""
        web.show(VIEWS["mix-shares"], measured, code=code)
        web.show(VIEWS["mix-triangle"], measured, code=code)

    predict(lesson.lowest_question(measured), "guess.lowest", show_shares)
    st.markdown("A share says what a task took. What was it worth?")
    predict(lesson.use_question(measured), "guess.use", partial(web.show, VIEWS["mix-scores"], measured, code=code))

    st.header("Mix by hand", divider="blue")
    benches = [name for name in measured.tasks if recorded.there(f"mixes/{name.replace(' ', '-')}.npz")]
    task = st.segmented_control("Task", benches, default=benches[0], required=True, key="bench", bind="query-params")
    part = task.replace(" ", "-")
    code = f"{recorded.START}from explorer.records import Bench\ntrace = library.recorded('mixes', Bench, {part!r})"
    web.show(VIEWS["mix-bench"], library.recorded("mixes", Bench, part), code=code, key=part)

    st.header("The lecture's results, and ours", divider="blue")
    st.markdown(lesson.compared(measured))
    st.caption(
        "The lecture compares strong models of each task with and without ELMo; here a linear head reads words without context (layer 0) "
        "or the mix. So only the direction can be compared, never the size. Measure again: `python -m explorer.experiments.mixes`."
    )
else:
    st.info("Not measured yet: `python -m explorer.experiments.mixes` trains three biLMs and all heads, and keeps the record.")

exercises(lesson.exercises(before, place, [many for _, many in model.config.filters]), "elmo.exercise")
deck(lesson.DECK, lesson.NOTATION)
