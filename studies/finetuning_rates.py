"""Which learning rate each way to fine-tune wants: measured on held-out texts, not guessed.

`python -m studies.finetuning_rates [MODEL]` measures a model again (bert, or bert-tiny) and writes
`data/results/finetuning-rates` (`…-tiny`). The rates of `explorer/training/finetune/plan.py` are those that are best here.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import torch

from explorer.errors import unknown
from explorer.models import results
from explorer.records import Curve, Curves
from explorer.training.finetune.finetuning import finetune
from explorer.training.finetune.metrics import SHARE, interval
from studies import common_runs

NAME = "finetuning-rates"
NAMES = {"bert": NAME, "bert-tiny": f"{NAME}-tiny"}  # the record of each model
HOWS = ("full", "last-1", "frozen", "lora", "scratch")
RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)


@dataclass(frozen=True)
class TuningSize:
    """How much is learned and asked."""

    model: str = "bert"
    tasks: tuple[str, ...] = ("sentiment", "new words: kind")
    rates: tuple[float, ...] = RATES
    seeds: tuple[int, ...] = (0, 1, 2)
    examples: int = 100
    steps: int = 80
    asked: int = 200


def one(task: str, how: str, rate: float, seed: int, size: TuningSize) -> float:
    """The score of one fine-tuning on held-out texts of the words that were labelled: texts of the test choose nothing."""
    run = finetune(
        size.model, task=task, how=how, seed=seed, examples=size.examples, steps=size.steps, rate=rate, checks=0, snapshots=0,
        device="cpu",
    )  # fmt: skip
    for _ in run:
        pass
    return run.score("validation", size.asked)


def measured(size: TuningSize, processes: int = 0) -> Curves:
    """For every way to fine-tune a line: the score by the rate, as the mean over tasks; error bars are 95 % intervals over seeds."""
    each = [(task, how, rate, seed, size) for how in HOWS for rate in size.rates for seed in size.seeds for task in size.tasks]
    shape = (len(HOWS), len(size.rates), len(size.seeds), len(size.tasks))
    scores = np.array(common_runs.each(one, each, processes)).reshape(shape).mean(-1)
    lines = []
    for how, found in zip(HOWS, scores, strict=True):
        mean, low, high = np.array([interval(seeds, SHARE) for seeds in found]).T
        lines.append(Curve(how, np.array(size.rates), mean, low, high))
    note = (
        f"{size.model}, mean of {' and '.join(size.tasks)}; {size.examples} labelled texts, {size.steps} steps, {len(size.seeds)} seeds; "
        "error bars: 95 % of the mean, within 0 and 1"
    )
    return Curves(
        "The learning rate of each way to fine-tune", "learning rate", "score on held-out texts", tuple(lines), note, log=True
    )


def best(made: Curves) -> dict[str, float]:
    """The rate with the highest mean, for every way to fine-tune."""
    return {line.label: float(line.x[line.y.argmax()]) for line in made.lines}


def card(made: Curves) -> str:
    """What was measured, what is best, and how to do it again."""
    head = (
        "| | " + " | ".join(f"{rate:g}" for rate in made.lines[0].x) + " | best |\n" + "|---" * (len(made.lines[0].x) + 2) + "|"
    )
    rows = [head]
    for line in made.lines:
        rows.append(f"| {line.label} | {' | '.join(f'{value:.3f}' for value in line.y)} | {best(made)[line.label]:g} |")
    return CARD.format(note=made.note, rows="\n".join(rows), model=made.note.partition(",")[0])


CARD = """# Learning rates of fine-tuning

{note}. The held-out texts are other texts with the words that were labelled; no text of the test was looked at.

{rows}

Make it again: `python -m studies.finetuning_rates {model}`. Another processor rounds differently, so last digits may differ.
"""


def main() -> None:
    """Measure and write the record of each model that was asked for."""
    torch.set_num_threads(1)
    for model in sys.argv[1:] or ["bert"]:
        if model not in NAMES:
            raise unknown("model to measure", model, NAMES)
        made = measured(TuningSize(model), processes=1)
        results.write_result(NAMES[model], made, card(made), (model,))
        sys.stdout.write(card(made))


if __name__ == "__main__":
    main()
