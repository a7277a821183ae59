"""Objectives beside masking: two texts with their segments (NSP, SOP), pairs asked of BERT, and a span from its borders (SBO)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import model_of, opened, read
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.corruption import parts as lab
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models
from explorer.views import VIEWS, theme

PROSE = prose("corruption")

SHARE = 0.3  # of a short text
JUDGES, NEXT = "bert", "nsp accuracy"  # the model with an output layer for pairs; a figure of its card
LATE = "After such a late night working on my project, it was hard to wake up this morning!"
ASKED: tuple[tuple[str, str, str, str], ...] = (  # slide, A, B, label
    ("L0", "The man went to the store.", "He bought a gallon of milk.", "follows"),
    ("L0", "The man went to the store.", "Penguins are flightless.", "random"),
    ("L2", LATE, "I did though, because I had to give my project presentation.", "follows"),
    ("L2", LATE, "A winter storm warning has been issued for your area.", "random"),
)
OWN = ("The dog was thirsty.", "It drank some water.")


def spans_of(text: str, seed: int) -> Call:
    """Hidden spans of a text, and what SpanBERT's two output layers predict for them."""
    spanbert = model_of("spanbert")
    hidden = Call(ex.corrupt, text, "spanbert", tokenizer=spanbert.attr("tokenizer"), rate=SHARE, seed=seed)
    return Call(ex.analysis.guess_spans, spanbert, hidden)


def show_text_pairs(name: str, text: str, seed: int, several: bool) -> None:
    """Both objectives on the visitor's text, where it has several sentences; pairs asked of BERT; and the borders of spans."""
    ways: dict[str, Callable[[], object]] = {
        "A pair of your own": show_asked,
        "Borders of a span": partial(_borders, text, seed),
    }
    if several:
        ways = {"Two texts": partial(_two_texts, name, text, seed), **ways}
    web.one_of("Look at", ways, "pairs.look")


def _two_texts(name: str, text: str, seed: int) -> None:
    say(PROSE("two texts"))
    which = st.segmented_control("Pair", ("nsp", "sop"), default="nsp", required=True, key="pair", bind="query-params")
    pair = lab.corrupted(name, text, which, seed)
    read(pair)
    web.show(VIEWS["two-texts"], pair, key="pair")


def _borders(text: str, seed: int) -> None:
    say(PROSE("borders"))
    read(spans_of(text, seed))
    web.show(VIEWS["boundaries"], spans_of(text, seed), key="borders")


def show_asked() -> None:
    """The lectures' pairs and one of the visitor's, with the probability that the second text follows."""
    say(PROSE("next", model=JUDGES))
    with st.container(horizontal=True):
        first, second = (
            st.text_input(f"Text {label}", text, key=f"next.{label}", bind="query-params", width=400)
            for label, text in zip("AB", OWN, strict=True)
        )
    notice(f"{first} {second}", JUDGES, whole=False)
    st.table([asked("yours", first, second, "–"), *(asked(*each) for each in ASKED)])
    right = shipped_figures(models()[JUDGES].folder).get(NEXT)
    say(
        " ".join([PROSE("next: conclusion", model=JUDGES), *([PROSE("next: in stories", right=right)] if right else [])]),
        small=True,
    )


def asked(slide: str, first: str, second: str, label: str) -> Mapping[str, str]:
    """A pair with the label of its slide, and what BERT predicts."""
    share = read(Call(ex.analysis.text_follows, model_of(JUDGES), first, second))
    return {"slide": slide, "A": daggered(first), "B": daggered(second), "label": label, "P(B follows A)": f"{share:.2f}"}


def daggered(text: str) -> str:
    """A text with a dagger behind each word that BERT's training texts never had."""
    for _, end in sorted(opened(JUDGES).tokens(text).unseen_spans, reverse=True):
        text = text[:end] + theme.UNSEEN + text[end:]
    return plain(text)
