"""Attention: one head of a shipped model, stage by stage, on the visitor's own sentence."""

from typing import Any

import streamlit as st

from explorer.errors import ExplorerError
from explorer.library import models
from explorer.shells import web
from explorer.views import VIEWS, theme

SENTENCE = "The animal didn't cross the street because it was too tired."


@st.cache_resource(max_entries=4, show_spinner="Opening the model …")
def opened(name: str) -> Any:
    """One model for every visitor."""
    from explorer.loading import load

    return load(name, device="cpu")


@st.cache_resource(max_entries=200, show_spinner="Reading the sentence …")
def traced(name: str, text: str) -> Any:
    """One trace for every visitor who asks the same; records are read-only, so sharing is safe."""
    from explorer.tracing import trace

    return trace(opened(name), text)


def formula(chosen: dict[str, Any]) -> None:
    """The lecture's formula with the numbers of this model, and how far the picture is from the model."""
    width = record.attention[0].q.shape[-1]
    st.latex(r"\mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)V")
    st.markdown(
        f"Here $d_k = {width}$, so the scores are multiplied by $1/\\sqrt{{{width}}} = {record.attention[0].scale:.4g}$. "
        f"The weights are the model's own. Every other stage is computed again from its $q$, $k$ and mask, and so are the "
        f"weights, as a check: over all layers and heads the largest gap is **{record.residual:.0e}**."
    )


st.title("Who looks at whom?")
st.markdown(
    "In attention, every word asks a question (its **query**), shows a label (its **key**) and carries a message (its **value**). "
    "How well a query meets a key decides how much of that value it takes along."
)
names = list(models())
with st.container(horizontal=True, vertical_alignment="bottom"):
    name = st.segmented_control("Model", names, default=names[0], required=True, key="model", bind="query-params")
    text = st.text_input("Your sentence", SENTENCE, key="text", bind="query-params")

try:
    record = traced(name, text)
except ExplorerError as error:
    st.warning(str(error))
    st.stop()

if note := theme.unseen_note(record.source):
    st.info(f"{note}. What the model does with these pieces says nothing about language.")
code = f"import explorer as ex\ntrace = ex.trace(ex.load({name!r}), {text!r})"
web.show(VIEWS["attention"], record, code=code, steps="stage", beside=formula)

st.header("All heads of a layer", divider=True)
web.show(VIEWS["heads"], record, code=code)
