"""A run whose weights are divided over processes: each holds its rows of every matrix, of the gradients and of the optimiser's state.

`explorer fit gpt2 --size base --processes 8 --shard` starts one. A layer is put together just before it is computed, and again on
the way back; gradients are added up, so that the run is the one of a single process. The whole model exists for a moment only: in
the main process, where it is measured, kept as a snapshot, or written at the end.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

from explorer.analysis.evaluation.baselines import Measured
from explorer.corruption.collate import Batch
from explorer.errors import ChoiceError
from explorer.models import store
from explorer.nn.losses import Loss, Losses, Tensors
from explorer.nn.transformer import Layer
from explorer.training import points
from explorer.training.divided_muon import ShardedMuon
from explorer.training.optimising import Optimiser
from explorer.training.processes import Share, handed_over
from explorer.training.run import TOKENS, Measure, Run, Trained, check_losses

PLAIN = MixedPrecisionPolicy(
    cast_forward_inputs=False
)  # in mixed precision each product casts its weights, as it does undivided


class WholeLoss(nn.Module):
    """A loss as one forward pass: whatever it reads of the network outside its layers is put together until the pass is over."""

    def __init__(self, network: nn.Module, loss: Loss) -> None:
        super().__init__()
        self.network, self._loss = network, loss

    def forward(self, batch: Tensors, smoothing: float) -> Losses:
        """The losses of a batch."""
        return self._loss(self.network, batch, smoothing)


def divided(network: nn.Module, loss: Loss, count: int) -> WholeLoss:
    """A copy of a network, divided over so many processes: layer by layer, and all else together.

    With `accumulate`, gradients are divided after every part of a batch. Doing so once for all parts would take less traffic, but
    each process would hold the gradients of the whole model meanwhile, and not its part of them. Weights are put together in
    float32, because norms and embeddings compute in it, here as in an undivided run.
    """
    asked = WholeLoss(copy.deepcopy(network, {id(weight): weight for weight in network.parameters()}), loss)
    mesh = init_device_mesh(next(network.parameters()).device.type, (count,))
    for layer in own_layers(asked):
        fully_shard(layer, mesh=mesh, mp_policy=PLAIN)
    fully_shard(asked, mesh=mesh, mp_policy=PLAIN)
    for part in asked.modules():
        if isinstance(part, FSDPModule):  # a loss is a share of the whole batch's: they add up
            part.set_gradient_divide_factor(1.0)
            part.set_force_sum_reduction_for_comms(True)
    return asked


def own_layers(network: nn.Module) -> list[Layer]:
    """The layers that share no part with another one, as DeBERTa's last layer and its mask decoder do."""
    named = list(network.named_modules(remove_duplicate=False))
    made = []
    for name, layer in named:
        if isinstance(layer, Layer):
            inside = set(map(id, layer.modules()))
            if all(id(part) not in inside or f"{other}.".startswith(f"{name}.") for other, part in named):
                made.append(layer)
    return made


def still_asked(loss: Tensor, share: Share) -> Tensor:
    """A part's share of the loss. Where nothing counts it is nothing, but has a gradient: every process goes the same way back."""
    if isinstance(share, Tensor):
        return loss * share.to(loss.dtype)
    return loss * share if share else torch.where(loss.isfinite(), loss, torch.zeros_like(loss)) * 0.0


class ShardedOptimiser(Optimiser):
    """The same updates of weights that are divided."""

    def squares(self) -> Tensor:
        """The square of the length of this process's part of all gradients."""
        grads: list[Any] = [weight.grad for weight in self.module.parameters() if weight.grad is not None]
        norms = torch._foreach_norm([grad.to_local() for grad in grads]) if grads else [torch.zeros(())]
        return torch.stack(list(norms)).square().sum()

    def clip_by(self, norm: float, device: torch.device) -> None:
        """The length of all gradients, which the processes found together: the next step clips by it."""
        self._norm = torch.full((), norm, device=device)


class ShardedRun(Run[Trained]):
    """A run in several processes that hold a part of everything each. All of them do all of it together.

    Whoever leaves the loop by `break` or by an error leaves the folder as the last resume point has it; `stop()` keeps every step.
    After the loop, `run.model` is whole in the main process.
    """

    _asked: WholeLoss
    _told = (False, False, False)  # stopped, time for a resume point, time for a check: as all processes know it
    _scaled = staticmethod(still_asked)

    def _take_in(self) -> None:
        if self.processes.count == 1:
            raise ChoiceError(
                "shard=True divides the weights over several processes, and this is one. Start more: explorer fit … --processes 2 --shard."
            )
        self._asked = divided(self.model.module, self.loss, self.processes.count)
        self._forget()
        self.optimiser = ShardedOptimiser(self.trained, self.plan.optimiser, self.plan.rate, muon=ShardedMuon)
        self.loss = lambda _, batch, smoothing: self._asked(batch, smoothing)

    @property
    def trained(self) -> nn.Module:
        """The network whose weights move: the part of it that this process holds."""
        return self._asked.network

    def _gradients(self, batch: Batch, number: int) -> dict[str, float]:
        totals = self._backward(batch, number)
        if self._alone:
            totals |= {TOKENS: torch.full((), float(batch.tokens), device=self.model.device)}
        assert isinstance(self.optimiser, ShardedOptimiser)
        main = self.processes.main
        told = (self._stopped, main and super()._is_due, main and super()._is_checked(number))
        flags = handed_over([float(flag) for flag in told], torch.float32, self.model.device)
        sent = [*(value.reshape(1).float() for value in totals.values()), self.optimiser.squares().reshape(1).float()]
        *found, squares = self.processes.accelerator.reduce(torch.cat([flags, *sent]), reduction="sum").tolist()
        self._told = (found[0] > 0, found[1] > 0, found[2] > 0)
        self._agreed = self._told[0]
        values = dict(zip(totals, found[3:], strict=True))
        check_losses(values, squares**0.5, number)
        self.optimiser.clip_by(squares**0.5, self.model.device)
        return values

    def _is_checked(self, step: int) -> bool:
        return self._told[2]

    @property
    def _is_due(self) -> bool:
        return self._told[1]

    def _looked(self, measure: Measure) -> Measured | None:
        with self._whole_model():
            return measure(self.model) if self.processes.main else None

    @contextmanager
    def _whole_model(self) -> Iterator[None]:
        """While inside, `run.model` is whole in the main process, with the weights as they are now."""
        self._gather()
        try:
            yield
        finally:
            self._forget()

    def _gather(self) -> None:
        """Put the weights together, one after the other: all processes give, the main one keeps."""
        places = dict(self.model.module.named_parameters())
        for name, weight in self.trained.named_parameters():
            part: Any = weight.detach()
            whole = part.full_tensor()
            if self.processes.main:
                places[name].data = whole

    def _forget(self) -> None:
        for weight in self.model.module.parameters():
            weight.data = weight.data.new_empty(0)

    def _begin(self, until_the_end: ExitStack) -> None:
        super()._begin(until_the_end)
        self._forget()

    def _end(self) -> None:
        if sys.exc_info()[0] is not None:  # perhaps here alone: nobody can be asked for a part
            return
        if self._writes and self._whole and self._saved != self.step:
            self._save()
        self._gather()

    @property
    def _writes(self) -> bool:
        """Whether the processes keep a folder now; the main one has the lock."""
        return self.folder is not None and (not self.processes.main or super()._writes)

    def _write_down(self) -> None:
        if self.processes.main:
            super()._write_down()
        self._unwritten = []

    def _snapshot(self, folder: Path) -> int:
        with self._whole_model():
            return super()._snapshot(folder) if self.processes.main else self.step

    def _save_beside(self) -> None:
        self._save()

    def _save(self) -> None:
        assert self.folder is not None
        self._write_down()
        points.write(self.folder, self.step, self.trained, self.optimiser)
        self._stamp = points.point_stamp(self.folder)
        if self.step == self.plan.steps:
            with self._whole_model():
                if self.processes.main:
                    store.write(self.model, self.folder)
        self._saved, self._saved_at = self.step, time.monotonic()
