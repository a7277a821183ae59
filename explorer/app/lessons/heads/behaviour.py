"""What a model does beside what one of its heads attends to: pronouns with a reason, after a guess."""

from __future__ import annotations

import streamlit as st

from explorer.app.exercises import predict
from explorer.app.glossary import say
from explorer.app.lessons.heads import behaviour_questions as lesson


def section() -> None:
    """The text, the guess, and the table."""
    found = lesson.measured()
    if not any(not taught for *_, taught in found.values()):
        st.info("No model here was measured on such pairs. `python -m explorer.studies.recipes` measures the shipped ones.")
        return
    say(lesson.SAYS)

    def table() -> None:
        """Both figures of every model."""
        st.table(lesson.rows(found))
        say(lesson.CONCLUDE)

    predict(lesson.head_question(found), "guess.behaviour", table)
