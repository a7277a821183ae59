"""What a training has learned so far, in one picture: heads, both directions of an ELMo, neighbours of a word, or what was counted."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

import explorer as ex
from explorer.app import web
from explorer.app.call import Call
from explorer.app.controls import result_of
from explorer.app.exercises import plain
from explorer.app.lessons.training import parts as lab
from explorer.errors import ExplorerError
from explorer.models.presets import preset
from explorer.models.vectors import StaticModel
from explorer.views import VIEWS


def show_inside(folder: Path, system: str, step: int, sentence: str, *, alive: bool) -> None:
    """The picture of the last snapshot; with everything that a view has once the training has ended."""
    try:
        title, view, call = picture(folder, system, step, sentence)
        record = result_of(call)
    except ExplorerError as error:
        st.caption(plain(str(error)))
        return
    st.markdown(f"**{title} at step {step:,}**")
    if alive:
        figure = web.styled(VIEWS[view](record))
        web.drawn(figure, f"live.{view}")
    else:
        web.show(VIEWS[view], call, key="live")


def picture(folder: Path, system: str, step: int, sentence: str) -> tuple[str, str, Call]:
    """What is looked at, the name of its view, and the call that makes its record."""
    family = preset(system).architecture["family"]
    if family == "ngram":  # it keeps no snapshots: its folder holds all that was counted so far
        return "What was counted", "back-off", Call(ex.analysis.back_off, lab.snapshot(folder), sentence)
    snapshot = lab.snapshot(folder, step)
    if family == "bilm":
        return "What both directions predict", "both-sides", Call(ex.analysis.both_sides, snapshot, sentence)
    if family == "static":
        word = known(result_of(snapshot), sentence)
        return f"Nearest to *{plain(word)}*", "neighbours", Call(ex.analysis.neighbours, snapshot, word)
    return "Attention", "heads", lab.traced_at(folder, step, sentence)


def known(model: StaticModel, sentence: str) -> str:
    """The longest word of a sentence that has a vector: short ones stand beside every word."""
    tokens = model.tokenizer.encode(sentence, special=False)
    unknown = model.tokenizer.vocabulary.unknown
    words = [text for number, text in zip(tokens.ids, tokens.texts, strict=True) if number != unknown and text.isalpha()]
    if not words:
        raise ExplorerError("No word of the sentence occurs in the texts of this training run. Write another sentence above.")
    return max(words, key=len)
