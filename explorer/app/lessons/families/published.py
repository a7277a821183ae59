"""Published models: their parameters by the formula, an RNN beside a Transformer, and what the first Transformers reached."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

import explorer as ex
from explorer.analysis.parameters import Count, counts, total
from explorer.app import recorded, web
from explorer.app.call import Call
from explorer.app.controls import model_of, read, result_of
from explorer.app.glossary import say
from explorer.app.lessons.families import published_questions as lesson
from explorer.app.prose import prose
from explorer.models.factory import configure
from explorer.nn.config import Config
from explorer.views import VIEWS

PROSE = prose("families")

TEXTS = 6
COPYING = "copying"
LAYERS, WIDTHS, VOCABULARY = (1, 200), (64, 16_384), (100, 300_000)


def shape_of(name: str) -> Config:
    """The shape of a published model."""
    preset, vocabulary, changed = lesson.PUBLISHED[name]
    config = configure(preset, "base", vocabulary, **changed)
    assert isinstance(config, Config)
    return config


@lru_cache(maxsize=8)
def counted(preset: str, vocabulary: int, layers: int, width: int) -> tuple[tuple[tuple[str, Count], ...], int]:
    """The parameters of every block of such a model, and all together."""
    usual = configure(preset, "base", vocabulary)
    assert isinstance(usual, Config)
    changed: dict[str, int] = {"layers": layers}
    if width != usual.dim:
        changed |= {
            "dim": width,
            "hidden": width * usual.hidden // usual.dim,
            "heads": max(n for n in (1, 2, 4, 8, 12, 16, 32) if width % n == 0),
        }
    config = configure(preset, "base", vocabulary, **changed)
    assert isinstance(config, Config)
    return tuple(counts(config)), total(config)


@st.fragment
def counter() -> None:
    """Choose a published model, change its size, and see where its parameters are."""
    say(PROSE("counter"))
    name = st.selectbox("Published model", list(lesson.PUBLISHED), key="published", bind="query-params", width=300)
    preset, vocabulary, _ = lesson.PUBLISHED[name]
    usual = shape_of(name)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        layers = int(st.number_input("Layers", *LAYERS, usual.layers, key=f"layers.{name}", bind="query-params", width=180))
        width = int(st.number_input("Width d", *WIDTHS, usual.dim, 64, key=f"width.{name}", bind="query-params", width=200))
        words = int(
            st.number_input("Vocabulary |V|", *VOCABULARY, vocabulary, 100, key=f"words.{name}", bind="query-params", width=260)
        )
    rows, whole = read(lambda: counted(preset, words, layers, width))
    st.table(
        [
            {"part": block, "parameters": f"{count:,}", "formula": formula}
            for block, (count, formula) in rows
            if count or formula
        ]
    )
    say(f"**{whole:,} parameters** in all: {4 * whole / 1e9:.2f} GB in float32, and four times as much while Adam trains them.")
    say(PROSE("counter: conclusion"), small=True)


@st.fragment
def recurrent() -> None:
    """An RNN and a Transformer, by the length of the text."""
    say(PROSE("recurrent"))
    ways = {"How far back": reaching, "First results": first_results, "Repeating a token": repeating}
    web.one_of("Look at", ways, "recurrent.shows")


def reaching() -> None:
    """How many steps lie between two tokens, and how far back both reach, measured now."""
    call = Call(
        ex.analysis.reach, [model_of(name) for name in ("elmo", "gpt2")], Call(ex.microworld.texts, TEXTS, 1, "validation")
    )

    say(PROSE("reach"))
    web.show(VIEWS["curves"], call, key="reach", question=(lesson.steps_question(), "guess.steps"))


def repeating() -> None:
    """How far back each can repeat a token."""
    st.subheader("How far back can each repeat a token?", anchor=False)
    say(PROSE("copying"))
    measured = recorded.call(COPYING)
    recorded.guessed(lesson.copying_question(result_of(measured)), "guess.copying", {COPYING: PROSE("copying: conclusion")})


def first_results() -> None:
    """What the first Transformers reached."""
    st.subheader("What the first Transformers reached", anchor=False)
    say(lesson.reached())
    say(lesson.may_conclude())
