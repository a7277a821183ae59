"""All heads of all layers, and one of them large beside them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from explorer.app import hold, web
from explorer.app.call import Call
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.lessons.heads import behaviour
from explorer.app.lessons.heads import questions as lesson
from explorer.app.prose import prose
from explorer.records import Trace
from explorer.views import VIEWS
from explorer.views.inside import NO_HEAD, named_heads

PROSE = prose("heads")


def show_all(name: str, text: str, traced: Call) -> None:
    """All heads of a model that reads a text, after a guess where the sentence has a pronoun."""
    record: Trace = result_of(traced)
    _frame_held(record, text)
    heads = named_heads(record, record.attention[0].stream)
    chosen = st.session_state.get("glance.head", st.query_params.get("glance.head"))
    if chosen not in (NO_HEAD, *heads):  # none yet, or one of a larger model
        st.session_state["glance.head"] = heads[-1]
    question = lesson.pointing_question(record)
    if question is None:
        st.caption(
            f"Write a sentence with “{lesson.WHO}”, “dog” and “tired” to predict how many heads connect “{lesson.WHO}” and “dog”."
        )

    def enlarged(chosen: dict[str, Any]) -> Any:
        return None if chosen["head"] == NO_HEAD else VIEWS["enlarged"](record, **chosen)

    asked = None if question is None else (question, "guess.pointing")
    web.show(VIEWS["glance"], traced, question=asked, click=_choose, detail=enlarged)
    say(PROSE("famous") + (" " + PROSE("one head supervised") if behaviour.supervised(name) else ""))


def _frame_held(record: Trace, text: str) -> None:
    """Where another token of the sentence is held, frame its largest weights; a choice by hand or in the address stays until then."""
    held = text, hold.held_row()
    first = "glance.held" not in st.session_state and "glance.token" in st.query_params
    if held[1] is not None and st.session_state.get("glance.held") != held and not first:
        control: Any = VIEWS["glance"].controls(record)["token"]
        named = (name for name in control.options if name.endswith(f"({held[1]})"))
        st.session_state["glance.token"] = next(named, control.first)
    st.session_state["glance.held"] = held


def _choose(point: dict[str, Any]) -> None:
    """The head that was clicked is the large one."""
    st.session_state["glance.head"] = point["customdata"][0]
