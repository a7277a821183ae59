"""The processes that train one model together: each takes its rows of the same batch, and the gradients are added up.

`torchrun --standalone --nproc_per_node 2 -m explorer fit bert` starts two. Every process makes the whole batch, which costs
little, and works on its rows only; so the batch of a step does not depend on how many there are. With `by_row=True` each row draws
from its own generator, and a process makes its own rows alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import torch
import torch.distributed
from torch import Tensor

from explorer.corruption.collate import PARTS, Batch
from explorer.errors import ChoiceError

SENT = 1 << 25  # so many gradients are sent at once
Share = float | Tensor
Weigh = Callable[[Batch], dict[str, int]]  # over how many positions or rows each loss is a mean


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

    def as_main(self, value: bool) -> bool:
        """What the main one says, in all of them."""
        return value if self.accelerator is None else bool(self.every(value)[0])

    def every(self, value: Any) -> list[Any]:
        """What each of them says, in their order."""
        said = [value] * self.count
        if self.accelerator is not None:
            torch.distributed.all_gather_object(said, value)
        return said

    def parts(
        self, batch: Batch, accumulate: int, weigh: Weigh, *, own: bool = False
    ) -> Iterator[tuple[int, Batch, dict[str, Share]]]:
        """This process's parts of a batch, one after another: a number that no other part has, its rows, its share of each loss.

        A batch of its `own` rows alone is divided no further among processes, and what the others count is asked of them.
        """
        rows = np.array_split(np.arange(len(batch.source)), accumulate if own else self.count * accumulate)
        first = 0 if own else self.number * accumulate
        whole = self._summed(weigh(batch)) if own else {name: max(1, count) for name, count in weigh(batch).items()}
        for place in range(first, first + accumulate):
            part = batch if len(rows) == 1 else rows_between(batch, slice(int(rows[place][0]), int(rows[place][-1]) + 1))
            shares: dict[str, Share] = {name: count / whole[name] if count else 0.0 for name, count in weigh(part).items()}
            yield self.number * accumulate + place - first, part, shares

    def _summed(self, counts: dict[str, int]) -> dict[str, Tensor]:
        """The counts of all processes together, where they compute: nobody waits for them here."""
        mine = handed_over([float(count) for count in counts.values()], torch.float64, self.accelerator.device)
        every = self.accelerator.reduce(mine, reduction="sum").clamp(min=1)
        return dict(zip(counts, every.unbind(), strict=True))

    def check(self, batch: int, accumulate: int) -> None:
        """Refuse more parts than there are texts."""
        if self.count * accumulate > batch:
            raise ChoiceError(
                f"batch={batch} cannot be divided among {self.count} process(es) in accumulate={accumulate} parts each. "
                "Take a larger batch or fewer parts."
            )

    def all_reduce(
        self, module: torch.nn.Module, losses: dict[str, Tensor], stopped: bool, norm: Callable[[], Tensor]
    ) -> tuple[dict[str, float], float, bool]:
        """The losses of all processes, the norm of their gradients and whether any was stopped, the same in each.

        The gradients are added up in the module. The device is waited for once.
        """
        if self.accelerator is None:
            *values, size = torch.stack([value.reshape(()) for value in (*losses.values(), norm())]).tolist()
            return dict(zip(losses, values, strict=True)), size, stopped
        weights = list(module.parameters())
        device = weights[0].device
        kind = torch.promote_types(weights[0].dtype, torch.float32)
        known = [float(stopped), *(float(weight.grad is not None) for weight in weights)]
        stop, has = handed_over(known, kind, device).split([1, len(weights)])
        flags = torch.cat([part.reshape(-1).to(kind) for part in (stop, *losses.values(), has)])
        for number, some in enumerate(bundles(weights)):
            flags = add_up(some, flags, first=number == 0)
        size, stop, *values = torch.cat((norm().reshape(1).to(kind), flags)).tolist()
        for weight, some in zip(weights, values[len(losses) :], strict=True):
            weight.grad = weight.grad if some else None
        return dict(zip(losses, values, strict=False)), size, stop > 0


def handed_over(numbers: list[float], kind: torch.dtype, device: torch.device) -> Tensor:
    """A few numbers on a device, by a copy for which nobody waits."""
    near = torch.tensor(numbers, dtype=kind)
    return (near.pin_memory() if device.type == "cuda" else near).to(device, non_blocking=True)


def bundles(weights: list[torch.nn.Parameter]) -> Iterator[list[torch.nn.Parameter]]:
    """The weights in parts whose gradients are sent together: what that takes in memory does not grow with the model."""
    some: list[torch.nn.Parameter] = []
    for weight in weights:
        if some and sum(one.numel() for one in some) + weight.numel() > SENT:
            yield some
            some = []
        some.append(weight)
    yield some


def add_up(weights: list[torch.nn.Parameter], flags: Tensor, *, first: bool) -> Tensor:
    """Replace the gradients of these weights by the sum over all processes. With the first of them go the flags, which come back."""
    grads = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
    sent = torch.cat([*([flags] if first else []), *(grad.reshape(-1).to(flags.dtype) for grad in grads)])
    torch.distributed.all_reduce(sent)
    found, *rest = sent.split([len(flags) if first else 0, *(weight.numel() for weight in weights)])
    for weight, grad in zip(weights, rest, strict=True):
        weight.grad = grad.view_as(weight).to(weight.dtype)
    return found if first else flags


def scaled(loss: Tensor, share: Share) -> Tensor:
    """A part's share of the loss; nothing where nothing counts in the part (a mean over nothing is no number)."""
    if isinstance(share, Tensor):  # of counts that lie on a device
        return loss * share.to(loss.dtype)
    return loss * share if share else torch.zeros_like(loss)


def rows_between(batch: Batch, rows: slice) -> Batch:
    """Some rows of a batch."""
    parts = {name: getattr(batch, name)[rows] for name in PARTS}
    return replace(batch, **parts, extras={name: extra[rows] for name, extra in batch.extras.items()})


def wanted() -> int:
    """How many processes `torchrun` started; 1 without it."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def leave_processes() -> None:
    """Leave the group, and give its threads a moment to let go of their tensors: Python must still be there then, or the process aborts."""
    import torch.distributed as distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()
        time.sleep(0.3)


@lru_cache(maxsize=1)
def join_processes(on_cpu: bool) -> Processes:
    """This process and the others that were started with it."""
    if wanted() == 1:
        return Processes()
    import atexit

    from accelerate import Accelerator, InitProcessGroupKwargs  # late: a single process does not wait for it

    patient = InitProcessGroupKwargs(timeout=timedelta(hours=2))  # while one of them measures or writes, the others wait
    accelerator = Accelerator(cpu=on_cpu, kwargs_handlers=[patient])
    atexit.register(leave_processes)
    if accelerator.num_processes != wanted():
        raise ChoiceError(
            f"{wanted()} processes were started, but {accelerator.num_processes} found each other. Start them with torchrun."
        )
    return Processes(accelerator.process_index, accelerator.num_processes, accelerator)
