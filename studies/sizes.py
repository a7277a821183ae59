"""What a larger model learns from the same text: BERT and GPT-2 at `tiny` and at `small`, at the rates of `rates_by_size`.

`python -m studies.sizes` measures again (about an hour on two cores; `decoder` or `encoder` alone takes half) and writes
`data/results/sizes-decoder` and `data/results/sizes-encoder`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from explorer.errors import FileError
from explorer.models import results, store
from explorer.records import Curve, Curves
from explorer.training.optimising import ADAM_RATE
from studies import rates_by_size, runs
from studies.rates_by_size import label
from studies.runs import FAMILIES
from studies.study import Size, Study, main, table

HEAD = ("size", "weights", "tokens read (estimated from 50 steps)", "loss on new stories", "seconds a step, one thread")
SIZE = Size(sizes=("tiny", "small"), steps=5000, stories=120_000, batch=32, held_out=256, checks=24, seed=0)


class Trained(NamedTuple):
    """One run: its held-out losses by step, the seconds of a step, how many weights learned, and how many tokens they read."""

    steps: list[int]
    losses: list[float]
    seconds: float
    weights: int
    tokens: int


def best_rates(family: str, sizes: Sequence[str] = SIZE.sizes) -> dict[str, float]:
    """By size, the multiple of the usual rates with the lowest loss in the record of `rates_by_size`."""
    name = f"rates-{family}"
    if name not in results.results():
        raise FileError(f"The rates come from the record {name}. Measure it first: python -m studies.rates_by_size {family}")
    best = {line.label: float(line.x[line.y.argmin()]) for line in results.recorded(name, Curves).lines}
    return {size: best[label(FAMILIES[family][0], size)] for size in sizes}


def train(family: str, model_size: str, size: Size, rate: float | None = None) -> Trained:
    """One size at its best rate, or at a rate that is given, from random weights."""
    system, objective = FAMILIES[family]
    rate = best_rates(family, [model_size])[model_size] if rate is None else rate
    run = runs.run(
        system, size.steps, size.seed, "microworld", size=model_size, objective=objective, rate=rate * ADAM_RATE, batch=size.batch,
        precision="bfloat16", held=runs.stories_of("microworld", size.held_out, "validation"), checks=size.checks,
        corpus=runs.stories_of("microworld", size.stories),
    )  # fmt: skip
    weights = sum(weight.numel() for weight in run.model.module.parameters())
    began = time.monotonic()
    losses = {step.step: float(step.metrics["held-out loss"]) for step in run if "held-out loss" in step.metrics}
    seconds = (time.monotonic() - began) / size.steps
    sample = range(1, size.steps + 1, max(1, size.steps // 50))
    tokens = round(size.steps * sum(run.batch(n).tokens for n in sample) / len(sample))
    return Trained(list(losses), list(losses.values()), seconds, weights, tokens)


def measure(family: str, trained: Sequence[Trained], size: Size) -> dict[str, Any]:
    """The losses by step, a line for each size in the colour that it has among the rates; and the size and time of each run."""
    system, rates = FAMILIES[family][0], best_rates(family, size.sizes)
    by_size, colours = dict(zip(size.sizes, trained, strict=True)), rates_by_size.SIZE.sizes
    drawn = tuple(
        Curve(label(system, name), np.array(run.steps, float), np.array(run.losses), colour=colours.index(name))
        for name, run in by_size.items()
    )
    at = "; ".join(f"{name} at × {rates[name]:g} the usual rates" for name in size.sizes)
    note = (
        f"{system}, seed {size.seed}, {size.steps:,} steps of {size.batch} stories, {size.stories:,} stories of the microworld, "
        f"bfloat16; {at}"
    )
    title, up = f"The same text, two sizes, {family}", "loss on new stories (nats per token)"
    kept = {name: {part: getattr(run, part) for part in ("weights", "tokens", "seconds")} for name, run in by_size.items()}
    return {f"sizes-{family}": Curves(title, "training step", up, drawn, note), f"sizes-{family}/runs": kept}


def facts(family: str, curves: Curves, size: Size) -> dict[str, str]:
    """What the card says of each run."""
    kept = json.loads((store.data_folder() / "results" / f"sizes-{family}" / "runs.json").read_text("utf-8"))
    rows = [
        (line.label, f"{run['weights']:,}", f"{run['tokens']:,}", f"{line.y[-1]:.3f}", f"{run['seconds']:.2f}")
        for line, run in zip(curves.lines, kept.values(), strict=True)
    ]
    return {"table": table(HEAD, rows)}


STUDIES = {
    family: Study(f"sizes-{family}", SIZE, ("sizes",), train, measure, facts, text="sizes", case=family) for family in FAMILIES
}

if __name__ == "__main__":
    main(STUDIES)
