"""Your model: any two texts or any two models side by side, on aligned tokens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import hold, present, web
from explorer.app.call import Call
from explorer.app.controls import attentive, model_of, one_of, opened, read, target_of
from explorer.app.glossary import say
from explorer.app.lessons import SENTENCE
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS

OTHER = "The dog did not cross the river because it was too wide."  # beside the first sentence, where one model reads both
SHOWS = {"Predictions": "beside-predictions", "Attention": "beside-attention", "States": "beside-states"}


def show_pair(names: Sequence[str], text: str) -> None:
    """What is compared, the aligned texts, and one picture of what is different. `names` are the models of the page, with what the
    visitor brought first.
    """
    if not present.on():
        say(prose("yours")("side by side"))
    offered = list(dict.fromkeys([*names, *attentive()]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = [_model(label, offered, names[at]) for label, at in (("First model", 0), ("Second model", -1))]
        usual = OTHER if text == SENTENCE and chosen[0] == chosen[1] else text
        other = st.text_input(
            "Second text (the first is the sentence above)", key="pair.text", bind="query-params", placeholder=usual
        )
    texts = (text, other.strip() or usual)
    call = Call(
        ex.analysis.align,
        *(_traced(model, written) for model, written in zip(chosen, texts, strict=True)),
        texts,
    )
    aligned = read(call)
    hold.units(aligned)
    notice(texts[1], *chosen)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = st.segmented_control(
            "Look at", list(SHOWS), default="Predictions", required=True, key="pair.shows", bind="query-params"
        )
        view = VIEWS[SHOWS[shown]]
        fixed = web.choice(view, call, "shows", 260) if not view.fits(aligned) and "shows" in view.controls(aligned) else {}
    web.show(view, call, fixed=fixed)


def _model(label: str, offered: Sequence[str], first: str) -> str:
    """One of the two models; one that the visitor brought is allowed everywhere it was."""
    return one_of(label, offered, f"pair.{label.partition(' ')[0].lower()}", first)


def _traced(name: str, text: str) -> Call:
    """The call that traces a text with all scores; an encoder-decoder writes the text as well."""
    return Call(ex.trace, model_of(name), text, scores=True, **target_of(read(partial(opened, name)), text))
