"""Does the best learning rate of a small model serve a larger one? The same steps with other rates, for three sizes.

`python -m studies.rates_by_size` measures again (about an hour on two cores; `decoder` or `encoder` alone takes half) and writes
`data/results/rates-decoder` and `data/results/rates-encoder`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.models import results
from explorer.models.presets import preset
from explorer.records import Curves, spread
from explorer.training.optimising import ADAM_RATE, MUON_RATE
from studies import common_runs

FAMILIES = {"decoder": ("gpt2", "causal"), "encoder": ("bert", "mlm")}


@dataclass(frozen=True)
class RateStudy:
    """How large the experiment is: the sizes, the rates in multiples of the usual ones, and how long each run is."""

    sizes: tuple[str, ...] = ("tiny", "mini", "small")
    rates: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)
    steps: int = 300
    batch: int = 32
    held: int = 256
    seeds: tuple[int, ...] = (0, 1)


FULL = RateStudy()


def held_out_loss(family: str, size: str, rate: float, seed: int, study: RateStudy = FULL) -> float:
    """The loss on new stories after the last step of one run."""
    system, objective = FAMILIES[family]
    held = common_runs.stories_of("microworld", study.held, "validation")
    run = common_runs.run(
        system, study.steps, seed, "microworld", size=size, objective=objective, rate=rate * ADAM_RATE, batch=study.batch,
        precision="bfloat16", held=held, checks=1,
    )  # fmt: skip
    *_, last = run
    return float(last.metrics["held-out loss"])


def measure(family: str, study: RateStudy = FULL, processes: int = 2) -> Curves:
    """The loss by the rate, a line for each size."""
    largest_first = [
        (family, size, rate, seed, study) for size in reversed(study.sizes) for rate in study.rates for seed in study.seeds
    ]
    shape = (len(study.sizes), len(study.rates), len(study.seeds))
    found = np.array(common_runs.each(held_out_loss, largest_first, processes)).reshape(shape)[::-1]
    x, system = np.array(study.rates), FAMILIES[family][0]
    lines = tuple(spread(label(system, size), x, runs.T) for size, runs in zip(study.sizes, found, strict=True))
    note = (
        f"{system}, {len(study.seeds)} seeds, {study.steps} steps of {study.batch} stories of the microworld; × 1 is {MUON_RATE:g} for the "
        f"matrices of the layers (Muon) and {ADAM_RATE:g} for all else (AdamW)"
    )
    return Curves(
        f"Learning rates by size, {family}", "× the usual rates", "loss on new stories (nats per token)", lines, note, log=True
    )


def label(system: str, size: str) -> str:
    """A size with its width and depth."""
    shape = preset(system).sizes[size]
    return f"{size}: {shape['dim']} wide, {shape['layers']} layers"


def best(made: Curves) -> str:
    """The best rate of each size, and what the rates on both sides of it lose."""
    said = []
    for line in made.lines:
        at = int(line.y.argmin())
        beside = [f"× {line.x[n]:g} is {line.y[n] - line.y[at]:.3f} worse" for n in (at - 1, at + 1) if 0 <= n < len(line.x)]
        said.append(f"- {line.label}: × {line.x[at]:g} ({line.y[at]:.3f}); {', '.join(beside)}")
    return "\n".join(said)


def card(made: Curves, family: str) -> str:
    """What was done, what was found, and how to do it again."""
    return (
        f"# {made.title}\n\n{made.note}.\nEach run has its own warm-up and cosine decay and begins with random weights, in bfloat16. The "
        f"best rate of each size:\n\n{best(made)}\n\nWhere the best rate is the same for all sizes, a rate that was found with a small "
        "model may be used for a larger one. This says nothing about much longer trainings, or about models a hundred times as large.\n\n"
        f"The record holds the mean and the range of the seeds. Make it again: `python -m studies.rates_by_size {family}`.\n"
        "Another processor rounds differently, so last digits may differ.\n"
    )


def main(asked: Sequence[str]) -> None:
    """Measure and write, for some families or all."""
    for family in asked or FAMILIES:
        made = measure(family)
        results.write_result(f"rates-{family}", made, card(made, family))


if __name__ == "__main__":
    main(sys.argv[1:])
