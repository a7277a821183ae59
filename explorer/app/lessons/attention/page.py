"""Lesson 4. Attention, step by step: from the words that enter a layer to the words that leave it."""

from typing import Any

import streamlit as st

from explorer import library
from explorer.lessons import attention as lesson
from explorer.lessons.saturation import saturation
from explorer.pages.parts.opening import asked, read, traced, warn_of_unseen
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS
from explorer.views.steps import steps_of


@st.cache_resource(show_spinner="Drawing random queries …")
def drawn() -> Any:
    """Random queries and keys of eight widths; the same for every visitor."""
    return saturation()


@st.cache_resource
def measured() -> Any:
    """Twelve trainings, recorded."""
    return library.result("scale")


def explained(chosen: dict[str, Any]) -> None:
    """The formula of the step on the screen, and what happens in it."""
    steps = steps_of(record)
    number = [step.name for step in steps].index(chosen["step"])
    st.progress((number + 1) / len(steps))
    st.subheader(f"{number + 1}. {steps[number].title}", anchor=False)
    st.latex(steps[number].latex)
    st.markdown(steps[number].says)
    width = record.attention[0].q.shape[-1]
    st.markdown(
        f"Here $d = {record.hidden[record.attention[0].stream].shape[-1]}$, {record.attention[0].heads} heads, $d_k = {width}$. "
        f"Weights computed again from these steps differ from the model's own by at most **{record.residual:.0e}**."
    )


st.title("Attention, step by step")
st.markdown(
    "One layer takes in a vector for each word and hands on a new one. Nothing in between is hidden here: every number below was "
    "computed by the model while it read your sentence. Step with the **arrow keys**, or move the slider."
)
name, text = asked()
record = read(lambda: traced(name, text))
warn_of_unseen(record.source)
code = f"import explorer as ex\ntrace = ex.trace(ex.load({name!r}), {text!r}, blocks=True)"

st.header("First, with nothing to learn", divider="blue")
web.show(VIEWS["simple"], record, code=code)

st.header("One layer, one step at a time", divider="blue")
web.show(VIEWS["walk"], record, code=code, steps="step", beside=explained)

st.header("Both masks", divider="blue")
web.show(VIEWS["masks"], record, code=code)

st.header("Why divide by √d?", divider="blue")
made = "from explorer.lessons.saturation import saturation\ntrace = saturation()"
predict(
    lesson.scale_question(drawn()),
    "guess.scale",
    lambda: web.show(VIEWS["saturation"], drawn(), code=f"import explorer as ex\n{made}"),
)
kept = "from explorer import library\ntrace = library.result('scale')"
predict(
    lesson.training_question(measured()),
    "guess.training",
    lambda: web.show(VIEWS["curves"], measured(), code=f"import explorer as ex\n{kept}"),
)

exercises(lesson.exercises(record), "attention.exercise")
deck(lesson.DECK, lesson.NOTATION)
