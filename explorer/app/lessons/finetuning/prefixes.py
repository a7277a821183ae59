"""One model for four tasks: the same text behind each prefix, and how well each task is done."""

from __future__ import annotations

from typing import Any

import streamlit as st

import explorer as ex
from explorer.analysis.evaluation.as_text import SCORED
from explorer.app.cached import cached
from explorer.app.call import Call, CallPart
from explorer.app.controls import model_of, read
from explorer.app.exercises import plain
from explorer.app.glossary import say
from explorer.app.notice import notice
from explorer.app.prose import prose
from explorer.microworld.derived.as_text import PREFIXES
from explorer.models.card_figures import shipped_figures
from explorer.models.store import models

PROSE = prose("finetuning")

NAME, MOST = "t5-tasks", 40  # the model, and how many tokens an answer has at most
TEXT = "Clara was happy because her brother found the key."


def written(text: str, task: str) -> CallPart:
    """What the model writes for a text behind the prefix of a task."""
    steps = Call(list, Call(ex.decode, model_of(NAME), PREFIXES[task] + text, "greedy", max_tokens=MOST))
    return steps.item(-1).attr("text")


def show_prefixes() -> None:
    """A text of the visitor's, read four times, and the figures of the card."""
    say(PROSE("prefixes"))
    text = st.text_input("A text, in simple English", TEXT, key="text.prefixes", bind="query-params", width=620)
    notice(text, NAME)
    answers = {task: read(written(text, task)) for task in PREFIXES}
    st.table([{"it reads": plain(PREFIXES[task] + text), "it writes": plain(answer)} for task, answer in answers.items()])
    say(PROSE("prefixes: scores"))
    st.table(scores())
    say(PROSE("prefixes: conclusion"))


@cached()
def scores() -> list[dict[str, Any]]:
    """A row for each task: what the model reaches on both kinds of new texts, and what its rule reaches."""
    figures = {split: shipped_figures(models()[NAME].folder, split) for split in ("validation", "test")}

    def cells(task: str, figure: str) -> str:
        return " / ".join(f"{split[f'{task}, {figure}']:.2f}" for split in figures.values())

    return [
        {
            "task": task,
            "metric": metric.replace("bleu", "BLEU"),
            NAME: cells(task, metric),
            "rule": rule,
            "its score": cells(task, rule),
        }
        for task, (metric, _, rule, _) in SCORED.items()
    ]
