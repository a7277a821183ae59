"""The studies as cards: what each asked of small training runs, what came out, and the part that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.app import guessing, recorded
from explorer.app.controls import result_of
from explorer.app.frame import choose
from explorer.app.glossary import marked, say
from explorer.app.lessons import LESSONS
from explorer.app.lessons.attention import questions as attention
from explorer.app.lessons.corruption import questions as corruption
from explorer.app.lessons.decoding import blanks_questions
from explorer.app.lessons.elmo import questions as elmo
from explorer.app.lessons.elmo import tagging_questions
from explorer.app.lessons.families import published_questions
from explorer.app.lessons.families import questions as families
from explorer.app.lessons.finetuning import questions as finetuning
from explorer.app.lessons.heads import behaviour_questions
from explorer.app.lessons.positions import questions as positions
from explorer.app.lessons.training import left_out_questions, questions, sizes_questions
from explorer.app.lessons.vectors import misled_questions
from explorer.app.prose import prose
from explorer.records import Exercise

ACROSS = 3
HERE = "training"


@dataclass(frozen=True)
class Finding:
    """A recorded result: what its card is called, the question whose answer it gives, and the part of a page that shows it."""

    title: str
    result: str
    question: Callable[[Any], Exercise]
    page: str
    part: str


def _copied(measured: Any) -> Exercise:
    """What a decoder reaches that is trained without the mask."""
    return families.copy_question(measured, result_of(recorded.call("unmasked", "with")).size)


def show_findings() -> None:
    """A card for each study that was recorded."""
    say(prose("training")("findings"))
    shown = [finding for finding in FINDINGS if recorded.there(finding.result)]
    for begin in range(0, len(shown), ACROSS):
        for column, finding in zip(st.columns(ACROSS), shown[begin : begin + ACROSS], strict=False):
            with column:
                _card(finding)


def _card(finding: Finding) -> None:
    """The answer in a few words; what was asked and why it is so, each folded; and the way to the pictures."""
    item = finding.question(result_of(recorded.call(finding.result)))
    with st.container(border=True, gap="small", height="stretch"):
        st.markdown(f"**{finding.title}**" + ("" if guessing.first() else f": {marked(str(item.shown))}"))
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover("Question", type="tertiary"):
                st.markdown(marked(item.question))
            with st.popover("The finding", type="tertiary"):
                st.markdown(marked(f"**{item.shown}**. {item.why}"))
            _door(finding)


def _door(finding: Finding) -> None:
    """A link; to a part of this page a button, since a link would leave what the address says."""
    if finding.page == HERE:
        st.button("Look →", key=f"finding.{finding.result}", on_click=choose, args=(finding.part,), type="tertiary")
    else:
        page = str(LESSONS[finding.page].page)
        st.page_link(page, label="Look →", query_params={"part": finding.part}, width="content")


FINDINGS = (
    Finding("How much to mask", "rates", questions.rates_question, HERE, "how-much-to-mask"),
    Finding("How much one prediction teaches", "signal", questions.signal_question, HERE, "one-prediction"),
    Finding("A part left out", "left-out", left_out_questions.costliest_question, HERE, "a-part-left-out"),
    Finding("Larger models", "rates-decoder", sizes_questions.rate_question, HERE, "larger-models"),
    Finding("What 80/10/10 is for", "planted", corruption.planted_question, "corruption", "80-10-10"),
    Finding("Trained without the mask", "unmasked", _copied, "families", "unmasked"),
    Finding("Beyond the trained length", "lengths-decoder", positions.reach_question, "positions", "length"),
    Finding("Trained without ÷ √dₖ", "scale", attention.training_question, "attention", "without-d"),
    Finding("Heads that find a word", "heads-bert", behaviour_questions.silence_question, "heads", "searched"),
    Finding("Directions crossed", "crossed", elmo.crossing_question, "elmo", "crossed"),
    Finding("A tagger with ELMo", "tagging", tagging_questions.labels_question, "elmo", "tagger"),
    Finding("How many labels?", "labels", finetuning.label_question, "finetuning", "labels"),
    Finding("RNN or Transformer?", "copying", published_questions.copying_question, "families", "rnn"),
    Finding("Two blanks", "blank-pairs", blanks_questions.neighbours_question, "decoding", "blanks"),
    Finding("Where shared words mislead", "misled", misled_questions.plain_question, "vectors", "misled"),
)
