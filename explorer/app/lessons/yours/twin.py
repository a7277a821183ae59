"""A model beside its random twin, and what may be seen of open and closed models."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read, target_of, trace_of
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.guessing import answered
from explorer.app.lessons.yours import questions as lesson
from explorer.app.prose import prose
from explorer.models.factory import settings_of
from explorer.models.presets import PRESETS
from explorer.records import Trace
from explorer.views import VIEWS
from explorer.views.inside import NO_HEAD, NOBODY

PROSE = prose("yours")

ABOVE = 70


def twin_of(name: str) -> Call:
    """The same architecture with random weights, and the same tokenizer."""
    preset = opened(name).preset
    same = {field: value for field, value in asdict(opened(name).config).items() if field in settings_of(preset) - {"vocab"}}
    return Call(ex.build, preset, tokenizer=model_of(name).attr("tokenizer"), seed=0, device="cpu", **same)


def largest(trace: Trace) -> float:
    """The largest weight of the stack that is shown."""
    return max(float(layer.weights.max()) for layer in trace.attention if layer.stream == trace.attention[0].stream)


def drawn(trace: Trace, key: str, top: float) -> None:
    """All heads of a trace, under a title that gives nothing away, in colours from 0 to the weight `top`."""
    figure = VIEWS["glance"](trace, stream=trace.attention[0].stream, token=NOBODY, head=NO_HEAD)
    height = figure.layout.height - figure.layout.margin.t + ABOVE  # beside each other, whatever their titles said
    figure.update_layout(title=f"Model {key}", margin_t=ABOVE, height=height)
    end = 255 * top / largest(trace)  # the picture counts in 255ths of its own largest weight
    bar = {"tickvals": [0, end / 2, end], "ticktext": ["0", f"{top / 2:.2g}", f"{top:.2g}"]}
    figure.update_layout(coloraxis={"cmax": end, "colorbar": bar})
    web.drawn(web.styled(figure), f"twin.{key}")


def guessing(name: str, text: str) -> None:
    """Which of two pictures is that of the trained model."""
    if getattr(opened(name), "preset", "") not in PRESETS:
        st.info(f"**{plain(name)}** was not built here, so it has no random twin. Choose a shipped model beside it.")
        return
    traces = (read(trace_of(name, text)), read(Call(ex.trace, twin_of(name), text, **target_of(opened(name), text))))
    say(PROSE("twin"))
    _asked(name, traces, turned=len(text) % 2 == 1)


@st.fragment
def _asked(name: str, traces: tuple[Trace, Trace], *, turned: bool) -> None:
    """The question above the two pictures that it is about; what they show, and what not, comes with the answer."""
    told = answered(lesson.twin_question(*traces, turned), f"guess.twin.{name}.{turned}")
    for column, trace, key in zip(st.columns(2), traces[::-1] if turned else traces, ("A", "B"), strict=True):
        with column:
            drawn(trace, key, max(map(largest, traces)))
    if told:
        say(PROSE("twins"), small=True)


def openness() -> None:
    """What may be seen of a model, and what it costs."""
    say(PROSE("openness"))
    st.table(lesson.opened_by_kind())
    st.subheader("What an answer costs", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        prompt = int(
            st.number_input("Tokens of the prompt", 1, 1_000_000, 1000, 100, key="price.asked", bind="query-params", width=280)
        )
        answer = int(
            st.number_input("Tokens of the answer", 1, 1_000_000, 500, 100, key="price.wrote", bind="query-params", width=280)
        )
    st.table(lesson.prices(prompt, answer))
    say(PROSE("priced"), small=True)
    say(PROSE("links"))
