"""MiniGLUE: the columns of the lectures' GLUE table at classroom scale, each model beside its own shape from scratch.

`python -m studies.miniglue` measures it again and writes `data/results/miniglue`; `explorer miniglue --recorded` prints
it, and without that option measures it here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.errors import unknown
from explorer.models import results
from explorer.records import TaskTable
from explorer.training.finetune.bodies import COUNTS
from explorer.training.finetune.derived import EVERY_TASK
from explorer.training.finetune.finetuning import finetune
from explorer.training.finetune.labelled import task_named
from explorer.training.finetune.metrics import CORRELATION, interval
from explorer.training.finetune.new_words import NEW_WORDS
from studies import common_runs

NAME = "miniglue"
PROCESSES = 1
COLUMNS = {  # each with the column of GLUE that asks the same; names of people and places are no part of GLUE
    "new words: feeling": "SST-2",
    "new words: acceptability": "CoLA",
    "new words: entailment": "MNLI, RTE",
    "paraphrase": "MRPC, QQP",
    "similarity": "STS-B",
    "new words: entities": "",
}
TASKS = tuple(COLUMNS)
LECTURE = {"BiLSTM+ELMo+Attn": 71.0, "OpenAI GPT": 75.2, "BERT-base": 79.6, "BERT-large": 81.9}  # the slide's last column
SYSTEMS: dict[str, tuple[str, str]] = {  # each with its model and how it learns
    "bag of words": ("bag of words", "full"),
    "word vectors": ("word2vec", "full"),
    "word vectors, from scratch": ("word2vec", "scratch"),
    "ELMo + biLSTM": ("elmo", "frozen"),
    "ELMo + biLSTM, from scratch": ("elmo", "scratch"),
    "GPT": ("gpt2", "full"),
    "GPT, from scratch": ("gpt2", "scratch"),
    "BERT": ("bert", "full"),
    "BERT, from scratch": ("bert", "scratch"),
}


@dataclass(frozen=True)
class Size:
    """How much is learned and asked."""

    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    examples: int = 200
    steps: int = 80
    asked: int = 200
    systems: tuple[str, ...] = tuple(SYSTEMS)
    tasks: tuple[str, ...] = TASKS


def sized(
    seeds: int, examples: int, steps: int, *, systems: Sequence[str] = (), tasks: Sequence[str] = (), asked: int = 200
) -> Size:
    """A size from what is said on the command line; an empty list means all."""
    for what, given, known in (("system", systems, SYSTEMS), ("task", tasks, EVERY_TASK)):
        for name in given:
            if name not in known:
                raise unknown(what, name, known)
    return Size(tuple(range(max(1, seeds))), examples, steps, asked, tuple(systems or SYSTEMS), tuple(tasks or TASKS))


def one(system: str, task: str, seed: int, size: Size) -> tuple[float, float, float]:
    """One fine-tuning: its score on new texts, the seconds that it took, and the score of the most frequent answer."""
    model, how = SYSTEMS[system]
    begin = time.perf_counter()
    run = finetune(
        model, task=task, how=how, seed=seed, examples=size.examples, steps=size.steps, checks=0, snapshots=0, device="cpu"
    )
    for _ in run:
        pass
    took = time.perf_counter() - begin
    return run.score("test", size.asked), took, run.blind("test", size.asked)


def measured(size: Size, say: Callable[[str], object] = lambda line: None, processes: int = 0) -> TaskTable:
    """Every system on every task with every seed; the same labelled texts for all systems."""
    each = [(system, task, seed, size) for system in size.systems for task in size.tasks for seed in size.seeds]
    shape = (len(size.systems), len(size.tasks), len(size.seeds), 3)
    found = np.array(common_runs.each(one, each, processes)).reshape(shape)
    scores, seconds, blind = found[..., 0], found[..., 1], found[0, :, -1, 2]
    for i, system in enumerate(size.systems):
        averages = ", ".join(f"{task} {scores[i, j].mean():.3f}" for j, task in enumerate(size.tasks))
        say(f"{system}: {averages} ({seconds[i].mean():.1f} s each)")
    metrics = tuple(task_named(task).metric for task in size.tasks)
    note = f"{size.examples} labelled texts, {size.steps} steps, {len(size.seeds)} seeds; {size.asked} new texts with new words"
    return TaskTable(size.systems, size.tasks, metrics, scores, intervals(scores), seconds, blind, note)


def again(seeds: int, examples: int, steps: int, systems: Sequence[str], tasks: Sequence[str]) -> TaskTable:
    """Measured as the command line asks, saying each system as it is done."""
    return measured(sized(seeds, examples, steps, systems=systems, tasks=tasks), lambda line: sys.stderr.write(line + "\n"))


def joined(one_: TaskTable, other: TaskTable) -> TaskTable:
    """Two measurements of the same tasks with other systems, as one; the systems in the order of the list above."""
    order = sorted(
        range(len(one_.systems) + len(other.systems)), key=lambda n: list(SYSTEMS).index((one_.systems + other.systems)[n])
    )
    scores, seconds = (np.concatenate(both)[order] for both in ((one_.scores, other.scores), (one_.seconds, other.seconds)))
    systems = tuple((one_.systems + other.systems)[n] for n in order)
    return TaskTable(systems, one_.tasks, one_.metrics, scores, intervals(scores), seconds, one_.blind, one_.note)


def intervals(scores: np.ndarray) -> np.ndarray:
    """Mean, low and high of the last axis; some of the metrics are correlations."""
    return np.apply_along_axis(lambda values: np.array(interval(values, CORRELATION)), -1, scores)


def apart(table: TaskTable, one_: str, other: str) -> tuple[str, ...]:
    """The tasks on which the interval of one system lies wholly above that of another."""
    i, j = table.systems.index(one_), table.systems.index(other)
    return tuple(task for n, task in enumerate(table.tasks) if table.intervals[i, n, 1] > table.intervals[j, n, 2])


def rows_of(table: TaskTable) -> str:
    """The table in Markdown: the mean of each system on each task, with its interval; docs/results.md holds it too."""
    head = f"| | {' | '.join(f'{task} ({metric})' for task, metric in zip(table.tasks, table.metrics, strict=True))} | mean |"
    rows = [head, "|---" * (len(table.tasks) + 2) + "|"]
    for i, system in enumerate(table.systems):
        cells = " | ".join(f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in table.intervals[i])
        rows.append(f"| {system} | {cells} | {table.average[i]:.3f} |")
    rows.append(f"| most frequent answer | {' | '.join(f'{value:.3f}' for value in table.blind)} | |")
    return "\n".join(rows)


def card(table: TaskTable) -> str:
    """What was measured, what was found, and how to do it again."""
    pairs = [(name, f"{name}, from scratch") for name in table.systems if f"{name}, from scratch" in table.systems]
    found = [f"- {name} above from scratch: {', '.join(apart(table, name, other)) or 'nowhere'}." for name, other in pairs]
    missing = [name for name in SYSTEMS if name not in table.systems]
    found += [f"- Not measured this time: {', '.join(missing)}."] if missing else []
    order = " > ".join(table.systems[n] for n in np.argsort(-table.average))
    columns = "; ".join(f"{task}: {theirs}" for task, theirs in COLUMNS.items() if theirs and task in table.tasks)
    new = NEW if any(task in NEW_WORDS for task in table.tasks) else ""
    lecture = ", ".join(f"{name} {score}" for name, score in LECTURE.items())
    return CARD.format(
        note=table.note, rows=rows_of(table), found="\n".join(found), order=order, seconds=table.seconds.sum(), columns=columns,
        lecture=lecture, new=new,
    )  # fmt: skip


NEW = """In the tasks named *new words* no word that a test asks about is in a labelled text; all of them are in the stories of
pre-training. """

CARD = """# MiniGLUE

{note}. In brackets the 95 % interval of the mean over the seeds (Student's t).
{new}What the columns are in GLUE: {columns}.

{rows}

Where the intervals do not overlap:

{found}

By the mean of all tasks: {order}.
The lecture's slide has, as its average over GLUE: {lecture}. Those models are about a hundred times larger, or more.

All fine-tunings together took {seconds:.0f} seconds on this occasion, on a busy machine. Make it again: `explorer miniglue`, or
`python -m studies.miniglue` to write the record.
"""


def main() -> None:
    """Measure the systems that are named, or all anew, one after the other, and write the record after each: it keeps the others."""
    torch.set_num_threads(1)
    table = results.recorded(NAME, TaskTable) if sys.argv[1:] and NAME in results.results() else None
    for system in sys.argv[1:] or SYSTEMS:
        size = sized(5, 200, 80, systems=(system,))
        fresh = measured(size, lambda line: sys.stderr.write(line + "\n"), PROCESSES)
        alike = table is not None and (table.tasks, table.note) == (fresh.tasks, fresh.note) and system not in table.systems
        table = joined(table, fresh) if table is not None and alike else fresh
        results.write_result(NAME, table, card(table), [SYSTEMS[system][0]] if SYSTEMS[system][0] != COUNTS else ())
    assert table is not None
    sys.stdout.write(table.as_text() + "\n")


if __name__ == "__main__":
    main()
