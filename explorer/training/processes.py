"""The processes that train one model together: each takes its rows of the same batch, and the gradients are added up.

`torchrun --standalone --nproc_per_node 2 -m explorer fit bert` starts two. Every process makes the whole batch, which costs
little, and works on its rows only; so the batch of a step does not depend on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError
from explorer.training.batches import Batch

LOSSES = {"meant": "antecedent"}  # labels that have another name than the loss they are for


@dataclass(frozen=True)
class Processes:
    """How many there are and which of them this is. `accelerator` connects them; a single one needs none."""

    number: int = 0
    count: int = 1
    accelerator: Any = None

    @property
    def main(self) -> bool:
        """Whether this is the one that writes and speaks."""
        return self.number == 0

    def wait(self) -> None:
        """Go on when all have come here."""
        if self.accelerator is not None:
            self.accelerator.wait_for_everyone()

    def parts(self, batch: Batch, accumulate: int) -> Iterator[tuple[int, Batch, dict[str, float]]]:
        """This process's parts of a batch, one after another: a number that no other part has, its rows, its share of each loss."""
        rows = np.array_split(np.arange(len(batch.source)), self.count * accumulate)
        whole = counts(batch)
        for number in range(self.number * accumulate, (self.number + 1) * accumulate):
            part = batch if len(rows) == 1 else cut(batch, slice(int(rows[number][0]), int(rows[number][-1]) + 1))
            yield number, part, {name: count / max(1, whole[name]) for name, count in counts(part).items()}

    def check(self, batch: int, accumulate: int) -> None:
        """Refuse more parts than there are texts."""
        if self.count * accumulate > batch:
            raise ChoiceError(
                f"batch={batch} cannot be divided among {self.count} process(es) in accumulate={accumulate} parts each. "
                "Take a larger batch or fewer parts."
            )

    def added_up(self, module: torch.nn.Module, losses: dict[str, Tensor], stopped: bool) -> tuple[dict[str, float], bool]:
        """The losses of all processes and whether any was stopped, the same in each; the gradients are added up in the module."""
        if self.accelerator is None:
            return {name: float(value) for name, value in losses.items()}, stopped
        held = list(module.parameters())
        first = held[0]
        kind = torch.promote_types(first.dtype, torch.float32)
        has = torch.tensor([weight.grad is not None for weight in held], device=first.device)
        told = [torch.tensor([float(stopped)], device=first.device), *(value.reshape(1) for value in losses.values()), has]
        grads = [(torch.zeros_like(weight) if weight.grad is None else weight.grad).reshape(-1) for weight in held]
        whole = self.accelerator.reduce(torch.cat([part.to(kind) for part in (*told, *grads)]), reduction="sum")
        flags, *rest = whole.split([1 + len(losses) + len(held), *(weight.numel() for weight in held)])
        for weight, grad, some in zip(held, rest, flags[1 + len(losses) :].tolist(), strict=True):
            weight.grad = grad.view_as(weight).to(weight.dtype) if some else None
        values = flags[: 1 + len(losses)].tolist()
        return dict(zip(losses, values[1:], strict=True)), values[0] > 0


def weighed(loss: Tensor, share: float) -> Tensor:
    """A part's share of the loss; nothing where the part has nothing to be told (a mean over nothing is no number)."""
    return loss * share if share else torch.zeros_like(loss)


def counts(batch: Batch) -> dict[str, int]:
    """Over how many places or rows the mean of each loss is taken; "" is every loss that has no labels of its own.

    States are compared with a teacher's wherever there is text.
    """
    labelled = {
        LOSSES.get(name, name): int((label.any(-1) if label.dtype == bool else label >= 0).sum())
        for name, label in batch.labels.items()
    }
    return {"": int(batch.scored.sum()), "cosine": int(batch.real.sum()), **labelled}


def cut(batch: Batch, rows: slice) -> Batch:
    """Some rows of a batch."""
    parts = {name: getattr(batch, name)[rows] for name in ("source", "real", "segments", "answers", "scored")}
    return replace(batch, **parts, labels={name: label[rows] for name, label in batch.labels.items()})


def wanted() -> int:
    """How many processes `torchrun` started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@lru_cache(maxsize=1)
def together(on_cpu: bool) -> Processes:
    """This process and the others that were started with it."""
    if wanted() == 1:
        return Processes()
    import atexit

    import torch.distributed as distributed
    from accelerate import Accelerator  # late: a single process does not wait for it

    accelerator = Accelerator(cpu=on_cpu)
    atexit.register(lambda: distributed.destroy_process_group() if distributed.is_initialized() else None)
    if accelerator.num_processes != wanted():
        raise ChoiceError(
            f"{wanted()} processes were started, but {accelerator.num_processes} found each other. Start them with torchrun."
        )
    return Processes(accelerator.process_index, accelerator.num_processes, accelerator)
