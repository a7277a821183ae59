"""Lesson 14. Your model: open any checkpoint, see what can be shown of it, and put it beside a shipped one."""

from typing import Any

import streamlit as st

from explorer.errors import ExplorerError
from explorer.lessons import yours as lesson
from explorer.pages.parts.opening import SENTENCE, attentive, one_of, opened, read, traced, warn_of_unseen
from explorer.pages.parts.taking import SHARING, Upload, take_along, uploaded
from explorer.shells import web
from explorer.shells.lesson import deck, exercises, plain, predict
from explorer.tracing import MEMORY, cost
from explorer.views import VIEWS

HOW = (
    "Give the path of a **folder** with a checkpoint (`./my-model`; nothing is fetched), or a name on the Hugging Face **hub** "
    "(`org/model`, or `hub:gpt2`; needs the network once). Only safetensors are read, and no code from a checkpoint is ever run."
)
PICTURES = ("attention", "heads", "glance", "together", "walk")


@st.cache_resource
def measured() -> Any:
    """The architectures that were tried."""
    from explorer.hub.supporting import kept

    return kept()


def report(model: Any, record: Any) -> None:
    """What can be shown of this model, and what a trace of it costs."""
    streams = ", ".join(f"{name}: {layers} layers × {heads} heads" for name, (layers, heads) in model.streams.items())
    gap = "not derivable: only the weights can be had" if record.residual != record.residual else f"{record.residual:.0e}"
    longest = min(512, getattr(model, "longest", 512))
    need = cost(model, longest, longest if model.family == "encoder-decoder" else 0)
    st.markdown(
        f"**{plain(model.name)}** is an **{model.family}** ({streams}; {sum(p.numel() for p in model.module.parameters()):,} weights). "
        f"Weights computed again differ from its own by at most **{gap}**. A trace of {longest} pieces would take "
        f"**{need / 1e6:.0f} MB**; the most that is kept is {MEMORY / 1e6:.0f} MB, then name the layers: `layers=[0]`."
    )
    if reason := getattr(model, "without_blocks", ""):
        st.caption(f"What each block adds to the residual stream is not shown: {plain(reason)}")
    for note in model.notes:
        st.warning(note)


st.title("Your model")
st.markdown(HOW)
with st.container(horizontal=True, vertical_alignment="bottom"):
    given = st.text_input("Folder or hub name", key="yours", bind="query-params", placeholder="./my-model or org/model")
    beside = one_of("Beside it", attentive(), "model")
    text = st.text_input("Your sentence", SENTENCE, key="text", bind="query-params")
upload = uploaded()
st.caption(SHARING)
names = [name for name in (given.strip(), upload, beside) if name]
held: list[Any] = []
for number, which in enumerate(names):
    name, at = (f"./{which.name}", which) if isinstance(which, Upload) else (which, None)
    try:
        model = opened(name) if at is None else at.model
        record = traced(name, text) if at is None else at.trace(text)
    except ExplorerError as error:
        st.warning(plain(str(error)))
        continue
    held.append(record)
    st.header(plain(name), divider="blue")
    report(model, record)
    warn_of_unseen(record.source)
    view = one_of("Picture", PICTURES, f"picture.{number}", "attention")
    web.show(VIEWS[view], record, code=f"import explorer as ex\ntrace = ex.trace(ex.load({name!r}), {text!r})", key=str(number))
if not held:
    read(lambda: traced(beside, text))
    st.stop()

st.header("Which architectures open", divider="blue")
table = measured()
st.markdown(
    f"Each was built tiny, with random weights, traced, and compared with what its own class computes: {table.versions}. *Stages*: "
    "every step of attention. *Weights*: the result alone. A difference of 0 means: the same bits."
)
st.dataframe(
    [
        {"class": row.architecture, "family": row.family, "shown": row.way, "weights differ by": row.weights,
         "outputs differ by": row.outputs, "computed again": row.residual, "edits": ", ".join(row.edits), "reason": row.reason}
        for row in table.rows
    ],
    width="stretch",
)  # fmt: skip

predict(lesson.perplexity_question(), "guess.perplexity", lambda: None)
exercises(lesson.exercises(table, held[0]), "yours.exercise")
take_along(beside)
deck(lesson.DECK, lesson.NOTATION)
