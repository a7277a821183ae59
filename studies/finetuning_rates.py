"""Which learning rate each way to fine-tune wants: measured on held-out texts, not guessed.

`python -m studies.finetuning_rates [MODEL]` measures a model again (bert, or bert-tiny) and writes `data/results/finetuning-rates`
(`…-tiny`). The rates of `explorer/training/finetune/plan.py` are those that are best here.
"""

from __future__ import annotations

import numpy as np

from explorer.records import Curves
from explorer.training.finetune.metrics import SHARE
from studies import runs
from studies.study import Size, Study, main, table, with_interval

HOWS = ("full", "last-1", "frozen", "lora", "scratch")
RATES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
PLACES = {"bert": "finetuning-rates", "bert-tiny": "finetuning-rates-tiny"}  # the record of each model
SIZE = Size(
    model="bert", tasks=("sentiment", "new words: kind"), rates=RATES, seeds=(0, 1, 2), examples=100, steps=80, tested=200
)


def train(how: str, rate: float, seed: int, task: str, size: Size) -> float:
    """The score of one fine-tuning on held-out texts of the words that were labelled: texts of the test choose nothing."""
    given = {"task": task, "how": how, "seed": seed, "examples": size.examples, "steps": size.steps, "rate": rate}
    return runs.finetuned(size.model, **given).score("validation", size.tested)


def measure(scores: np.ndarray, size: Size) -> Curves:
    """For every way to fine-tune a line: the score by the rate, as the mean over tasks; error bars are 95% intervals over seeds."""
    by_how = zip(HOWS, scores.mean(-1), strict=True)
    drawn = tuple(with_interval(how, np.array(size.rates), by_rate.T, SHARE) for how, by_rate in by_how)
    note = (
        f"{size.model}, mean of {' and '.join(size.tasks)}; {size.examples} labelled texts, {size.steps} steps, {len(size.seeds)} seeds; "
        "error bars: 95% of the mean, within 0 and 1"
    )
    title = "The learning rate of each way to fine-tune"
    return Curves(title, "learning rate", "score on held-out texts", drawn, note, log=True)


def best(curves: Curves) -> dict[str, float]:
    """The rate with the highest mean, for every way to fine-tune."""
    return {line.label: float(line.x[line.y.argmax()]) for line in curves.lines}


def facts(curves: Curves, size: Size) -> dict[str, str]:
    """The scores of every way at every rate."""
    rows = [(line.label, *(f"{y:.3f}" for y in line.y), f"{best(curves)[line.label]:g}") for line in curves.lines]
    return {"table": table(["", *(f"{rate:g}" for rate in curves.lines[0].x), "best"], rows)}


AXES = (HOWS, "rates", "seeds", "tasks")
STUDIES = {
    model: Study(place, SIZE.but(model=model), AXES, train, measure, facts, text="finetuning-rates", models=(model,))
    for model, place in PLACES.items()
}

if __name__ == "__main__":
    main(STUDIES)
