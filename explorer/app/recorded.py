"""Recorded results: small trainings that were measured before, with the caution that belongs to each."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from explorer import library
from explorer.lessons import training
from explorer.records import Abilities
from explorer.shells import web
from explorer.views import VIEWS

START = "import explorer as ex\nfrom explorer import library\n"


def there(name: str) -> bool:
    """Whether this result was measured."""
    return (library.data_folder() / "results" / name).exists()


def show(said: Mapping[str, str]) -> None:
    """Recorded results by name, each with what has to be said beside it; those that were not measured are left out."""
    for name, words in said.items():
        if there(name):
            code = f"{START}trace = library.result({name!r})"
            web.show(VIEWS["curves"], library.result(name), code=code, key=name, beside=partial(_say, words))


def abilities() -> None:
    """What models can do that read the same stories but were asked for something else, or how that is measured."""
    st.markdown(
        "Four small models read the same stories in the same order; they differ in what they were asked. Afterwards each is put the same "
        "questions about new stories, as far as it can be asked at all. *Signal* is the share of the pieces that training asked about."
    )
    if not there("objectives"):
        st.info("Not measured yet: `python -m explorer.experiments.objectives` trains them, and keeps the record.")
        return
    measured = library.recorded("objectives", Abilities)
    st.markdown(training.able(measured))
    asked = ", ".join(f"{name} {count}" for name, count in zip(measured.abilities, measured.questions, strict=True))
    st.caption(
        f"Exactly right answers in per cent, with the 95 % interval over the seeds. {measured.note}; about {measured.pieces.max():,.0f} "
        f"pieces read by each. Questions: {asked}. Measure again: `python -m explorer.experiments.objectives`."
    )
    st.markdown(training.ABLE)


def _say(words: str, chosen: dict[str, Any]) -> None:
    st.markdown(words)
