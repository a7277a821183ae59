"""The studies as cards: what each asked of small training runs, what came out, and the part that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from explorer.app import guessing, recorded
from explorer.app.controls import result_of
from explorer.app.frame import choose
from explorer.app.glossary import marked
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
from explorer.records import Exercise

ACROSS = 3
HERE = "training"


@dataclass(frozen=True)
class Finding:
    """A recorded result: its question in a few words, the question whose answer it gives, and the part of a page that shows it."""

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
    for begin in range(0, len(FINDINGS), ACROSS):
        for column, finding in zip(st.columns(ACROSS), FINDINGS[begin : begin + ACROSS], strict=False):
            with column:
                _card(finding)


def _card(finding: Finding) -> None:
    """What was asked and the answer, in a few words; both in full and why it is so, folded; and the way to the pictures."""
    item = finding.question(result_of(recorded.call(finding.result)))
    with st.container(border=True, gap="small", height="stretch"):
        st.markdown(f"**{finding.title}**" + ("" if guessing.first() else f"  \n{marked(str(item.shown))}"))
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.popover("Why", type="tertiary"):
                st.markdown(marked(f"{item.question}\n\n**{item.shown}**. {item.why}"))
            _door(finding)


def _door(finding: Finding) -> None:
    """A link; to a part of this page a button, since a link would leave what the address says."""
    if finding.page == HERE:
        st.button("Look →", key=f"finding.{finding.result}", on_click=choose, args=(finding.part,), type="tertiary")
    else:
        page = str(LESSONS[finding.page].page)
        st.page_link(page, label="Look →", query_params={"part": finding.part}, width="content")


FINDINGS = (
    Finding("Which masking rate is best?", "rates", questions.rates_question, HERE, "how-much-to-mask"),
    Finding("Loss on every token: what share of the steps?", "signal", questions.signal_question, HERE, "one-prediction"),
    Finding("Which missing part hurts most?", "left-out", left_out_questions.costliest_question, HERE, "a-part-left-out"),
    Finding(
        "What learning rate does a larger model need?", "rates-decoder", sizes_questions.rate_question, HERE, "larger-models"
    ),
    Finding("Which masking helps to find wrong words?", "planted", corruption.planted_question, "corruption", "80-10-10"),
    Finding("What loss without the causal mask?", "unmasked", _copied, "families", "unmasked"),
    Finding("Which positions suit longer texts?", "lengths-decoder", positions.reach_question, "positions", "length"),
    Finding("Which head needs ÷ √dₖ?", "scale", attention.training_question, "attention", "without-d"),
    Finding("Is the noun found without two heads?", "heads-bert", behaviour_questions.silence_question, "heads", "searched"),
    Finding("What loss if ELMo's directions read each other?", "crossed", elmo.crossing_question, "elmo", "crossed"),
    Finding("How many labelled stories for ELMo's tagger?", "tagging", tagging_questions.labels_question, "elmo", "tagger"),
    Finding("On how many tasks does pre-training help?", "labels", finetuning.label_question, "finetuning", "labels"),
    Finding("How many tokens back can an RNN copy?", "copying", published_questions.copying_question, "families", "rnn"),
    Finding("Fill two blanks singly or together?", "blank-pairs", blanks_questions.neighbours_question, "decoding", "blanks"),
    Finding("After swapping names, which sentence is nearer?", "misled", misled_questions.plain_question, "vectors", "misled"),
)
