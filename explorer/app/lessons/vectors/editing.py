"""Lesson 2, a corpus to edit: sentences come and go, and GloVe's counts and ratios follow at once."""

from __future__ import annotations

from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.lessons.vectors import editing_questions as lesson
from explorer.app.lessons.vectors.parts import tried
from explorer.app.prose import prose
from explorer.views import VIEWS

CORPUS = Call(ex.lesson, "vectors").attr("editing").attr("CORPUS")


def edited(lines: list[str], a: str, b: str, watch: str) -> Call:
    """What other sentences do to the counts of two words."""
    return Call(ex.analysis.edit_corpus, CORPUS, lines, a, b, watch=watch)


def with_added() -> Call:
    """What the sentence of the question does."""
    return edited([*lesson.CORPUS, lesson.ADDED], *lesson.PAIR, lesson.WATCH)


def show_corpus() -> None:
    """The visitor's corpus, its counts and its ratios."""
    say(prose("vectors")("editing"))

    lines = st.text_area(
        "The corpus, one sentence on each line; the last one is new",
        "\n".join((*lesson.CORPUS, lesson.ADDED)),
        height=330, key="corpus", bind="query-params",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        a = st.text_input("a", lesson.PAIR[0], key="near.a", bind="query-params", width=160)
        b = st.text_input("b", lesson.PAIR[1], key="near.b", bind="query-params", width=160)
        watch = st.text_input(
            "Words k to watch (none: the nearest)", lesson.WATCH, key="near.k", bind="query-params", width=420
        )
    mine = partial(edited, lines.splitlines(), a, b, watch)
    record = tried(mine)
    if record is None:
        return
    shown = partial(web.show, what=mine(), question=(lesson.added_question(result_of(with_added())), "guess.added"))
    ways = {"Ratios": "corpus-ratios", "Counts": "corpus-counts"}
    web.one_of("Look at", {label: partial(shown, VIEWS[view]) for label, view in ways.items()}, "corpus.shows")
