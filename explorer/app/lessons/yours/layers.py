"""Your model: which layers of two models are alike, and the words of stories in the space of a layer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import present, web
from explorer.app.call import Call
from explorer.app.controls import attentive, model_of, one_of, opened, read, result_of
from explorer.app.glossary import say
from explorer.app.lessons.yours import layers_questions as lesson
from explorer.app.lessons.yours.twin import twin_of
from explorer.app.prose import prose
from explorer.models.presets import PRESETS
from explorer.views import VIEWS

PROSE = prose("yours")

TEXTS, SENTENCES = 16, 4
TWIN = "its random twin"
FIRST = "bert"


def stories() -> Call:
    """Openings of stories that were not in the training data, with gold labels."""
    return Call(ex.microworld.openings, TEXTS, 7, "test", sentences=SENTENCES)


def alike(first: str, second: str) -> Call:
    """CKA of the layers of two models; the second may be the random twin of the first."""
    other = twin_of(first) if second == TWIN else model_of(second)
    return Call(ex.analysis.cka, model_of(first), other, stories())


def twin_likeness() -> Any:
    """What the question is about: a shipped model beside its random twin and beside itself."""
    return result_of(alike(FIRST, TWIN))


def show_likeness(names: Sequence[str]) -> None:
    """Two models, and how alike their layers are, after a guess."""
    if not present.on():
        say(PROSE("alike"))
    offered = [*dict.fromkeys([*names, *_readers()])]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = one_of("First model", offered, "alike.first", names[0])
        twin = [TWIN] if getattr(read(partial(opened, first)), "preset", "") in PRESETS else []
        second = one_of("Second model", [*offered, *twin], "alike.second", names[-1])
    call = alike(first, second)
    read(call)
    web.show(VIEWS["cka"], call, question=(lesson.twin_question(twin_likeness()), "guess.alike"))


def show_space(names: Sequence[str]) -> None:
    """The words of stories in one layer of a model."""
    if not present.on():
        say(PROSE("space"))
    name = one_of("Model", [*dict.fromkeys([*names, *_readers()])], "space.model", names[0])
    call = Call(ex.analysis.word_states, model_of(name), stories())
    read(call)
    web.show(VIEWS["word-space"], call)


def _readers() -> list[str]:
    """The models on the shelf that give each word of a text a state."""
    return [*attentive(), "elmo"]
