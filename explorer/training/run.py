"""A run: iterate over it and it trains; stop and it can go on later, to the same bits.

This file is the loop, in the order in which a step happens; `kept_run.py` is what a run keeps in its folder.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from explorer.analysis.evaluation.baselines import Measured
from explorer.corruption.collate import Batch
from explorer.errors import ChoiceError
from explorer.models.model import TrainableModel
from explorer.nn.losses import Loss, Losses
from explorer.records import TrainingStep
from explorer.text.examples import step_rng
from explorer.training.batches import BatchMaker
from explorer.training.device import autocast, coarse_float32, deterministic, forked, seeded, tensors
from explorer.training.distillation import Teacher, loss_of
from explorer.training.interrupts import defer_sigint, memory_for
from explorer.training.kept_run import KeptRun, Trained
from explorer.training.objectives import OBJECTIVES
from explorer.training.optimising import Optimiser, check_gradient_norm
from explorer.training.plan import Plan, check_fits, check_heads
from explorer.training.processes import Shards, join_processes
from explorer.training.schedules import lr_share
from explorer.training.tracking import following

Measure = Callable[[TrainableModel], Measured]


def check_losses(losses: Mapping[str, float], norm: float, step: int) -> None:
    """Refuse losses and gradients that are no numbers."""
    wrong = next((name for name, value in losses.items() if not math.isfinite(value)), None)
    if wrong is not None:
        raise ChoiceError(f"The loss {wrong!r} is not a number at step {step}. Choose a lower rate=….")
    check_gradient_norm(norm)


class Run(KeptRun[Trained]):
    """A model, the examples that it learns from, and a plan. Iterate for a `TrainingStep` each; `folder` keeps it, None keeps it in memory.

    `loss` is computed instead of the objective's own. With `plan.shard`, each of several processes holds a part of the weights, and
    `model` is whole in the main one after the loop; who leaves that loop by `break` leaves the folder as the last resume point has it.
    `log` names a tracker of accelerate, or is one.
    """

    log: Any = None

    def __init__(  # noqa: PLR0913  what a run is made of
        self,
        model: Trained,
        examples: Sequence[Any],
        plan: Plan,
        folder: str | Path | None = None,
        measure: Measure | None = None,
        teacher: Teacher | None = None,
        loss: Loss | None = None,
    ) -> None:
        self.model, self.examples, self.plan, self.measure = model, examples, plan, measure
        self.folder = None if folder is None else Path(folder)
        check_fits(plan, model.family, model.tokenizer.vocabulary, examples)
        check_heads(plan.objective, model.config)
        self.objective = OBJECTIVES[plan.objective]
        self._maker = BatchMaker(self.objective, examples, plan, model.tokenizer.vocabulary, model.longest)
        self.processes = join_processes(model.device.type == "cpu")
        self.processes.check(plan.batch, plan.accumulate)
        if self.processes.accelerator is not None:
            model.module.to(self.processes.accelerator.device)
        self._connect(loss or loss_of(self.objective, model, teacher))
        self._set_up()

    def _connect(self, loss: Loss) -> None:
        """How the loss is computed: alone, or by several processes whose gradients are added up."""
        if self.plan.shard and self.processes.count == 1:
            raise ChoiceError(
                "shard=True divides the weights over several processes, and this is one. Start more: explorer fit … --processes 2 --shard."
            )
        self._shards = Shards(self.model.module, loss, self.processes) if self.plan.shard else None
        if self._shards is not None:
            self.loss: Loss = self._shards.loss
        else:
            self.loss = loss if self.processes.count == 1 else self.processes.connected(self.model.module, loss)

    def _set_up(self) -> None:
        """What every run has before its first step: an optimiser, and its folder if it has one."""
        self.optimiser = Optimiser(self.trained, self.plan.optimiser, self.plan.rate)
        self._checked_at, self._stopped, self._coming = frozenset(self.plan.checked), False, dict[int, Any]()
        self._prepare_folder()

    @property
    def trained(self) -> nn.Module:
        """The network whose weights move."""
        return self.model.module if self._shards is None else self._shards.module.network

    def stop(self) -> None:
        """End after the step that is running; the folder keeps what the next one needs.

        >>> run = ex.fit("gpt2", corpus=ex.microworld.texts(20, 1), pieces=300, steps=5, checks=0, device="cpu")
        >>> for step in run:
        ...     run.stop()
        >>> step.step
        1
        """
        self._stopped = True

    def __iter__(self) -> Iterator[TrainingStep]:
        self._stopped = self._all_stopped = False
        self._coming.clear()
        with ExitStack() as until_the_end:
            self._open_folder(until_the_end)
            until_the_end.enter_context(deterministic(self.model.device, self.plan.deterministic))
            until_the_end.enter_context(coarse_float32(self.model.device, self.plan.precision))
            followed = self.log if self.processes.main else None
            log = until_the_end.enter_context(following(followed, self.model.name, self.folder, asdict(self.plan)))
            self.trained.train()
            try:
                while self.step < self.plan.steps and not self._all_stopped:
                    yield log(self._next())
                    if self.processes.count == 1:  # several end together: after the step in which all of them learned of it
                        self._all_stopped = self._stopped
            finally:
                self.trained.eval()
                self._close_folder()

    def _next(self) -> TrainingStep:
        """One step: make the batch, run the model, update the weights."""
        begin, number = time.perf_counter(), self.step + 1
        self._check_lock()
        with memory_for(self.plan.batch, self.plan.accumulate):
            batch = self._coming.pop(number, None) or self.batch(number)
            losses = self._gradients(batch, number)
            with defer_sigint():
                share = self._update(number)
                speed = batch.tokens / (time.perf_counter() - begin)
                return self._keep(self._measured(TrainingStep(number, losses, share, speed)))

    def batch(self, step: int) -> Batch:
        """The batch of a step: always the same one."""
        return self._maker(step)

    def _gradients(self, batch: Any, number: int) -> dict[str, float]:
        """The losses of a batch, the same in every process, with their gradients in the weights."""
        totals = self._backward(batch, number)
        norm = self.optimiser.norm()
        if self.model.device.type == "cuda" and number < self.plan.steps:  # while the GPU is still at work
            self._coming[number + 1] = self.batch(number + 1)
        losses, length, flags = self.processes.summed(totals, norm, self._stopped, self.processes.main and self._is_due)
        self._all_stopped, self._saves_now = flags
        check_losses(losses, length, number)  # before the update, so that the point which is kept is still a good one
        return losses

    def _backward(self, batch: Any, number: int) -> dict[str, Tensor]:
        """The losses of this process's rows, where they were computed, and their gradients: part after part."""
        device, totals = self.model.device, dict[str, Tensor]()
        self.trained.zero_grad(set_to_none=True)  # what a step that failed may have left
        first = int(step_rng(self.plan.seed, number).integers(2**62))  # dropout too depends on seed and step alone
        with forked(device):
            for place, part, shares in self._parts(batch):
                seeded(device, first + place)
                with autocast(device, self.plan.precision):
                    losses = self._losses(part)
                weighted = {name: self.processes.scaled(loss, shares.get(name, shares[""])) for name, loss in losses.items()}
                whole = sum(weighted.values(), torch.zeros((), device=device))
                if whole.requires_grad:
                    (whole * self.processes.count).backward()  # of which PyTorch takes the mean
                for name, loss in weighted.items():
                    totals[name] = totals[name] + loss.detach() if name in totals else loss.detach()
        return totals

    def _parts(self, batch: Any) -> Iterator[tuple[int, Any, dict[str, float]]]:
        """The parts of a batch, one after another: the number of each, its rows, its share of each loss."""
        return self.processes.parts(batch, self.plan.accumulate, self.objective.weigh)

    def _losses(self, part: Any) -> Losses:
        """The losses of a part of a batch, by name: by the objective's own function, such as `mlm_loss`."""
        return self.loss(self.trained, tensors(part, self.model.device), self.plan.smoothing)

    def _update(self, number: int) -> float:
        """Move the weights along the gradients of a step; the share of the peak learning rate."""
        share = lr_share(self.plan.schedule, number, self.plan.steps, self.plan.warm)
        self._whole = False
        self.optimiser.step(share)
        self.step, self._whole = number, True
        return share

    def _measured(self, step: TrainingStep) -> TrainingStep:
        """The step with what the model does on held-out text, where a check is due: the main process measures it."""
        if self.measure is None or step.step not in self._checked_at:
            return step
        with self._gathered():
            if not self.processes.main:
                return step
            measured = self.measure(self.model)
        figures = {name: getattr(measured, name) for name in ("metrics", "samples", "probes", "counts")}
        return replace(step, **figures)

    def _gathered(self) -> AbstractContextManager[None]:
        """While inside, the model is whole in the main process."""
        return nullcontext() if self._shards is None else self._shards.gathered()
