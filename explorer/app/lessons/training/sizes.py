"""Learning rates and losses of larger models, after a guess."""

from __future__ import annotations

import streamlit as st

from explorer.app import recorded
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.lessons.training import sizes_questions as lesson
from explorer.app.prose import prose


def show_sizes() -> None:
    """Whether a rate serves another size, and what the larger one learns from the same text."""
    say(prose("training")("sizes"))
    family = st.segmented_control(
        "Family", lesson.FAMILIES, default=lesson.FAMILIES[0], required=True, key="sizes", bind="query-params"
    )
    names = [f"{what}-{family}" for what in ("rates", "sizes")]
    rates, losses = (result_of(recorded.call(name)) for name in names)
    notes = dict(zip(names, (lesson.off_the_best(rates), lesson.at_the_end(losses)), strict=True))
    recorded.guessed(lesson.rate_question(rates), f"guess.sizes.{family}", notes)
