"""Lesson 2, one pair of words: word2vec's network from one-hot to softmax, and the cell of the table that GloVe fits."""

from __future__ import annotations

from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, result_of
from explorer.app.glossary import say
from explorer.app.lessons.vectors import networks_questions as lesson
from explorer.app.lessons.vectors import parts as lab
from explorer.app.prose import prose
from explorer.training.corpora import STORIES
from explorer.views import VIEWS

PROSE = prose("vectors")


def network(word: str, near: str) -> Call:
    """A pair in the network of skip-gram."""
    return Call(ex.analysis.skipgram_network, model_of("word2vec"), *(lab.spoken("word2vec", typed) for typed in (word, near)))


def row(word: str, near: str) -> Call:
    """A pair in the table of counts, as if all stories of the training had been counted."""
    words = (lab.spoken("glove", typed) for typed in (word, near))
    return Call(ex.analysis.glove_row, model_of("glove"), *words, lab.examples("glove"), scale=STORIES / lab.TEXTS)


def word_pair(key: str, first: tuple[str, str]) -> tuple[str, str]:
    """The pair of words that the visitor chose."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        word = st.text_input("Centre word", first[0], key=f"{key}.word", bind="query-params", width=200)
        near = st.text_input("Context word", first[1], key=f"{key}.near", bind="query-params", width=200)
    return word, near


def of_word2vec() -> None:
    """The network, after a guess."""
    say(PROSE("network"))
    call = partial(network, *word_pair("network", lesson.PAIR))
    question = lesson.used_question(result_of(network(*lesson.PAIR)))
    if lab.tried(call) is not None:
        web.show(VIEWS["skipgram-network"], call(), question=(question, "guess.network"))


def of_glove() -> None:
    """The weight f(X) of a pair, and how well its row is fitted."""
    say(PROSE("weight", stories=STORIES, texts=lab.TEXTS))
    call = partial(row, *word_pair("cell", lesson.CELL))
    if lab.tried(call) is not None:
        web.show(VIEWS["glove-weight"], call())
