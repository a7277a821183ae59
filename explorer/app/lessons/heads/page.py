"""Lesson 5. Heads and layers: one head stage by stage, all at a glance, many as one, their habits, and what else can be asked."""

from functools import partial
from typing import Any

import streamlit as st

from explorer.lessons import heads as lesson
from explorer.pages.parts.opening import asked, opened, read, traced, warn_of_unseen
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, predict
from explorer.views import VIEWS

TEXTS, SENTENCES = 24, 5


@st.cache_resource(max_entries=50, show_spinner="Asking the model …")
def asked_of(name: str, text: str, what: str) -> Any:
    """The lens, the gradients, what can be seen: by name, once for every visitor."""
    import explorer as ex

    return getattr(ex, what)(opened(name), text, **({"target": text} if opened(name).family == "encoder-decoder" else {}))


@st.cache_resource(show_spinner="Reading two dozen stories …")
def habits(name: str) -> Any:
    """What the heads do over stories that the model never met."""
    import explorer as ex
    from explorer.text.microworld import labelled

    return ex.head_statistics(opened(name), [story.opening(SENTENCES) for story in labelled(TEXTS, 7, "test")])


def formula(chosen: dict[str, Any]) -> None:
    """The lecture's formula with the numbers of this model, and how far the picture is from the model."""
    width = record.attention[0].q.shape[-1]
    st.latex(r"\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V")
    st.markdown(
        f"Here $d_k = {width}$, so the scores are multiplied by $1/\\sqrt{{{width}}} = {record.attention[0].scale:.4g}$. "
        f"The weights are the model's own. Every other stage is computed again from its $q$, $k$ and mask, and so are the "
        f"weights, as a check: over all layers and heads the largest gap is **{record.residual:.0e}**."
    )


def in_bertviz() -> None:
    """The same trace in a view of BertViz, once one is chosen."""
    import explorer as ex

    view = st.segmented_control("View of BertViz", ("head", "model", "neuron"), key="bertviz", bind="query-params")
    if view is None:
        st.caption("For those who know BertViz: the same numbers in its own views. Choose one.")
        return
    try:
        shown = ex.bertviz(record, view=view, mode=web.mode())
    except ex.ExplorerError as error:
        st.warning(str(error))
        return
    st.iframe(f"<body style='margin:0'>{shown.frame()}</body>", height=shown.height + 10)
    with st.expander("Take it with you"):
        st.download_button("HTML", shown.page(), f"bertviz-{view}.html", on_click="ignore", key="bertviz.html")
        st.code(f"{code}\nex.bertviz(trace, view={view!r})", language="python")


st.title("Who looks at whom?")
st.markdown(
    "In attention, every word asks a question (its **query**), shows a label (its **key**) and carries a message (its **value**). "
    "How well a query meets a key decides how much of that value it takes along."
)
name, text = asked()
record = read(lambda: traced(name, text))
warn_of_unseen(record.source)
load = f"import explorer as ex\nmodel = ex.load({name!r})\n"
code = f"import explorer as ex\ntrace = ex.trace(ex.load({name!r}), {text!r})"
web.show(VIEWS["attention"], record, code=code, steps="stage", beside=formula)

st.header("All heads of a layer", divider="blue")
web.show(VIEWS["heads"], record, code=code)

st.header("All heads of all layers", divider="blue")
question = lesson.pointing_question(record)
if question is None:
    st.caption(f"Write a sentence with “{lesson.WHO}” and “{lesson.WHOM}” to be asked how many heads join them.")
    web.show(VIEWS["glance"], record, code=code)
else:
    predict(question, "guess.pointing", lambda: web.show(VIEWS["glance"], record, code=code))

st.header("Many heads as one", divider="blue")
web.show(VIEWS["together"], record, code=code)

st.header("Habits over many texts", divider="blue")
known = habits(name)
if known.pronouns:
    st.markdown(lesson.coreference(known))
made = "from explorer.text.microworld import labelled\n"
web.show(
    VIEWS["habits"],
    known,
    code=f"{load}{made}trace = ex.head_statistics(model, [s.opening({SENTENCES}) for s in labelled({TEXTS}, 7, 'test')])",
)

st.header("Beside attention", divider="blue")
for what, view in (("gradient", "gradient"), ("lens", "lens"), ("visibility", "visibility")):
    found = read(partial(asked_of, name, text, what))
    web.show(VIEWS[view], found, code=f"{load}trace = ex.{what}(model, {text!r})")

st.header("In BertViz", divider="blue")
in_bertviz()

exercises(lesson.exercises(record, known, asked_of(name, text, "visibility")), "heads.exercise")
deck(lesson.DECK, lesson.NOTATION)
