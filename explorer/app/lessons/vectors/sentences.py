"""Lesson 2, vectors of whole sentences: the visitor's own by every way, and how well each way ranks new ones."""

from __future__ import annotations

from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import recorded, web
from explorer.app.call import Call
from explorer.app.controls import model_of, result_of
from explorer.app.glossary import say
from explorer.app.lessons.vectors import sentences_questions as lesson
from explorer.app.lessons.vectors.parts import tried
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.records import Ranked
from explorer.training.finetune import sentences
from explorer.views import VIEWS

NAME = "sentence-bert"
ASKED = (
    ("word2vec", "mean of words"), ("glove", "mean of words"), ("bert", "[CLS]"), ("bert", "mean of tokens"), ("elmo", "both ends"),
    ("elmo", "mean of tokens"), (NAME, "mean of tokens"),
)  # fmt: skip


def alike(texts: str) -> Call:
    """The cosine of every two of the lines, by each method."""
    ways = [(way, Call(ex.training.sentence_bert) if name == NAME else model_of(name)) for name, way in ASKED]
    return Call(ex.training.likeness, texts.splitlines(), ways)


def first() -> Call:
    """The record of the sentences that the lesson opens with."""
    return alike("\n".join(lesson.TEXTS))


def recorded_ranking() -> Ranked:
    """What was measured."""
    ranked: Ranked = result_of(recorded.call(sentences.HOME))
    return ranked


def show_sentences() -> None:
    """One vector for a whole sentence, of the visitor's own sentences."""
    say(prose("vectors")("sentences"))
    with st.container(horizontal=True):
        st.latex(r"\mathrm{softmax}(W\,[u;\ v;\ |u-v|])", width=260)
        st.latex(r"\text{or}\quad (\cos(u, v) - \mathrm{grade})^2", width=260)
    texts = st.text_area(
        "Your sentences, one on each line", "\n".join(lesson.TEXTS), height=150, key="sentences", bind="query-params"
    )
    record = tried(partial(alike, texts))
    notice(" ".join(texts.split()), *dict.fromkeys(name for name, _ in ASKED if name != NAME), whole=False)
    if record is not None:
        question = lesson.turned_question(result_of(first()))
        web.show(VIEWS["sentence-likeness"], alike(texts), question=(question, "guess.turned"))


def ranking() -> None:
    """The recorded ranking of the ways."""

    def grades() -> None:
        """The pairs behind the table."""
        web.show(VIEWS["sentence-grades"], recorded.call(sentences.HOME))
        recorded.again(sentences.HOME, "sentences")

    question = (lesson.best_question(recorded_ranking()), "guess.best")
    web.show(VIEWS["sentence-ways"], recorded.call(sentences.HOME), question=question, below=grades)
