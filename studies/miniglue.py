"""MiniGLUE: the columns of the lectures' GLUE table at classroom scale, each model beside its own shape from scratch.

`python -m studies.miniglue` measures it again and writes `data/results/miniglue`; `explorer miniglue --recorded` prints
it, and without that option measures it here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.errors import unknown
from explorer.records import TaskTable
from explorer.training.finetune.bodies import COUNTS
from explorer.training.finetune.derived import EVERY_TASK
from explorer.training.finetune.labelled import task_named
from explorer.training.finetune.metrics import CORRELATION
from explorer.training.finetune.new_words import NEW_WORDS
from studies import runs
from studies.study import Size, Study, bracketed, intervals, main, table

COLUMNS = {  # each with the column of GLUE that asks the same; names of people and places are no part of GLUE
    "new words: feeling": "SST-2",
    "new words: acceptability": "CoLA",
    "new words: entailment": "MNLI, RTE",
    "paraphrase": "MRPC, QQP",
    "similarity": "STS-B",
    "new words: entities": "",
}
SYSTEMS: dict[str, tuple[str, str]] = {  # each with its model and how it learns
    "bag of words": (COUNTS, "full"),
    "word vectors": ("word2vec", "full"),
    "word vectors, from scratch": ("word2vec", "scratch"),
    "ELMo + biLSTM": ("elmo", "frozen"),
    "ELMo + biLSTM, from scratch": ("elmo", "scratch"),
    "GPT": ("gpt2", "full"),
    "GPT, from scratch": ("gpt2", "scratch"),
    "BERT": ("bert", "full"),
    "BERT, from scratch": ("bert", "scratch"),
}
MODELS = tuple(dict.fromkeys(model for model, _ in SYSTEMS.values() if model != COUNTS))
SIZE = Size(seeds=(0, 1, 2, 3, 4), examples=200, steps=80, tested=200, systems=tuple(SYSTEMS), tasks=tuple(COLUMNS))


def again(seeds: int, examples: int, steps: int, systems: Sequence[str], tasks: Sequence[str]) -> TaskTable:
    """Measured as the command line asks; an empty list means all."""
    for what, given, known in (("system", systems, SYSTEMS), ("task", tasks, EVERY_TASK)):
        for name in given:
            if name not in known:
                raise unknown(what, name, known)
    chosen = {"systems": tuple(systems or SYSTEMS), "tasks": tuple(tasks or COLUMNS)}
    size = SIZE.but(seeds=tuple(range(max(1, seeds))), examples=examples, steps=steps, **chosen)
    return STUDIES["miniglue"].record(size)


def tuned(model: str, task: str, tested: int, **given: Any) -> np.ndarray:
    """One fine-tuning: its score on new texts, the seconds that it took, and the score of the most frequent answer."""
    begin = time.perf_counter()
    run = runs.finetuned(model, task=task, **given)
    took = time.perf_counter() - begin
    return np.array([run.score("test", tested), took, run.blind("test", tested)])


def train(system: str, task: str, seed: int, size: Size) -> np.ndarray:
    """One system on one task: the same labelled texts for all systems."""
    model, how = SYSTEMS[system]
    return tuned(model, task, size.tested, how=how, seed=seed, examples=size.examples, steps=size.steps)


def measure(results: np.ndarray, size: Size) -> TaskTable:
    """Every system on every task with every seed [system, task, seed, (score, seconds, most frequent)]."""
    scores, seconds, blind = results[..., 0], results[..., 1], results[0, :, -1, 2]
    metrics = tuple(task_named(task).metric for task in size.tasks)
    note = (
        f"{size.examples} labelled texts, {size.steps} steps, {len(size.seeds)} seeds; {size.tested} new texts with new words"
    )
    return TaskTable(size.systems, size.tasks, metrics, scores, intervals(scores, CORRELATION), seconds, blind, note)


def above(glue: TaskTable, system: str, other: str) -> tuple[str, ...]:
    """The tasks on which the interval of one system lies wholly above that of another."""
    i, j = glue.systems.index(system), glue.systems.index(other)
    return tuple(task for n, task in enumerate(glue.tasks) if glue.intervals[i, n, 1] > glue.intervals[j, n, 2])


def glue_table(glue: TaskTable) -> str:
    """The table in Markdown: the mean of each system on each task, with its interval; docs/results.md holds it too."""
    head = ["", *(f"{task} ({metric})" for task, metric in zip(glue.tasks, glue.metrics, strict=True)), "mean"]
    rows = [
        [system, *(bracketed(*interval) for interval in glue.intervals[i]), f"{glue.average[i]:.3f}"]
        for i, system in enumerate(glue.systems)
    ]
    return table(head, [*rows, ["most frequent answer", *(f"{value:.3f}" for value in glue.blind), ""]])


def facts(glue: TaskTable, size: Size) -> dict[str, str]:
    """The table, where the intervals do not overlap, and what the columns are in GLUE."""
    pairs = [(name, f"{name}, from scratch") for name in glue.systems if f"{name}, from scratch" in glue.systems]
    apart = [f"- {name} above from scratch: {', '.join(above(glue, name, other)) or 'nowhere'}." for name, other in pairs]
    missing = [name for name in SYSTEMS if name not in glue.systems]
    apart += [f"- Not measured this time: {', '.join(missing)}."] if missing else []
    columns = "; ".join(f"{task}: {theirs}" for task, theirs in COLUMNS.items() if theirs and task in glue.tasks)
    return {
        "table": glue_table(glue),
        "apart": "\n".join(apart),
        "order": " > ".join(glue.systems[n] for n in np.argsort(-glue.average)),
        "columns": columns,
        "new": NEW if any(task in NEW_WORDS for task in glue.tasks) else "",
        "took": f"{glue.seconds.sum():.0f}",
    }


NEW = """In the tasks named *new words* no word that a test asks about is in a labelled text; all of them are in the stories of
pre-training. """
AXES = ("systems", "tasks", "seeds")
STUDIES = {
    "miniglue": Study("miniglue", SIZE, AXES, train, measure, facts, models=MODELS, processes=1)
}  # its seconds are recorded

if __name__ == "__main__":
    main(STUDIES)
