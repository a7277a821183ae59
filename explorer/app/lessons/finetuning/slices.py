"""The answers of a fine-tuned model by parts that the visitor defines, also to the visitor's own labelled texts."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import read
from explorer.records.slices import RULES
from explorer.views import VIEWS

LETTERS = 20_000  # of a visitor's texts


def show_slices(feel: Call, asked: int) -> None:
    """Rules for parts of the texts, and texts with labels of the visitor's; the share of right answers in each part."""
    st.subheader("Where is it weak?", anchor=False)
    with st.expander("Your own texts and rules", key="slices.own"):
        rules = st.text_input(
            "Rules, separated by ;", "contains not; words > 6", key="slices.rules", bind="query-params", help=RULES
        )
        label = "Your texts: on each line a text, a | and its label (empty: new texts of the task)"
        written = st.text_area(label, key="slices.texts", max_chars=LETTERS)
    pairs = [
        (text.strip(), label.strip()) for line in written.splitlines() for text, mark, label in [line.rpartition("|")] if mark
    ]
    call = Call(ex.training.answers, feel, task="sentiment", examples=pairs or asked)
    given = [rule.strip() for rule in rules.split(";") if rule.strip()]
    sliced = Call(call.attr("sliced"), given) if given else call
    read(sliced)
    web.show(VIEWS["slices"], sliced)
    if pairs:
        web.show(VIEWS["confusion"], call, key="own")
