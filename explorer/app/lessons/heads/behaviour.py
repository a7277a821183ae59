"""What a model does beside what one of its heads attends to: pronouns with a reason, after a guess."""

from __future__ import annotations

from functools import partial

import streamlit as st

from explorer.app import recorded, web
from explorer.app.brought import offered_models
from explorer.app.controls import result_of
from explorer.app.glossary import say
from explorer.app.guessing import after_answer, conclusion
from explorer.app.lessons.heads import behaviour_questions as lesson
from explorer.app.prose import prose
from explorer.models import run_folder
from explorer.views import VIEWS

PROSE = prose("heads")

SEARCH = "heads-bert"


def supervised(name: str) -> bool:
    """Whether a head was trained with gold labels to point at antecedents."""
    stored = offered_models().get(name)
    if stored is None or not (stored.folder / run_folder.RUN).is_file():
        return False
    return "antecedent" in str(run_folder.described(stored.folder)["plan"].get("objective"))


def show_behaviour() -> None:
    """Which models find what *it* means; then, beside it, their best heads. Each after a guess."""
    pairs = lesson.paired()
    say(PROSE("who"))
    st.table(lesson.pair_rows(pairs))
    after_answer(lesson.who_question(pairs), "guess.resolves", partial(say, PROSE("who: conclusion")))
    st.subheader("And their heads?", anchor=False)
    figures = lesson.best_heads()
    say(PROSE("behaviour"))
    st.table(lesson.rows(figures))
    after_answer(lesson.head_question(figures), "guess.behaviour", partial(say, PROSE("behaviour: conclusion")))


def search() -> None:
    """Heads that find a hidden word, chosen on one half of the questions and judged on the other, after a guess."""
    call = recorded.call(SEARCH)
    say(PROSE("searched"))

    def below() -> None:
        conclusion("guess.silenced", lesson.search_results(result_of(call)))
        recorded.again(SEARCH, "attention_there bert")

    web.show(VIEWS["heads-that-find"], call, question=(lesson.silence_question(result_of(call)), "guess.silenced"), below=below)
