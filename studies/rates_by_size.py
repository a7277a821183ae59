"""Does the best learning rate of a small model serve a larger one? The same steps with other rates, for three sizes.

`python -m studies.rates_by_size` measures again (about an hour on two cores; `decoder` or `encoder` alone takes half) and writes
`data/results/rates-decoder` and `data/results/rates-encoder`.
"""

from __future__ import annotations

import numpy as np

from explorer.models.presets import preset
from explorer.records import Curves, spread
from explorer.training.optimising import ADAM_RATE, MUON_RATE
from studies import runs
from studies.runs import FAMILIES
from studies.study import Size, Study, lines, main

SIZE = Size(  # the rates are multiples of the usual ones
    sizes=("tiny", "mini", "small"), rates=(0.25, 0.5, 1.0, 2.0, 4.0), steps=300, batch=32, held_out=256, seeds=(0, 1)
)


def train(family: str, model_size: str, rate: float, seed: int, size: Size) -> float:
    """The loss on new stories after the last step of one run."""
    system, objective = FAMILIES[family]
    validation = runs.stories_of("microworld", size.held_out, "validation")
    run = runs.run(
        system, size.steps, seed, "microworld", size=model_size, objective=objective, rate=rate * ADAM_RATE, batch=size.batch,
        precision="bfloat16", held=validation, checks=1,
    )  # fmt: skip
    *_, last = run
    return float(last.metrics["held-out loss"])


def measure(family: str, losses: np.ndarray, size: Size) -> Curves:
    """The loss by the rate, a line for each size: of the losses [size, rate, seed]."""
    system = FAMILIES[family][0]
    note = (
        f"{system}, {len(size.seeds)} seeds, {size.steps} steps of {size.batch} stories of the microworld; × 1 is {MUON_RATE:g} for the "
        f"matrices of the layers (Muon) and {ADAM_RATE:g} for all else (AdamW)"
    )
    labels = [label(system, name) for name in size.sizes]
    drawn = lines(spread, labels, np.array(size.rates), losses.swapaxes(1, 2))
    return Curves(
        f"Learning rates by size, {family}", "× the usual rates", "loss on new stories (nats per token)", drawn, note, log=True
    )


def label(system: str, size: str) -> str:
    """A size with its width and depth."""
    shape = preset(system).sizes[size]
    return f"{size}: {shape['dim']} wide, {shape['layers']} layers"


def best(curves: Curves) -> str:
    """The best rate of each size, and what the rates on both sides of it lose."""
    rows = []
    for line in curves.lines:
        at = int(line.y.argmin())
        beside = [f"× {line.x[n]:g} is {line.y[n] - line.y[at]:.3f} worse" for n in (at - 1, at + 1) if 0 <= n < len(line.x)]
        rows.append(f"- {line.label}: × {line.x[at]:g} ({line.y[at]:.3f}); {', '.join(beside)}")
    return "\n".join(rows)


def facts(family: str, curves: Curves, size: Size) -> dict[str, str]:
    """What the card says of the rates."""
    return {"best": best(curves)}


AXES = ("sizes", "rates", "seeds")
STUDIES = {
    family: Study(f"rates-{family}", SIZE, AXES, train, measure, facts, text="rates-by-size", case=family)
    for family in FAMILIES
}

if __name__ == "__main__":
    main(STUDIES)
