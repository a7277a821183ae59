"""Lesson 4. Attention, step by step: from the vectors that enter a layer to the vectors that leave it."""

from functools import partial

import streamlit as st

from explorer.app import board, web
from explorer.app.call import Call
from explorer.app.controls import asked, made, model_of, read, warn_of_unseen
from explorer.app.exercises import deck, exercises, predict
from explorer.app.lessons.attention import questions as lesson
from explorer.views import VIEWS

DRAWN = Call("analysis.saturation")  # random queries and keys of eight widths
MEASURED = Call("result", "scale")  # twelve trainings


st.title("Attention, step by step")
st.markdown(
    "One layer reads a vector for each token and outputs a new one. Everything in between is shown here: the model computed every "
    "number below while it read your sentence. Press **▶**, or click the board and step with the **arrow keys**; **?** lists them."
)
name, text = asked()
call = Call("trace", model_of(name), text, blocks=True)
record = read(call)
warn_of_unseen(record.source)

board.show(call)

st.header("First, without parameters", divider="blue")
web.show(VIEWS["simple"], call)

st.header("Both masks", divider="blue")
web.show(VIEWS["masks"], call)

st.header("Why divide by √dₖ?", divider="blue")
predict(lesson.scale_question(made(DRAWN)), "guess.scale", partial(web.show, VIEWS["saturation"], DRAWN))
predict(lesson.training_question(made(MEASURED)), "guess.training", partial(web.show, VIEWS["curves"], MEASURED))

exercises(lesson.exercises(record), "attention.exercise")
deck(lesson.DECK, lesson.NOTATION)
