"""What fine-tuning comes to: several ways beside each other, and what changes inside. Both begin with a recorded run."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import recorded, web
from explorer.app.call import Call
from explorer.app.controls import opened, read, result_of
from explorer.app.glossary import say
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning import questions as lesson
from explorer.app.lessons.finetuning import slices
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.records import FinetuneWays
from explorer.views import VIEWS

PROSE = prose("finetuning")
RECORDED = "finetuned"  # the result that the parts begin with
FEELING: dict[str, Any] = {"task": "sentiment", "examples": 100, "steps": 60}


def show_ways(name: str) -> None:
    """Several ways to fine-tune: a recorded run, and those that are trained now."""
    task, options = lab.wanted(opened(name).family == "decoder")
    how = lab.chosen_ways(task)
    run = lab.ways(name, task, how, options)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button("Train", type="primary", disabled=not how, key="train.tuned")
        said = st.container(width="stretch")
    if how and (pressed or lab.known(run)):
        _drawn(run, lab.trained(run, "Fine-tuning"))
        return
    before = result_of(recorded.call(RECORDED))
    with said:
        say(PROSE("recorded run", model=before.model, task=before.task, note=before.note), small=True)
    _drawn(recorded.call(RECORDED), before)
    recorded.again(RECORDED, RECORDED)


def _drawn(run: Call, trained: FinetuneWays) -> None:
    """The score and the cost of each way, its losses and its answers."""

    def below() -> None:
        """The losses and the answers."""
        web.show(VIEWS["finetune-losses"], run)
        if trained.transitions:
            web.show(VIEWS["tag-transitions"], run)
        say(lesson.answers_table(trained))
        say(lab.notes(trained.ways), small=True)

    web.show(VIEWS["finetune-ways"], run, question=(lesson.ways_question(trained), f"guess.ways.{run.text}"), below=below)


def show_changes() -> None:
    """What a model that has learned a task confuses, what changed inside it, and where it is weak."""
    feel = lab.tuned("bert", **FEELING)
    ways = {
        "Answers": partial(_confused, feel),
        "What changed inside": partial(_changed, feel),
        "Weak spots": partial(slices.show_slices, feel, lab.ASKED),
    }
    web.one_of("Look at", ways, "inside.shows")


def _confused(feel: Call) -> None:
    """Which labels it confuses."""
    say(PROSE("inside", examples=FEELING["examples"]))
    web.show(VIEWS["confusion"], recorded.call(RECORDED, "answers"))


def _changed(feel: Call) -> None:
    """Its attention, its states and its layers, before and after."""
    text = st.text_input("A sentence", lesson.TEXT, key="text.tuned", bind="query-params", width=620)
    notice(text, "bert")
    lab.trained(feel, "Learning sentiment")
    change = lab.changes(feel, text)
    read(change)
    for view in lab.CHANGED:
        web.show(VIEWS[view], change)
    if st.toggle("Probe every layer, before and after (takes some seconds)", key="probes.tuned", bind="query-params"):
        say(PROSE("probes"))
        web.show(VIEWS["layer-probes"], lab.probed(feel, text))
