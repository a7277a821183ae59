"""The processes that train one model together: each takes its rows of the same batch, and PyTorch adds up the gradients.

`torchrun --standalone --nproc_per_node 2 -m explorer fit bert` starts two, and so does `explorer fit bert --processes 2`. Every process
makes the whole batch, which costs little, and works on its rows only; so the batch of a step does not depend on how many there are.
Each holds all weights (`DistributedDataParallel`), or with `shard=True` its part of them (`fully_shard`, also called FSDP2).
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from explorer.corruption.collate import PARTS, Batch
from explorer.errors import ChoiceError
from explorer.nn.losses import Loss, Losses, Tensors
from explorer.nn.transformer import Layer

Weigh = Callable[[Batch], dict[str, int]]  # over how many positions or rows each loss is a mean


class LossModule(nn.Module):
    """A loss as one forward pass, from whose beginning to its end PyTorch keeps the weights together."""

    def __init__(self, network: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.network, self._loss = network, loss

    def forward(self, batch: Tensors, smoothing: float) -> Losses:
        """The losses of a batch."""
        return self._loss(self.network, batch, smoothing)


@dataclass(frozen=True)
class Processes:
    """How many there are and which of them this is. `accelerator` connects them; a single one needs none."""

    number: int = 0
    count: int = 1
    accelerator: Any = None

    @property
    def main(self) -> bool:
        """Whether this is the one that writes and reports."""
        return self.number == 0

    def wait(self) -> None:
        """Go on when all have come here."""
        if self.accelerator is not None:
            self.accelerator.wait_for_everyone()

    def parts(self, batch: Batch, accumulate: int, weigh: Weigh) -> Iterator[tuple[int, Batch, dict[str, float]]]:
        """This process's parts of a batch, one after another: a number that no other part has, its rows, its share of each loss."""
        rows = np.array_split(np.arange(len(batch.source)), self.count * accumulate)
        whole = {name: max(1, count) for name, count in weigh(batch).items()}
        for place in range(self.number * accumulate, (self.number + 1) * accumulate):
            part, cut = batch, slice(int(rows[place][0]), int(rows[place][-1]) + 1)
            if len(rows) > 1:
                extras = {name: extra[cut] for name, extra in batch.extras.items()}
                part = replace(batch, **{name: getattr(batch, name)[cut] for name in PARTS}, extras=extras)
            yield place, part, {name: count / whole[name] for name, count in weigh(part).items()}

    def check(self, batch: int, accumulate: int) -> None:
        """Refuse more parts than there are texts."""
        if self.count * accumulate > batch:
            raise ChoiceError(
                f"batch={batch} cannot be divided among {self.count} process(es) in accumulate={accumulate} parts each. "
                "Take a larger batch or fewer parts."
            )

    def connected(self, network: nn.Module, loss: Loss) -> Loss:
        """A loss whose backward pass adds up the gradients of all processes: they then have those of the whole batch."""
        device = next(network.parameters()).device
        together = nn.parallel.DistributedDataParallel(
            LossModule(network, loss),
            device_ids=[device] if device.type == "cuda" else None,
            find_unused_parameters=True,
            broadcast_buffers=False,
        )
        return lambda _, batch, smoothing: together(batch, smoothing)

    def scaled(self, loss: Tensor, share: float) -> Tensor:
        """A part's share of the loss. A mean over nothing is no number: it counts as 0, and every process still goes the same way back."""
        if share:
            return loss * share
        return torch.zeros_like(loss) if self.accelerator is None else torch.where(loss.isfinite(), loss, 0.0) * 0.0

    def summed(self, losses: Mapping[str, Tensor], norm: Tensor, *flags: bool) -> tuple[dict[str, float], float, list[bool]]:
        """The losses of all processes, the length of all gradients, and which flags any process has set. The device is waited for once."""
        if self.accelerator is None:
            *values, length = torch.stack([value.reshape(()) for value in (*losses.values(), norm)]).tolist()
            return dict(zip(losses, values, strict=True)), length, list(flags)
        known = torch.tensor([float(flag) for flag in flags], dtype=norm.dtype)
        known = (known.pin_memory() if norm.device.type == "cuda" else known).to(norm.device, non_blocking=True)
        sent = torch.cat([known, *(value.reshape(1).to(norm.dtype) for value in losses.values())])
        every = torch.cat([self.accelerator.reduce(sent, reduction="sum"), norm.reshape(1)]).tolist()
        values, length = every[len(flags) : -1], every[-1]
        return dict(zip(losses, values, strict=True)), length, [value > 0 for value in every[: len(flags)]]


class Shards:
    """The weights of a model, divided over all processes: each holds its rows of every matrix, of the gradients and of their averages.

    A layer is put together just before it is computed, and again on the way back. The whole model exists for a moment only: in the
    main process, where it is measured, kept as a snapshot, or written at the end.
    """

    def __init__(self, network: nn.Module, loss: Loss, processes: Processes) -> None:
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

        self.whole, self.main = network, processes.main
        self.module = LossModule(copy.deepcopy(network, {id(weight): weight for weight in network.parameters()}), loss)
        mesh = init_device_mesh(next(network.parameters()).device.type, (processes.count,))
        policy = MixedPrecisionPolicy(cast_forward_inputs=False)  # each product casts its weights, as it does undivided
        for part in (*own_layers(self.module), self.module):
            fully_shard(part, mesh=mesh, mp_policy=policy)
        self.forget()

    def loss(self, _: nn.Module, batch: Tensors, smoothing: float) -> Losses:
        """The losses of a batch, by the divided network."""
        return self.module(batch, smoothing)

    def gather(self) -> None:
        """Put the weights together, one after the other: all processes give, the main one keeps."""
        places = dict(self.whole.named_parameters())
        for name, weight in self.module.network.named_parameters():
            value = whole_tensor(weight.detach())
            if self.main:
                places[name].data = value

    def forget(self) -> None:
        """Let go of the whole model: each process has its part."""
        for weight in self.whole.parameters():
            weight.data = weight.data.new_empty(0)

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """While inside, the model is whole in the main process, with the weights as they are now."""
        self.gather()
        try:
            yield
        finally:
            self.forget()


def own_layers(network: nn.Module) -> list[Layer]:
    """The layers that share no part with another one, as DeBERTa's last layer and its mask decoder do."""
    named = list(network.named_modules(remove_duplicate=False))
    layers = []
    for name, layer in named:
        if isinstance(layer, Layer):
            inside = set(map(id, layer.modules()))
            if all(id(part) not in inside or f"{other}.".startswith(f"{name}.") for other, part in named):
                layers.append(layer)
    return layers


def whole_tensor(value: Any) -> Tensor:
    """A tensor that may be divided over processes, whole; all of them must ask at once."""
    return value.full_tensor() if hasattr(value, "full_tensor") else value


def divided_like(value: Tensor, like: Any) -> Tensor:
    """What this process holds of a whole tensor, if it is divided as another one is."""
    if not hasattr(like, "device_mesh") or like.shape != value.shape:
        return value
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(value.to(like.device), like.device_mesh, like.placements, src_data_rank=None)


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
