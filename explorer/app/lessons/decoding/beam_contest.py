"""The contest of the decoding lesson: greedy, 5-beam search and the true endings of the stories."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.app import web
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.lessons.decoding import parts as desk
from explorer.app.lessons.decoding import questions as lesson
from explorer.app.prose import prose
from explorer.views import VIEWS


@st.fragment
def show_contest(name: str) -> None:
    """The contest, when a visitor starts it: it takes seconds."""
    say("New stories are cut after eight tokens. Greedy and 5-beam search continue them; the true ending competes too.")
    if st.toggle("Let them write", key="contest", bind="query-params"):
        question = (lesson.beam_question(result_of(desk.contest(name))), f"guess.contest.{name}")
        web.show(VIEWS["contest"], desk.contest(name), question=question, below=partial(deepest_trap, name))


def deepest_trap(name: str) -> None:
    """The prompt where greedy lost most."""
    if result_of(desk.trap(name)):
        say(prose("decoding")("deepest trap"))
        web.show(VIEWS["written"], desk.trap(name), key="trap")
