"""Tasks whose answer is a text: what an encoder–decoder reads and has to write, and several ways to teach it, trained now."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from explorer.app import web
from explorer.app.cached import cached
from explorer.app.controls import one_of
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.lessons.finetuning import parts as lab
from explorer.app.lessons.finetuning import questions as lesson
from explorer.app.prose import prose
from explorer.records import FinetuneWays
from explorer.training.finetune.derived import EVERY_TASK
from explorer.views import VIEWS

PROSE = prose("finetuning")

WRITERS = ("bart", "t5")
SUMMARY = "summary"
TASKS = (SUMMARY, lab.FIRST, "sentiment", "topic", "acceptability", "entailment")
WAYS, USUAL = ("full", "last-1", "lora", "scratch"), ("full", "scratch")
SHOWN = 3  # examples before the training


def show_tasks_as_text() -> None:
    """Choose a task, see what is read and written, and train."""
    say(PROSE("writing"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = one_of("Model", WRITERS, "writer", "bart")
        task = one_of("Task", TASKS, "task.writer", SUMMARY)
        examples = st.select_slider(
            "Labelled texts", (25, 50, 100, 200), 50, key="labelled.writer", bind="query-params", width=200
        )
        steps = st.select_slider("Steps", (20, 40, 80, 160), 40, key="steps.writer", bind="query-params", width=180)
    how = tuple(st.pills("Methods", WAYS, selection_mode="multi", default=USUAL, key="ways.writer", bind="query-params"))
    st.caption(lab.notes(how))
    st.table(given(task))
    run = lab.ways(name, task, how, {"examples": examples, "steps": steps})
    pressed = st.button("Train", type="primary", disabled=not how, key="train.writer")
    if not how or not (pressed or lab.known(run)):
        st.caption("Press Train. Each model then writes its answers to new texts.")
        return
    trained = lab.trained(run, "Fine-tuning")
    question = (lesson.ways_question(trained), f"guess.ways.{run.text}")
    web.show(VIEWS["finetune-ways"], run, key="writer", question=question, below=partial(written, trained))


def written(trained: FinetuneWays) -> None:
    """What was written, and what a summary is compared with."""
    say(lesson.answers_table(trained))
    if trained.task == SUMMARY:
        say(first_sentence(*beginnings()))


@cached()
def given(task: str) -> list[dict[str, Any]]:
    """What is read and what is to be written, for some texts to learn from."""
    labelled = EVERY_TASK[task].make(SHOWN, "train")
    rows = []
    for example in labelled.examples[:SHOWN]:
        read = " / ".join(labelled.texts[place.text][place.start : place.end] for place in example.places)
        rows.append({"it reads": plain(read), "it has to write": plain(example.label)})
    return rows


@cached()
def beginnings() -> tuple[float, float]:
    """How well the first sentence of a new text does as its summary, and the summary of another text."""
    task = EVERY_TASK[SUMMARY]
    labelled = task.make(lab.ASKED, "test")
    first = [labelled.texts[example.places[0].text].split(". ")[0] + "." for example in labelled.examples]
    gold = list(labelled.labels)
    return task.score(first, gold), task.score(gold[1:] + gold[:1], gold)


def first_sentence(first: float, other: float) -> str:
    """What a summary has to beat."""
    return PROSE("summaries: baselines", first=first, other=other)
