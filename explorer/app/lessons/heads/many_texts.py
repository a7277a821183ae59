"""What heads do over many texts: stories with gold labels, or a visitor's own list and rule."""

from __future__ import annotations

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, read, result_of
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.heads import behaviour
from explorer.app.lessons.heads import questions as lesson
from explorer.app.notice import notice
from explorer.errors import ExplorerError
from explorer.records.slices import RULES, slice_of
from explorer.views import VIEWS

LETTERS = 20_000  # of a visitor's list
TEXTS, SENTENCES, MOST = 24, 5, 100  # stories, sentences of each, and texts of a visitor's list that are read


def habits(name: str, seed: int = lesson.CHOSEN) -> Call:
    """What the heads do over stories that were not in the training data."""
    return Call(ex.head_statistics, model_of(name), Call(ex.microworld.openings, TEXTS, seed, "test", sentences=SENTENCES))


def show_many_texts(name: str) -> None:
    """The stories of the corpus, or the visitor's texts that a rule takes."""
    main, own = st.container(), st.container()
    with own, st.expander("Your own texts", key="many.own"):
        written = st.text_area("One text on each line", key="many.texts", height=120, max_chars=LETTERS)
        rule = st.text_input("Only those with (empty: all)", key="many.rule", bind="query-params", placeholder=RULES)
    if texts := [line.strip() for line in written.splitlines() if line.strip()]:
        with main:
            _of_list(name, texts, rule)
        return
    known = result_of(habits(name))
    with main:
        web.show(VIEWS["habits"], habits(name))
        if known.pronouns:
            say(lesson.coreference(known, result_of(habits(name, lesson.MEASURED)), behaviour.supervised(name)))


def _of_list(name: str, texts: list[str], rule: str) -> None:
    """The same measures over a visitor's texts, without those that need gold labels."""
    try:
        taken = [text for text, inside in zip(texts, slice_of(rule, texts), strict=True) if inside] if rule.strip() else texts
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return
    if not taken:
        st.info(f"None of these {len(texts)} texts fits the rule.")
        return
    read_now = taken[:MOST]
    left = f" The first {MOST} are read." if len(taken) > MOST else ""
    st.caption(f"{len(taken)} of {len(texts)} texts.{left} Pronouns are not measured: your texts have no gold labels.")
    notice(" ".join(read_now), name, whole=False)
    call = Call(ex.head_statistics, model_of(name), read_now)
    read(call)
    web.show(VIEWS["habits"], call, key="own")
