"""What one step needs on the device of a model: its batch, and chance begun anew."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from explorer.training.batches import Batch


def tensors(batch: Batch, device: torch.device) -> dict[str, Tensor]:
    """A batch as an objective takes it."""
    named = {"source": batch.source, "real": batch.real, "segments": batch.segments, "answers": batch.answers}
    where = np.flatnonzero(batch.scored)  # found here: no device is waited for
    named |= {"scored": batch.scored, "where": where, **batch.labels}
    made = {name: torch.as_tensor(np.ascontiguousarray(value)) for name, value in named.items()}
    if device.type != "cuda":
        return {name: value.to(device) for name, value in made.items()}
    return {name: value.pin_memory().to(device, non_blocking=True) for name, value in made.items()}  # nobody waits for the copy


def seeded(device: torch.device, number: int) -> None:
    """Begin the chance of one device anew; `torch.manual_seed` asks every kind of device there is, which takes longer than a small step."""
    generator = torch.default_generator if device.type != "cuda" else torch.cuda.default_generators[device.index or 0]
    generator.manual_seed(number)
