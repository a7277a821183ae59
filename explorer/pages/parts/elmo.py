"""The records of the ELMo lab, made once for every visitor, and the Python that makes them again."""

from __future__ import annotations

from itertools import islice
from typing import Any

import streamlit as st

from explorer import directions
from explorer.library import models
from explorer.loading import build
from explorer.pages.parts.opening import opened
from explorer.text.classroom import toys
from explorer.text.learning import tokenizer
from explorer.text.microworld import labelled
from explorer.tracing import trace

USES = 60
NEW = "ex.build('elmo', tokenizer=ex.tokenizer('characters', toys(), size=4000), device='cpu')"


def trained() -> bool:
    """Whether a trained ELMo lies on the shelf."""
    return "elmo" in models()


@st.cache_resource(show_spinner="Opening ELMo …")
def elmo() -> Any:
    """The trained model; where there is none, one that has learned nothing, of which the page says so."""
    if trained():
        return opened("elmo")
    return build("elmo", tokenizer=tokenizer("characters", toys(), size=4000), device="cpu")


def start(more: str = "") -> str:
    """The Python that opens the same model."""
    if trained():
        return f"import explorer as ex\n{more}elmo = ex.load('elmo')\n"
    return f"import explorer as ex\nfrom explorer.text.classroom import toys\n{more}elmo = {NEW}\n"


@st.cache_resource(max_entries=100, show_spinner="Reading …")
def traced(text: str) -> Any:
    """One forward pass in both directions."""
    return trace(elmo(), text)


@st.cache_resource(max_entries=100)
def found(word: str) -> Any:
    """What the letter filters find in a word."""
    return directions.filters(elmo(), word)


@st.cache_resource(max_entries=100, show_spinner="Reading …")
def expected(text: str) -> Any:
    """What both directions expect at every word."""
    return directions.both_sides(elmo(), text)


@st.cache_resource(max_entries=20, show_spinner="Reading stories …")
def used(word: str) -> Any:
    """A word in many stories, each with its gold sense."""
    return directions.contexts(elmo(), word, tuple(islice(uses(word), USES)))


def uses(word: str) -> Any:
    """Sentences of new stories in which a word of several senses stands, from where it begins, with its sense."""
    for story in labelled(3000, 7, "validation"):
        begin = 0
        for number, sentence in enumerate(story.sentences):
            for label in story.words:
                if label.sentence == number and label.sense.partition(".")[0] == word and label.text == word:
                    yield sentence, label.start - begin, label.sense
            begin += len(sentence) + 1
