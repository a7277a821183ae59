"""What a larger model learns from the same text: BERT and GPT-2 at `tiny` and at `small`, at the rates of `rates_by_size`.

`python -m studies.sizes` measures again (about an hour on two cores; `decoder` or `encoder` alone takes half) and writes
`data/results/sizes-decoder` and `data/results/sizes-encoder`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from explorer.errors import FileError
from explorer.models import results
from explorer.records import Curve, Curves
from explorer.training.optimising import ADAM_RATE
from studies import common_runs
from studies.rates_by_size import FAMILIES, label
from studies.rates_by_size import FULL as RATED


@dataclass(frozen=True)
class SizeStudy:
    """How large the experiment is: the sizes, and how long each run is."""

    sizes: tuple[str, ...] = ("tiny", "small")
    steps: int = 5000
    stories: int = 120_000
    batch: int = 32
    held: int = 256
    checks: int = 24
    seed: int = 0


FULL = SizeStudy()


class Trained(NamedTuple):
    """One run: its held-out losses by step, the seconds of a step, how many weights learned, and how many tokens they read."""

    steps: list[int]
    losses: list[float]
    seconds: float
    weights: int
    tokens: int


def best_rates(family: str, study: SizeStudy = FULL) -> dict[str, float]:
    """By size, the multiple of the usual rates with the lowest loss in the record of `rates_by_size`."""
    name = f"rates-{family}"
    if name not in results.results():
        raise FileError(f"The rates come from the record {name}. Measure it first: python -m studies.rates_by_size {family}")
    measured = results.recorded(name, Curves)
    found = {line.label: float(line.x[line.y.argmin()]) for line in measured.lines}
    return {size: found[label(FAMILIES[family][0], size)] for size in study.sizes}


def train(family: str, size: str, rate: float, study: SizeStudy = FULL) -> Trained:
    """One size at one rate, from random weights."""
    system, objective = FAMILIES[family]
    held = common_runs.stories_of("microworld", study.held, "validation")
    run = common_runs.run(
        system, study.steps, study.seed, "microworld", size=size, objective=objective, rate=rate * ADAM_RATE, batch=study.batch,
        precision="bfloat16", held=held, checks=study.checks, corpus=common_runs.stories_of("microworld", study.stories),
    )  # fmt: skip
    weights = sum(weight.numel() for weight in run.model.module.parameters())
    began, steps, losses = time.monotonic(), [], []
    for step in run:
        if "held-out loss" in step.metrics:
            steps.append(step.step)
            losses.append(float(step.metrics["held-out loss"]))
    seconds = (time.monotonic() - began) / study.steps
    sample = range(1, study.steps + 1, max(1, study.steps // 50))
    tokens = round(study.steps * sum(run.batch(n).tokens for n in sample) / len(sample))
    return Trained(steps, losses, seconds, weights, tokens)


def measure(family: str, rates: Mapping[str, float], trained: Mapping[str, Trained], study: SizeStudy = FULL) -> Curves:
    """The losses by step, a line for each size in the colour that it has among the rates."""
    system = FAMILIES[family][0]
    lines = tuple(
        Curve(label(system, size), np.array(one.steps, float), np.array(one.losses), colour=RATED.sizes.index(size))
        for size, one in trained.items()
    )
    at = "; ".join(f"{size} at × {rates[size]:g} the usual rates" for size in trained)
    note = (
        f"{system}, seed {study.seed}, {study.steps:,} steps of {study.batch} stories, {study.stories:,} stories of the microworld, "
        f"bfloat16; {at}"
    )
    return Curves(f"The same text, two sizes, {family}", "training step", "loss on new stories (nats per token)", lines, note)


def card(made: Curves, family: str, trained: Mapping[str, Trained]) -> str:
    """What was done, what was found, and how to do it again."""
    rows = "\n".join(
        f"| {line.label} | {one.weights:,} | {one.tokens:,} | {line.y[-1]:.3f} | {one.seconds:.2f} |"
        for line, one in zip(made.lines, trained.values(), strict=True)
    )
    return (
        f"# {made.title}\n\n{made.note}.\nBoth sizes read the same stories in the same order, from random weights, each with the rate "
        f"that `rates_by_size` found best for it, warm-up and cosine decay; one thread for each run.\n\n"
        "| size | weights | tokens read (estimated from 50 steps) | loss on new stories | seconds a step, one thread |\n"
        "|---|---|---|---|---|\n"
        f"{rows}\n\n"
        "One seed: small differences say nothing. Neither has converged, and the larger one took many times as long for a step; in the "
        "same time the smaller one would have read more text.\n\n"
        f"Make it again: `python -m studies.sizes {family}`.\nAnother processor rounds differently, so last digits may differ.\n"
    )


def main(asked: Sequence[str]) -> None:
    """Train and write, for some families or all, two at a time and the longest first."""
    families, study = tuple(asked or FAMILIES), FULL
    rates = {family: best_rates(family, study) for family in families}
    tasks = [(family, size, rates[family][size], study) for size in reversed(study.sizes) for family in families]
    found = dict(zip([task[:2] for task in tasks], common_runs.each(train, tasks), strict=True))
    for family in families:
        trained = {size: found[family, size] for size in study.sizes}
        made = measure(family, rates[family], trained, study)
        results.write_result(f"sizes-{family}", made, card(made, family, trained))


if __name__ == "__main__":
    main(sys.argv[1:])
