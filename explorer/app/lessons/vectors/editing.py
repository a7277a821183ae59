"""Lesson 2, a corpus to edit: sentences come and go, and GloVe's counts and ratios follow at once."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.lessons import editing as lesson
from explorer.pages.parts.vectors import tried
from explorer.records import Edited
from explorer.shells import web
from explorer.shells.lesson import predict
from explorer.training.editing import edited
from explorer.views import VIEWS


def asked() -> Edited:
    """What the sentence of the question does."""
    return edited(lesson.CORPUS, (*lesson.CORPUS, lesson.ADDED), *lesson.PAIR, watch=lesson.WATCH)


def code(lines: list[str], found: Edited) -> str:
    """The Python that makes the same record."""
    first = "import explorer as ex\nfrom explorer.lessons.editing import CORPUS\nfrom explorer.training.editing import edited\n"
    return f"{first}trace = edited(CORPUS, {lines!r}, *{found.pair!r}, watch={' '.join(found.words)!r})"


def section() -> None:
    """The visitor's corpus, its counts and its ratios."""
    st.header("Edit the corpus", divider="blue")
    st.markdown(
        "Vectors know what was said, nothing else. Here is a corpus so small that every count can be checked by hand: **add a sentence, "
        "take one out**, and see which counts and ratios move. Words count as near at most five places away, inside one sentence."
    )

    lines = st.text_area(
        "The corpus, each sentence on a line of its own; the last one is new",
        "\n".join((*lesson.CORPUS, lesson.ADDED)),
        height=330, key="corpus", bind="query-params",
    )  # fmt: skip
    with st.container(horizontal=True, vertical_alignment="bottom"):
        a = st.text_input("a", lesson.PAIR[0], key="near.a", bind="query-params", width=160)
        b = st.text_input("b", lesson.PAIR[1], key="near.b", bind="query-params", width=160)
        watch = st.text_input(
            "Words k to watch (none: the nearest)", lesson.WATCH, key="near.k", bind="query-params", width=420
        )
    found = tried(partial(edited, lesson.CORPUS, lines.splitlines(), a, b, watch=watch))

    def show_edited() -> None:
        """The ratios and the counts, before and now."""
        if found is not None:
            web.show(VIEWS["corpus-ratios"], found, code=code(lines.splitlines(), found))
            web.show(VIEWS["corpus-counts"], found, code=code(lines.splitlines(), found))

    predict(lesson.added_question(asked()), "guess.added", show_edited)
