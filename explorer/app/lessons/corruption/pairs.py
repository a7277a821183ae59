"""Objectives beside masking: two texts with their segments (NSP, SOP), and a span from its borders (SBO)."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, read
from explorer.app.glossary import say
from explorer.app.lessons.corruption import parts as lab
from explorer.app.prose import prose
from explorer.models.store import models
from explorer.views import VIEWS

PROSE = prose("corruption")

SHARE = 0.3  # of a short text


def spans_of(text: str, seed: int) -> Call:
    """Hidden spans of a text, and what SpanBERT's two output layers predict for them."""
    spanbert = model_of("spanbert")
    hidden = Call(ex.corrupt, text, "spanbert", tokenizer=spanbert.attr("tokenizer"), rate=SHARE, seed=seed)
    return Call(ex.analysis.guess_spans, spanbert, hidden)


def show_text_pairs(name: str, text: str, seed: int) -> None:
    """Both objectives on the visitor's text."""
    say(PROSE("two texts"))
    which = st.segmented_control("Pair", ("nsp", "sop"), default="nsp", required=True, key="pair", bind="query-params")
    pair = lab.corrupted(name, text, which, seed)
    read(pair)
    web.show(VIEWS["two-texts"], pair, key="pair")
    if "spanbert" in models():
        say(PROSE("borders"))
        read(spans_of(text, seed))
        web.show(VIEWS["boundaries"], spans_of(text, seed), key="borders")
