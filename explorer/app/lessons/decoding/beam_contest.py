"""The contest of the decoding lesson: greedy, five beams, and the one who wrote the stories."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.lessons import decoding as lesson
from explorer.pages.parts import decoding as desk
from explorer.shells import web
from explorer.shells.lesson import predict
from explorer.views import VIEWS


@st.fragment
def section(name: str) -> None:
    """The contest, once a visitor asks for it: it takes seconds."""
    if st.toggle("Let them write", key="contest", bind="query-params"):
        predict(lesson.beam_question(desk.contest(name)), f"guess.contest.{name}", partial(judged, name))


def judged(name: str) -> None:
    """Whose texts are more probable, and the beginning where greedy lost most."""
    web.show(VIEWS["contest"], desk.contest(name), code=desk.code_of_contest(name))
    if fallen := desk.trap(name):
        st.markdown(
            "**The deepest trap**: one step takes the likeliest piece, and every text after it is less probable than another."
        )
        web.show(VIEWS["written"], fallen, code=desk.code_of_trap(name), key="trap")
