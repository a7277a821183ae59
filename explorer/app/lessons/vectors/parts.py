"""The records of the lesson on vectors, as calls that the page runs and prints."""

from __future__ import annotations

from collections.abc import Callable
from html import unescape
from typing import Any

import numpy as np
import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, result_of
from explorer.app.exercises import plain
from explorer.app.frame import choose
from explorer.app.glossary import lead, say
from explorer.app.guessing import after_answer
from explorer.app.lessons.vectors import questions as lesson
from explorer.app.prose import prose
from explorer.errors import ExplorerError, TextError
from explorer.microworld.relations import relations
from explorer.models.store import models
from explorer.views import VIEWS

PROSE = prose("vectors")

NAMES, TEXTS, USES = ("word2vec", "glove"), 3000, 40
READERS = ("elmo", "bert", "gpt2", "roberta", "deberta")  # those whose vectors depend on the context


def shelf() -> list[str]:
    """Every model on the shelf that has one vector a word, the shipped ones first."""
    own = [name for name, stored in models().items() if stored.about()["preset"] in NAMES]
    return sorted(own, key=lambda name: (name not in NAMES, name != NAMES[0]))


def tried(make: Callable[[], Any]) -> Any:
    """What the call makes that `make` gives; where it cannot, the page says why here and goes on."""
    try:
        return result_of(make())
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return None


def spoken(name: str, typed: str) -> str:
    """A word as the model knows it: as it was typed, or with small letters."""
    word = typed.strip()
    if not word:
        raise TextError("The box is empty. Write a word.")
    core = opened(name).tokenizer.core
    return word if core.token_to_id(word) is not None else word.lower()


def examples(name: str) -> Call:
    """The first training texts of the model, as its token ids."""
    texts = Call(list, Call(ex.microworld.stories, TEXTS, 1))
    return Call(ex.text.counted_examples, texts, model_of(name).attr("tokenizer"))


def drawn(text: str, seed: int) -> Call:
    """The pairs of one text, and what word2vec makes of them."""
    return Call(ex.analysis.skipgrams, model_of("word2vec"), text, examples("word2vec"), seed=seed)


def near(name: str, word: str, top: int = 12) -> Call:
    """The nearest neighbours of a word."""
    return Call(ex.analysis.neighbours, model_of(name), spoken(name, word), top=top)


def to_neighbours(point: dict[str, Any]) -> None:
    """Go to the neighbours of the word whose dot was clicked."""
    if isinstance(word := point.get("customdata"), str):
        st.session_state["word"] = unescape(word)
        choose("neighbours")


def analogy(name: str, a: str, b: str, c: str, forbid: bool) -> Call:
    """The nearest neighbours of b − a + c."""
    words = [spoken(name, word) for word in (a, b, c)]
    return Call(ex.analysis.analogy, model_of(name), *words, top=8, forbid=forbid)


def solved(name: str) -> Call:
    """Every analogy that the microworld knows the answer of."""
    return Call(ex.analysis.solve_analogies, model_of(name))


def ratios(name: str, a: str, b: str) -> Call:
    """Ratios of counts, and as the vectors have them."""
    return Call(ex.analysis.count_ratios, model_of(name), spoken(name, a), spoken(name, b), examples(name))


def known_pairs(name: str, relation: str, most: int = 12) -> tuple[tuple[str, str], ...]:
    """The first pairs of a relation of which the model knows both words."""
    core = opened(name).tokenizer.core
    pairs = [pair for pair in relations()[relation] if all(core.token_to_id(word) is not None for word in pair)]
    return tuple(pairs[:most])


def offered(name: str) -> tuple[list[str], str]:
    """The relations of which the model knows two pairs, and the one that the plane opens with."""
    known = [relation for relation in relations() if len(known_pairs(name, relation)) > 1]
    return known, lesson.PARALLEL if lesson.PARALLEL in known else known[0]


def plane(name: str, relation: str) -> Call:
    """The pairs of a relation on a plane."""
    return Call(ex.analysis.plane, model_of(name), known_pairs(name, relation), relation=relation)


def uses(name: str, word: str, texts: tuple[str, str]) -> np.ndarray:
    """The cosine of a word's vectors in two texts, by layer."""
    return result_of(Call(ex.analysis.two_uses, model_of(name), word, texts))


def in_context(name: str, word: str) -> Call:
    """A word in many sentences of stories, each with its gold sense."""
    return Call(ex.analysis.contexts, model_of(name), word, Call(ex.microworld.uses, word, USES))


@st.fragment
def many_contexts() -> None:
    """The vectors of one word in many sentences, layer by layer, in a model of the visitor's choice."""
    say_rest = lead(PROSE("contexts"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.segmented_control(
            "Model", READERS, default=READERS[0], required=True, key="contexts.model", bind="query-params"
        )
        word = st.segmented_control(
            "Word", lesson.AMBIGUOUS, default="bat", required=True, key="contexts.word", bind="query-params"
        )
    web.show(VIEWS["contexts"], in_context(name, word))
    say_rest()


def one_vector() -> None:
    """A word in two sentences, in models with one vector a word and with one for each use."""
    cosines = {model: uses(model, lesson.SENSE, lesson.SENSES) for model in (*NAMES, "gpt2", "bert")}

    def show_uses() -> None:
        say(lesson.by_layer(cosines))
        st.caption(PROSE("two senses: conclusion", word=lesson.SENSE))

    after_answer(lesson.sense_question(cosines), "guess.sense", show_uses)
