"""Training as a generator: the reader takes a step at a time and stops when he likes."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import nn

from explorer.errors import ChoiceError
from explorer.model import OwnModel
from explorer.nn.presets import preset
from explorer.objectives import OBJECTIVES, Batch, Objective
from explorer.records import TrainingStep
from explorer.text.batches import padded, pair_rows, plain_rows, shuffled

MUON_RATE, ADAM_RATE, WARM = 0.02, 3e-3, 0.05


def fit(
    model: OwnModel,
    stories: Sequence[Sequence[str]],
    *,
    steps: int,
    size: int = 32,
    seed: int = 0,
    by: Objective | None = None,
) -> Iterator[TrainingStep]:
    """Train `model` in place on `stories` (lists of sentences) by its preset's objective or `by` another, step by step."""
    if steps < 1 or size < 1 or len(stories) < size:
        raise ChoiceError(f"steps={steps} and size={size} must be at least 1, and there must be {size} stories or more.")
    chance = np.random.default_rng(seed)
    objective = preset(model.preset).objective
    cut = pair_rows(stories, model.tokenizer, model.longest, chance) if "nsp" in objective else None
    rows = cut or plain_rows(stories, model.tokenizer, model.longest)
    optimisers = _optimisers(model.module)
    batches = shuffled(rows, size, chance)
    model.module.train()
    try:
        for step in range(1, steps + 1):
            start = time.perf_counter()
            batch = Batch(*padded(next(batches), model.tokenizer.vocabulary.pad or 0))
            losses = (by or OBJECTIVES[objective])(model.module, batch, model.tokenizer.vocabulary, chance)
            rate = schedule(step, steps)
            _update(model.module, sum(losses.values(), torch.zeros(())), optimisers, rate)
            speed = float(batch.real.sum()) / (time.perf_counter() - start)
            yield TrainingStep(step, {name: float(loss.detach()) for name, loss in losses.items()}, rate, speed)
    finally:
        model.module.eval()


def schedule(step: int, steps: int) -> float:
    """The share of the full rate: up in a straight line, then down along a cosine."""
    warm = max(1, round(WARM * steps))
    return step / warm if step <= warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def _optimisers(module: nn.Module) -> list[tuple[torch.optim.Optimizer, float]]:
    """Muon for the matrices inside the layers, AdamW for everything else, each with its full rate."""
    inner = [p for name, p in module.named_parameters() if name.startswith("layers.") and p.dim() == 2]
    taken = {id(p) for p in inner}
    outer = [p for p in module.parameters() if id(p) not in taken]
    return [
        (torch.optim.Muon(inner, lr=MUON_RATE, weight_decay=0.01), MUON_RATE),
        (torch.optim.AdamW(outer, lr=ADAM_RATE, weight_decay=0.01, betas=(0.9, 0.98)), ADAM_RATE),
    ]


def _update(module: nn.Module, loss: torch.Tensor, optimisers: list[tuple[torch.optim.Optimizer, float]], rate: float) -> None:
    module.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(module.parameters(), 1.0)
    for optimiser, full in optimisers:
        for group in optimiser.param_groups:
            group["lr"] = full * rate
        optimiser.step()
