"""Lesson 9. ELMo lab: letters, two directions that never meet, and a mix of layers for each task."""

from functools import partial

import streamlit as st

from explorer.app import recorded, web
from explorer.app.controls import made, read, warn_of_unseen
from explorer.app.exercises import deck, exercises, predict
from explorer.app.lessons.elmo import parts as lab
from explorer.app.lessons.elmo import questions as lesson
from explorer.views import VIEWS

AMBIGUOUS = ("bank", "bat", "light", "park", "ring", "play")

st.title("ELMo lab")
with st.container(horizontal=True):
    st.latex(r"\mathrm{ELMo}_k = \gamma \sum_{j=0}^{L} s_j\, h_{k,j}", width=220)
    st.latex(r"h_{k,j} = [\overrightarrow{h}_{k,j};\ \overleftarrow{h}_{k,j}], \quad h_{k,0} = [x_k; x_k]", width=340)
st.markdown(
    "A word comes from its letters. Two language models read it, one from the left and one from the right; they share letters and "
    "softmax and never read each other. Then they are frozen; each task learns three weights $s$ and one scale $\\gamma$."
)
if not lab.trained():
    st.warning("There is no trained ELMo here yet, so the first pictures show random weights: `explorer fit elmo` trains one.")
model = made(lab.elmo())
text = st.text_input("Your text", lesson.TEXT, key="text", bind="query-params")
trace = read(lab.traced(text))
warn_of_unseen(trace.source)

st.header("From letters to a word", divider="blue")
st.markdown(
    "A filter slides over the letters; only its largest activation is kept. So every word has a vector, even one never seen in training."
)
word = st.text_input("Word", "fishing", key="word", bind="query-params", width=240)
read(lab.found(word))
web.show(VIEWS["letter-filters"], lab.found(word))

st.header("Two directions", divider="blue")
before, after = made(lab.traced(lesson.TEXT)), made(lab.traced(lesson.OTHER))
place = before.source.texts.index(lesson.WORD)
read(lab.expected(text))
show = partial(web.show, VIEWS["both-sides"], lab.expected(text))
st.markdown(f"*{lesson.TEXT}* and *{lesson.OTHER}*")
predict(lesson.half_question(before, after, place), "guess.half", show)

st.header("One word, many vectors", divider="blue")
st.markdown("Letters give a word one fixed vector; the LSTM layers give each occurrence its own.")
chosen = st.segmented_control(
    "A word of several senses", AMBIGUOUS, default="bank", required=True, key="sense", bind="query-params"
)
read(lab.used(chosen))
web.show(VIEWS["contexts"], lab.used(chosen))

st.header("The weights that each task learns", divider="blue")
if recorded.there("mixes"):
    mixes = recorded.call("mixes")
    measured = made(mixes)

    def show_shares() -> None:
        """The weights while they are learned, as bars and as paths through the triangle."""
        web.show(VIEWS["mix-shares"], mixes)
        web.show(VIEWS["mix-triangle"], mixes)

    predict(lesson.lowest_question(measured), "guess.lowest", show_shares)
    st.markdown("A weight says how much a task uses a layer. Does the mix help?")

    def show_scores() -> None:
        """The scores of the mix and of every layer, and what the baseline of one task leaves out."""
        web.show(VIEWS["mix-scores"], mixes)
        st.caption(lesson.baseline_note(measured))

    predict(lesson.use_question(measured), "guess.use", show_scores)

    st.header("Mix by hand", divider="blue")
    benches = [name for name in measured.tasks if recorded.there(f"mixes/{name.replace(' ', '-')}.npz")]
    task = st.segmented_control("Task", benches, default=benches[0], required=True, key="bench", bind="query-params")
    part = task.replace(" ", "-")
    web.show(VIEWS["mix-bench"], recorded.call("mixes", part), key=part)

    st.header("The lecture's results, and ours", divider="blue")
    st.markdown(lesson.compared(measured))
    st.caption(
        "The lecture compares strong models of each task with and without ELMo; here a linear head reads words without context (layer 0) "
        "or the mix. So only the direction of the gain can be compared, not its size. Measure again: `python -m explorer.studies.mixes`."
    )
else:
    st.info(
        "Not measured yet: `python -m explorer.studies.mixes` trains three biLMs and all output layers, and stores the record."
    )

exercises(lesson.exercises(before, place, [many for _, many in model.config.filters]), "elmo.exercise")
deck(lesson.DECK, lesson.NOTATION)
