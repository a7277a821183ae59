"""Label smoothing: the target of one prediction, one-hot and smoothed, and the loss of both."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, read, result_of
from explorer.app.glossary import say
from explorer.app.lessons.training import smoothing_questions as lesson
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.views import VIEWS


def targets(source: str, target: str) -> Call:
    """What the translator predicts at every token of a translation."""
    return Call(ex.analysis.smoothed_targets, model_of(lesson.MODEL), source, target=target)


def show_smoothing() -> None:
    """A sentence and its translation, and the loss of every token, after a guess."""
    say(prose("training")("smoothing"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = st.text_input("English", lesson.SOURCE, key="smooth.source", bind="query-params")
        target = st.text_input("Its translation, the target", lesson.TARGET, key="smooth.target", bind="query-params")
    call = targets(source, target)
    read(call)
    notice(f"{source} {target}", lesson.MODEL)
    question = lesson.least_question(result_of(targets(lesson.SOURCE, lesson.TARGET)))
    web.show(VIEWS["smoothed-targets"], call, question=(question, "guess.smoothing"))
