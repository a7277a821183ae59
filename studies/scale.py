"""Does training need the division by √dₖ? Twelve small decoders of the same width: narrow and wide heads, with and without it.

`python -m studies.scale` measures again (about twenty minutes) and writes `data/results/scale`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import torch

from explorer.corruption import collate
from explorer.corruption.collate import BatchContext
from explorer.models import results
from explorer.nn.losses import causal_loss
from explorer.records import Curves, spread
from explorer.text.examples import prepared
from explorer.text.toy import toy_stories as stories
from explorer.training.device import tensors
from studies import common_runs

WIDTH, STEPS, EVERY, SEEDS = 256, 300, 25, (0, 1, 2)
SETTINGS = {
    "16 heads of width 16, ÷ √dₖ": (16, True),
    "16 heads of width 16, not divided": (16, False),
    "one head of width 256, ÷ √dₖ": (1, True),
    "one head of width 256, not divided": (1, False),
}


def measure() -> Curves:
    """Held-out loss while training, for every setting and seed."""
    lines, x = [], np.arange(EVERY, STEPS + 1, EVERY)
    for label, (heads, scaled) in SETTINGS.items():
        runs = np.array([list(losses(heads, scaled, seed)) for seed in SEEDS])  # [run, step]
        lines.append(spread(label, x, runs))
        sys.stderr.write(f"{label}: {runs[:, -1].round(3).tolist()}\n")
    note = f"decoders of width {WIDTH}, two layers, {len(SEEDS)} seeds each, on toy stories"
    return Curves(
        "Training with and without ÷ √dₖ", "training step", "loss on new stories (nats per token)", tuple(lines), note
    )


def losses(heads: int, scaled: bool, seed: int) -> Iterator[float]:
    """The held-out loss of one run, every so many steps."""
    run = common_runs.run("gpt2", STEPS, seed, dim=WIDTH, hidden=4 * WIDTH, heads=heads, scaled=scaled)
    pieces = run.model.tokenizer
    fresh = prepared(list(stories(200, 2)), pieces)
    batch = collate.collate_causal(
        fresh, BatchContext(fresh, pieces.vocabulary, run.model.longest, "causal", np.random.default_rng(0))
    )
    ready = tensors(batch, run.model.device)
    for step in run:
        if step.step % EVERY == 0:
            run.model.module.eval()
            with torch.no_grad():
                yield float(causal_loss(run.model.module, ready, 0.0)["lm"])
            run.model.module.train()


CARD = f"""# Training with and without ÷ √dₖ

Twelve decoders (preset `gpt2`, width {WIDTH}, two layers, {STEPS} steps of 32 stories), trained on the toy stories of
`explorer/text/toy.py` from seed 1 and measured on 200 stories of seed 2: sixteen heads of width 16 or one head of
width 256, each with and without the division by √dₖ, {len(SEEDS)} seeds each. The record holds the mean and the range of the seeds.

Make it again: `python -m studies.scale`. Another processor rounds differently, so last digits may differ.
"""


if __name__ == "__main__":
    results.write_result("scale", measure(), CARD)
