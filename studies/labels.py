"""How much pre-training is worth, by the number of labelled texts: the score on new texts, from pre-trained weights and from scratch.

`python -m studies.labels` measures it again and writes `data/results/labels`; `explorer labels --recorded` prints it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.errors import ChoiceError, unknown
from explorer.records import LabelCurves
from explorer.training.finetune.labelled import task_named
from explorer.training.finetune.metrics import CORRELATION
from explorer.training.finetune.new_words import NEW_WORDS
from studies.miniglue import tuned
from studies.study import Size, Study, bracketed, intervals, main, table

MODELS = {"BERT": "bert", "GPT": "gpt2"}  # how a model is called in the figure, and the shipped model
BEGINNINGS = {"pre-trained": "full", "from scratch": "scratch"}
WAYS = tuple(f"{model}, {begin}" for model in MODELS for begin in BEGINNINGS)  # every model, pre-trained and from scratch
SIZE = Size(ways=WAYS, tasks=tuple(NEW_WORDS), counts=(25, 50, 100, 200, 400), seeds=(0, 1, 2, 3, 4), steps=80, tested=200)


def again(seeds: int, counts: Sequence[str], steps: int, models: Sequence[str], tasks: Sequence[str]) -> LabelCurves:
    """Measured as the command line asks; an empty list means all."""
    for name in models:
        if name not in MODELS:
            raise unknown("model of the label curves", name, MODELS)
    for name in tasks:
        task_named(name)
    for count in counts:
        if not count.isdecimal() or int(count) < 1:
            raise ChoiceError(f"counts: {count!r} is no number of labelled texts. Give whole numbers, for example 25,50,100.")
    size = SIZE.but(
        ways=tuple(way for way in WAYS if way.split(", ")[0] in (models or MODELS)),
        tasks=tuple(tasks) or SIZE.tasks,
        counts=tuple(sorted({int(count) for count in counts})) or SIZE.counts,
        seeds=tuple(range(max(1, seeds))),
        steps=steps,
    )
    return STUDIES["labels"].record(size)


def train(task: str, way: str, count: int, seed: int, size: Size) -> np.ndarray:
    """One fine-tuning: the same labelled texts for all models."""
    model, beginning = way.split(", ")
    return tuned(MODELS[model], task, size.tested, how=BEGINNINGS[beginning], seed=seed, examples=count, steps=size.steps)


def measure(results: np.ndarray, size: Size) -> LabelCurves:
    """Every task, model, beginning and number of labels with every seed [task, way, count, seed, (score, seconds, most frequent)]."""
    scores, took, blind = results[..., 0], results[..., 1], results[:, 0, -1, -1, 2]
    note = (
        f"{size.steps} steps, {len(size.seeds)} seeds, {size.tested} new texts; bands: 95% of the mean; "
        f"{took.size} fine-tunings in {took.sum():.0f} s, one after the other"
    )
    metrics = tuple(task_named(task).metric for task in size.tasks)
    return LabelCurves(
        size.tasks, metrics, size.ways, np.array(size.counts), scores, intervals(scores, CORRELATION), blind, note
    )


def label_table(curves: LabelCurves) -> str:
    """A table in Markdown for docs/results.md: every way on every task with every number of labels, the mean over the seeds."""
    counts, rows = [int(count) for count in curves.counts], []
    for n, task in enumerate(curves.tasks):
        begin = f"{task} ({curves.metrics[n]}; most frequent answer {curves.blind[n]:.3f})"
        for w, way in enumerate(curves.ways):
            rows.append([begin if w == 0 else "", way, *(f"{mean:.3f}" for mean in curves.intervals[n, w, :, 0])])
    clear = [
        f"\nOn how many of {len(curves.tasks)} tasks {model} is above itself from scratch, with intervals apart: "
        + ", ".join(f"{len(curves.above_scratch(model, count))} with {count} labels" for count in counts) + "."
        for model in curves.models
    ]  # fmt: skip
    return "\n".join([table(["", "labels", *map(str, counts)], rows), *clear])


def facts(curves: LabelCurves, size: Size) -> dict[str, str]:
    """A table for each task, and where the intervals do not overlap."""
    tables = []
    for n, task in enumerate(curves.tasks):
        rows = [[way, *(bracketed(*interval) for interval in curves.intervals[n, w])] for w, way in enumerate(curves.ways)]
        rows.append(["most frequent answer", *[f"{curves.blind[n]:.3f}"] * len(curves.counts)])
        tables.append(table([f"{task} ({curves.metrics[n]})", *(f"{count} labels" for count in curves.counts)], rows))
    apart = [
        f"- {model}, {count} labels: {', '.join(curves.above_scratch(model, int(count))) or 'nowhere'}."
        for model in curves.models
        for count in curves.counts
    ]
    command = f"explorer labels --counts {','.join(map(str, curves.counts))} --models {','.join(curves.models)}"
    return {"tables": "\n\n".join(tables), "apart": "\n".join(apart), "command": command}


AXES, SHIPPED = ("tasks", "ways", "counts", "seeds"), tuple(MODELS.values())
STUDIES = {
    "labels": Study("labels", SIZE, AXES, train, measure, facts, models=SHIPPED, processes=1)
}  # its seconds are recorded

if __name__ == "__main__":
    main(STUDIES)
