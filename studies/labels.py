"""How much pre-training is worth, by the number of labelled texts: the score on new texts, from pre-trained weights and from scratch.

`python -m studies.labels` measures it again, model by model, and writes `data/results/labels`; `explorer labels
--recorded` prints it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from explorer.errors import ChoiceError, unknown
from explorer.models import results
from explorer.records import LabelCurves
from explorer.training.finetune.finetuning import finetune
from explorer.training.finetune.labelled import task_named
from explorer.training.finetune.new_words import NEW_WORDS
from studies import common_runs
from studies.miniglue import intervals

NAME = "labels"
MODELS = {"BERT": "bert", "GPT": "gpt2"}  # how a model is called in the figure, and the shipped model
BEGINNINGS = {"pre-trained": "full", "from scratch": "scratch"}


@dataclass(frozen=True)
class CurvesSize:
    """How much is learned and asked."""

    models: tuple[str, ...] = tuple(MODELS)
    tasks: tuple[str, ...] = tuple(NEW_WORDS)
    counts: tuple[int, ...] = (25, 50, 100, 200, 400)
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    steps: int = 80
    asked: int = 200

    @property
    def ways(self) -> tuple[str, ...]:
        """Every model, pre-trained and from scratch."""
        return tuple(f"{model}, {begin}" for model in self.models for begin in BEGINNINGS)


def sized(
    seeds: int, counts: Sequence[str | int], steps: int, *, models: Sequence[str] = (), tasks: Sequence[str] = ()
) -> CurvesSize:
    """A size from what is said on the command line; an empty list means all."""
    for name in models:
        if name not in MODELS:
            raise unknown("model of the label curves", name, MODELS)
    for name in tasks:
        task_named(name)
    usual = CurvesSize()
    wrong = [count for count in counts if not str(count).isdecimal() or int(count) < 1]
    if wrong:
        raise ChoiceError(f"counts: {wrong[0]!r} is no number of labelled texts. Give whole numbers, for example 25,50,100.")
    return CurvesSize(
        tuple(models or usual.models),
        tuple(tasks or usual.tasks),
        tuple(sorted({int(count) for count in counts})) or usual.counts,
        tuple(range(max(1, seeds))),
        steps,
    )


def one(task: str, way: str, count: int, seed: int, size: CurvesSize) -> tuple[float, float, float]:
    """One fine-tuning: its score on new texts, the seconds that it took, and the score of the most frequent answer."""
    model, beginning = way.split(", ")
    begin = time.perf_counter()
    run = finetune(
        MODELS[model], task=task, how=BEGINNINGS[beginning], seed=seed, examples=count, steps=size.steps, checks=0, snapshots=0,
        device="cpu",
    )  # fmt: skip
    for _ in run:
        pass
    took = time.perf_counter() - begin
    return run.score("test", size.asked), took, run.blind("test", size.asked)


def measured(size: CurvesSize, say: Callable[[str], object] = lambda line: None, processes: int = 0) -> LabelCurves:
    """Every task, model, beginning and number of labels with every seed; the same labelled texts for all models."""
    each = [(task, way, n, seed, size) for task in size.tasks for way in size.ways for n in size.counts for seed in size.seeds]
    shape = (len(size.tasks), len(size.ways), len(size.counts), len(size.seeds), 3)
    found = np.array(common_runs.each(one, each, processes)).reshape(shape)
    scores, took, blind = found[..., 0], found[..., 1], found[:, 0, -1, -1, 2]
    for n, task in enumerate(size.tasks):
        told = "; ".join(f"{way} {scores[n, w, -1].mean():.3f}" for w, way in enumerate(size.ways))
        say(f"{task}, {size.counts[-1]} labels: {told}")
    note = (
        f"{size.steps} steps, {len(size.seeds)} seeds, {size.asked} new texts; bands: 95 % of the mean; "
        f"{took.size} fine-tunings in {took.sum():.0f} s, one after the other"
    )
    metrics = tuple(task_named(task).metric for task in size.tasks)
    return LabelCurves(size.tasks, metrics, size.ways, np.array(size.counts), scores, intervals(scores), blind, note)


def again(seeds: int, counts: Sequence[str], steps: int, models: Sequence[str], tasks: Sequence[str]) -> LabelCurves:
    """Measured as the command line asks, saying each task as it is done."""
    return measured(sized(seeds, counts, steps, models=models, tasks=tasks), lambda line: sys.stderr.write(line + "\n"))


def joined(one_: LabelCurves, other: LabelCurves) -> LabelCurves:
    """Two measurements of the same tasks and numbers of labels with other models, as one."""
    scores = np.concatenate((one_.scores, other.scores), axis=1)
    notes = one_.note if one_.note == other.note else f"{one_.note}; then {other.note.rpartition('; ')[2]}"
    return LabelCurves(
        one_.tasks, one_.metrics, one_.ways + other.ways, one_.counts, scores, intervals(scores), one_.blind, notes
    )


def table_of(made: LabelCurves) -> str:
    """A table in Markdown for docs/results.md: every way on every task with every number of labels, the mean over the seeds."""
    counts = [int(count) for count in made.counts]
    rows = [f"| | labels | {' | '.join(map(str, counts))} |", "|---" * (len(counts) + 2) + "|"]
    for n, task in enumerate(made.tasks):
        begin = f"{task} ({made.metrics[n]}; most frequent answer {made.blind[n]:.3f})"
        for w, way in enumerate(made.ways):
            cells = " | ".join(f"{mean:.3f}" for mean in made.intervals[n, w, :, 0])
            rows.append(f"| {begin if w == 0 else ''} | {way} | {cells} |")
    for model in made.models:
        clear = ", ".join(f"{len(made.above_scratch(model, count))} with {count} labels" for count in counts)
        rows.append(f"\nTasks of {len(made.tasks)} on which {model} lies above itself from scratch, intervals apart: {clear}.")
    return "\n".join(rows)


def card(made: LabelCurves) -> str:
    """What was measured, what was found, and how to do it again."""
    parts = []
    for n, task in enumerate(made.tasks):
        head = f"| {task} ({made.metrics[n]}) | {' | '.join(f'{count} labels' for count in made.counts)} |"
        rows = [head, "|---" * (len(made.counts) + 1) + "|"]
        for w, way in enumerate(made.ways):
            cells = (f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in made.intervals[n, w])
            rows.append(f"| {way} | {' | '.join(cells)} |")
        parts.append(
            "\n".join([*rows, f"| most frequent answer | {' | '.join([f'{made.blind[n]:.3f}'] * len(made.counts))} |"])
        )
    found = [
        f"- {model}, {count} labels: {', '.join(made.above_scratch(model, int(count))) or 'nowhere'}."
        for model in made.models
        for count in made.counts
    ]
    again = f"explorer labels --counts {','.join(str(n) for n in made.counts)} --models {','.join(made.models)}"
    return CARD.format(note=made.note, tables="\n\n".join(parts), found="\n".join(found), again=again)


CARD = """# Accuracy by the number of labels

{note}. In brackets the 95 % interval of the mean over the seeds (Student's t). No word that a test
asks about is in a labelled text; all of them are in the stories of pre-training.

{tables}

Pre-trained is above from scratch, and the intervals do not overlap:

{found}

Make it again: `{again}`; `python -m studies.labels` measures all models again and writes the record. Another processor
rounds differently, so last digits may differ.
"""


def main() -> None:
    """Measure the models that are named, or all anew, one after the other, and write the record after each: it keeps the others."""
    torch.set_num_threads(1)
    made = results.recorded(NAME, LabelCurves) if sys.argv[1:] and NAME in results.results() else None
    for model in sys.argv[1:] or MODELS:
        size = sized(5, (), CurvesSize.steps, models=(model,))
        fresh = measured(size, lambda line: sys.stderr.write(line + "\n"), processes=1)
        alike = made is not None and made.tasks == fresh.tasks and made.counts.tolist() == fresh.counts.tolist()
        made = joined(made, fresh) if made is not None and alike and model not in made.models else fresh
        results.write_result(NAME, made, card(made), (MODELS[model],))
    assert made is not None
    sys.stdout.write(made.as_text() + "\n")


if __name__ == "__main__":
    main()
