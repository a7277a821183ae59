"""Lesson 2, vectors of whole sentences: the visitor's own by every way, and how well each way ranks new ones."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from explorer import library
from explorer.lessons import sentences as lesson
from explorer.library import models
from explorer.pages.parts import recorded
from explorer.pages.parts.opening import opened
from explorer.pages.parts.vectors import tried
from explorer.records import Ranked
from explorer.shells import web
from explorer.shells.lesson import predict
from explorer.tasks import sentences
from explorer.views import VIEWS

NAME = "sentence-bert"
ASKED = (
    ("word2vec", "mean of words"), ("glove", "mean of words"), ("bert", "[CLS]"), ("bert", "mean of pieces"), ("elmo", "both ends"),
    (NAME, "mean of pieces"),
)  # fmt: skip


@st.cache_resource(show_spinner="Opening Sentence-BERT …")
def sentence_bert() -> Any:
    """The trained Sentence-BERT, once for every visitor."""
    return sentences.sentence_bert()


def there() -> tuple[tuple[str, str], ...]:
    """The ways whose models can be opened here."""
    shelf = {*models(), *((NAME,) if recorded.there(f"{sentences.HOME}/model") else ())}
    return tuple((name, way) for name, way in ASKED if name in shelf)


@st.cache_resource(max_entries=100, show_spinner="Reading the sentences …")
def alike(texts: str) -> Any:
    """How alike each way makes every two of the lines."""
    held = [(way, sentence_bert() if name == NAME else opened(name)) for name, way in there()]
    return sentences.likeness(texts.splitlines(), held)


def code(texts: str) -> str:
    """The Python that makes the same record."""
    own = [name for name, _ in there() if name != NAME]
    named = f"models = {{name: ex.load(name) for name in {tuple(dict.fromkeys(own))!r}}}\n"
    if len(own) < len(there()):
        named += f"models[{NAME!r}] = sentences.sentence_bert()\n"
    asked = (
        f"texts = {texts.splitlines()!r}\ntrace = sentences.likeness(texts, [(way, models[name]) for name, way in {there()!r}])"
    )
    return f"import explorer as ex\nfrom explorer.tasks import sentences\n{named}{asked}"


def first() -> Any:
    """The record of the sentences that the lesson opens with."""
    return alike("\n".join(lesson.TEXTS))


def measured() -> Ranked | None:
    """What was measured, if it was."""
    return library.recorded(sentences.HOME, Ranked) if recorded.there(f"{sentences.HOME}/record.npz") else None


def section() -> None:
    """One vector for a whole sentence: the visitor's own, then the recorded ranking."""
    st.header("A vector for a sentence", divider="blue")
    st.markdown(
        "A sentence needs one vector too, if sentences are to be compared or found. One can take the **mean** of its words' vectors, "
        "BERT's **[CLS]** or the mean of its states, or the two states of **ELMo** that have read everything, $[b_{y_0}; f_{y_n}]$. "
        "None of them was ever asked whether two sentences mean the same. **Sentence-BERT** is: both sentences go through the *same* "
        "BERT, $u$ and $v$ are the means of its states, and all of its weights learn."
    )
    with st.container(horizontal=True):
        st.latex(r"\mathrm{softmax}(W\,[u;\ v;\ |u-v|])", width=260)
        st.latex(r"\text{or}\quad (\cos(u, v) - \mathrm{grade})^2", width=260)
    texts = st.text_area(
        "Your sentences, each on a line of its own", "\n".join(lesson.TEXTS), height=150, key="sentences", bind="query-params"
    )
    found = tried(partial(alike, texts))

    def show_own() -> None:
        """The visitor's sentences by one way after the other."""
        if found is not None:
            web.show(VIEWS["sentence-likeness"], found, code=code(texts))

    predict(lesson.turned_question(first()), "guess.turned", show_own)
    ranked = measured()
    if ranked is None:
        st.info("Not measured yet: `python -m explorer.experiments.sentences` trains Sentence-BERT and compares all ways.")
        return

    def show_ranked() -> None:
        """The table drawn, and the pairs behind it."""
        made = f"{recorded.START}from explorer.records import Ranked\ntrace = library.recorded({sentences.HOME!r}, Ranked)"
        web.show(VIEWS["sentence-ways"], ranked, code=made)
        web.show(VIEWS["sentence-grades"], ranked, code=made)
        st.caption("Measure again: `python -m explorer.experiments.sentences`; the card in `data/results/sentences` says how.")

    predict(lesson.best_question(ranked), "guess.best", show_ranked)
