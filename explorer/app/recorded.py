"""Recorded results: small trainings that were measured before, with the caution that belongs to each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

import explorer as ex
from explorer.app import core, guessing, present, web
from explorer.app.call import Call
from explorer.app.glossary import say
from explorer.app.lessons.training import questions
from explorer.app.prose import prose
from explorer.models import results, store
from explorer.models.card_figures import shipped_figures
from explorer.records import Abilities, Exercise
from explorer.views import VIEWS


def call(name: str, part: str = "record") -> Call:
    """The call that reads a result."""
    return Call(ex.result, name) if part == "record" else Call(ex.result, name, part)


def again(name: str, study: str) -> None:
    """How a result is measured again: by which study, with what asked of it; not in the core hour."""
    if not core.on():
        st.caption(f"Measure again: `python -m studies.{study}`; the card in `data/results/{name}` says how.")


def show(texts: Mapping[str, str]) -> None:
    """Recorded results by name, each with what has to be said beside it."""
    for name, words in texts.items():
        web.show(VIEWS["curves"], call(name), key=name, beside=partial(_say, words) if words else None)


def guessed(question: Exercise, key: str, texts: Mapping[str, str]) -> None:
    """Recorded results with a question about them beside the first; what has to be said waits for its answer."""
    first, *others = texts

    def below() -> None:
        if not present.on():
            guessing.conclusion(key, texts[first])
        for name in others:
            web.show(VIEWS["curves"], call(name), key=name, beside=partial(_conclude, key, texts[name]))

    seen = partial(_conclude, key, texts[first]) if present.on() else None  # a room sees it beside the picture
    web.show(VIEWS["curves"], call(first), key=first, question=(question, key), beside=seen, below=below)


def abilities() -> None:
    """What models can do that read the same stories but were asked for something else."""
    say(
        "Four small models read the same stories in the same order; they differ in their training objective. Afterwards each gets the same "
        "tasks on new stories, where its output allows it. *Signal* is the share of the tokens that enter the training loss."
    )
    measured = results.recorded("objectives", Abilities)
    say(questions.able(measured))
    counts = ", ".join(f"{name} {count}" for name, count in zip(measured.abilities, measured.questions, strict=True))
    st.caption(
        f"Exactly right answers in percent, with the 95% interval over the seeds. {measured.note}; about {measured.pieces.max():,.0f} "
        f"tokens read by each. Questions: {counts}. Measure again: `python -m studies.objectives`."
    )
    say(prose("training")("abilities: conclusion"))
    if figures := shipped_figures(store.data_folder() / "models" / "bert"):
        say(questions.longer(figures))


def _say(words: str, chosen: dict[str, Any]) -> None:
    say(words)


def _conclude(key: str, words: str, chosen: dict[str, Any]) -> None:
    guessing.conclusion(key, words)
