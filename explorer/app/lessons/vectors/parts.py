"""The records of the lesson on vectors, made once for every visitor, and the Python that makes them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st

from explorer import neighbours
from explorer.errors import ExplorerError, TextError
from explorer.library import models
from explorer.measuring import analogies
from explorer.pages.parts.opening import opened
from explorer.shells.lesson import plain
from explorer.text.microworld import stories
from explorer.text.microworld.relations import relations
from explorer.training import contexts
from explorer.training.nearness import Told
from explorer.training.stories import prepared

NAMES, TEXTS = ("word2vec", "glove"), 3000
COUNTED = (
    "from explorer.text.microworld import stories\nfrom explorer.training import contexts\nfrom explorer.training.nearness import Told\n"
    f"from explorer.training.stories import prepared\ntexts = prepared(list(stories({TEXTS}, 1)), model.tokenizer)\n"
)


def trained() -> bool:
    """Whether both models lie on the shelf."""
    return all(name in models() for name in NAMES)


def shelf() -> list[str]:
    """Every model on the shelf that has one vector a word, the shipped ones first."""
    own = [name for name, held in models().items() if held.about()["preset"] in NAMES]
    return sorted(own, key=lambda name: (name not in NAMES, name != NAMES[0]))


def start(name: str, more: str = "") -> str:
    """The Python that opens the same model."""
    return f"import explorer as ex\nfrom explorer import neighbours\n{more}model = ex.load({name!r})\n"


def tried(make: Callable[[], Any]) -> Any:
    """What `make` makes; where it cannot, this place of the page says why, and the page goes on."""
    try:
        return make()
    except ExplorerError as error:
        st.warning(plain(str(error)))
        return None


def spoken(name: str, typed: str) -> str:
    """A word as the model knows it: as it was typed, or with small letters."""
    word = typed.strip()
    if not word:
        raise TextError("There is no word. Give one.")
    core = opened(name).tokenizer.core
    return word if core.token_to_id(word) is not None else word.lower()


@st.cache_resource(max_entries=4, show_spinner="Reading stories …")
def told(name: str) -> Told:
    """The first texts that the model learned from, in its own words."""
    pieces = opened(name).tokenizer
    return Told(prepared(list(stories(TEXTS, 1)), pieces), pieces.vocabulary.size)


@st.cache_resource(max_entries=100, show_spinner="Drawing pairs …")
def drawn(text: str, seed: int) -> Any:
    """The pairs of one text, and what word2vec makes of them."""
    return contexts.drawn(opened("word2vec"), text, told("word2vec"), seed=seed)


@st.cache_resource(max_entries=200)
def near(name: str, word: str, top: int = 12) -> Any:
    """What lies near a word."""
    return neighbours.neighbours(opened(name), spoken(name, word), top=top)


@st.cache_resource(max_entries=200)
def analogy(name: str, a: str, b: str, c: str, forbid: bool) -> Any:
    """What lies near b − a + c."""
    words = [spoken(name, word) for word in (a, b, c)]
    return neighbours.analogy(opened(name), *words, top=8, forbid=forbid)


@st.cache_resource(max_entries=10, show_spinner="Asking every analogy …")
def solved(name: str) -> Any:
    """Every analogy that the microworld knows the answer of."""
    return analogies.solved(opened(name))


@st.cache_resource(max_entries=50, show_spinner="Counting …")
def ratios(name: str, a: str, b: str) -> Any:
    """Ratios of counts, and as the vectors have them."""
    return contexts.ratios(opened(name), spoken(name, a), spoken(name, b), told(name))


def known_pairs(name: str, relation: str, most: int = 12) -> tuple[tuple[str, str], ...]:
    """The first pairs of a relation of which the model knows both words."""
    core = opened(name).tokenizer.core
    held = [pair for pair in relations()[relation] if all(core.token_to_id(word) is not None for word in pair)]
    return tuple(held[:most])


@st.cache_resource(max_entries=50)
def plane(name: str, relation: str) -> Any:
    """The pairs of a relation on a plane."""
    return neighbours.plane(opened(name), known_pairs(name, relation), relation=relation)


@st.cache_resource(show_spinner="Reading both sentences …")
def uses(name: str, word: str, texts: tuple[str, str]) -> np.ndarray:
    """How alike a word's vectors are in two texts, by layer."""
    return neighbours.two_uses(opened(name), word, texts)
