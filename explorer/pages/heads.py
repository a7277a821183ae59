"""Heads: one head of a shipped model, stage by stage, and all heads of a layer, on the visitor's own sentence."""

from typing import Any

import streamlit as st

from explorer.pages.parts.opening import asked, read, traced, warn_of_unseen
from explorer.shells import web
from explorer.views import VIEWS


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
name, text = asked()
record = read(lambda: traced(name, text))
warn_of_unseen(record.source)
code = f"import explorer as ex\ntrace = ex.trace(ex.load({name!r}), {text!r})"
web.show(VIEWS["attention"], record, code=code, steps="stage", beside=formula)

st.header("All heads of a layer", divider=True)
web.show(VIEWS["heads"], record, code=code)
