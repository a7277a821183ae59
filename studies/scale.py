"""Does training need the division by √dₖ? Twelve small decoders of the same width: narrow and wide heads, with and without it.

`python -m studies.scale` measures again (about twenty minutes) and writes `data/results/scale`.
"""

from __future__ import annotations

import numpy as np

from explorer.nn.losses import causal_loss
from explorer.records import Curves, spread
from studies import runs
from studies.study import Size, Study, lines, main

SETTINGS = {
    "16 heads of width 16, ÷ √dₖ": (16, True),
    "16 heads of width 16, not divided": (16, False),
    "one head of width 256, ÷ √dₖ": (1, True),
    "one head of width 256, not divided": (1, False),
}
SIZE = Size(width=256, steps=300, every=25, held_out=200, seeds=(0, 1, 2))


def train(setting: str, seed: int, size: Size) -> np.ndarray:
    """The held-out loss of one run, every so many steps."""
    heads, scaled = SETTINGS[setting]
    run = runs.run("gpt2", size.steps, seed, dim=size.width, hidden=4 * size.width, heads=heads, scaled=scaled)
    batch = runs.toy_batch(run, "causal", size.held_out)
    return np.array(runs.course(run, lambda model: float(causal_loss(model.module, batch, 0.0)["lm"]), size))


def measure(losses: np.ndarray, size: Size) -> Curves:
    """Held-out loss while training, for every setting and seed."""
    note = f"decoders of width {size.width}, two layers, {len(size.seeds)} seeds each, on toy stories"
    drawn = lines(spread, SETTINGS, size.due, losses)
    return Curves("Training with and without ÷ √dₖ", "training step", "loss on new stories (nats per token)", drawn, note)


STUDIES = {"scale": Study("scale", SIZE, (SETTINGS, "seeds"), train, measure)}

if __name__ == "__main__":
    main(STUDIES)
