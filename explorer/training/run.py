"""A run: iterate over it and it trains; stop and it can go on later, to the same bits."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor, nn

from explorer.analysis.evaluation.baselines import Measured, merged
from explorer.corruption.collate import Batch
from explorer.errors import ChoiceError, FileError
from explorer.models import run_folder, store
from explorer.models.model import TrainableModel
from explorer.records import TrainingStep
from explorer.records.summary import Summarised, Summary, of_run
from explorer.text.examples import step_rng
from explorer.training import points, resume
from explorer.training.batches import BatchMaker
from explorer.training.checking import Checks
from explorer.training.device import autocast, coarse_float32, compiled, deterministic, forked, seeded, tensors
from explorer.training.distillation import Teacher, loss_of
from explorer.training.divided_muon import DividedMuon
from explorer.training.folder import Lock, append, enter, forget_after, locked, write_pieces
from explorer.training.interrupts import defer_sigint, memory_for
from explorer.training.muon import StackedMuon
from explorer.training.objectives import OBJECTIVES
from explorer.training.optimising import Optimiser, check_norm
from explorer.training.plan import Plan, check_fits, check_heads
from explorer.training.prefetch import made_ahead, made_in_processes
from explorer.training.processes import join_processes, scaled
from explorer.training.schedules import lr_share
from explorer.training.steps import line_of

EVERY_SECONDS = 30.0
POINT_SHARE = 0.01  # of the time, for resume points: so much of it may a run be held up by copying them
TOKENS = "tokens"  # beside the losses: how many the batch has in all processes
GPU_SHARE = 0.05  # of the time, for checks, where a step takes so little of it
Trained = TypeVar("Trained", bound=TrainableModel)
Measure = Callable[[TrainableModel], Measured]


def check_losses(losses: Mapping[str, float], norm: float, step: int) -> None:
    """Refuse losses and gradients that are no numbers."""
    wrong = next((name for name, value in losses.items() if not math.isfinite(value)), None)
    if wrong is not None:
        raise ChoiceError(f"The loss {wrong!r} is not a number at step {step}. Choose a lower rate=….")
    check_norm(norm)


@dataclass(frozen=True)
class _Unread:
    """A step whose losses [loss] are still where they were computed, with the length of all gradients at the end."""

    number: int
    names: tuple[str, ...]
    row: Tensor
    rate: float
    tokens: int


class Run(Summarised, Generic[Trained]):
    """A model, its stories and a plan. Iterate for a `TrainingStep` each; `folder` keeps it, None keeps it in memory."""

    def __init__(
        self,
        model: Trained,
        stories: Sequence[Any],
        plan: Plan,
        folder: Path | None = None,
        measure: Measure | None = None,
        teacher: Teacher | None = None,
    ) -> None:
        self.model, self.stories, self.plan, self.folder, self.measure = model, stories, plan, folder, measure
        check_fits(plan, model.family, model.tokenizer.vocabulary, stories)
        check_heads(plan.objective, model.config)
        self.processes = join_processes(model.device.type == "cpu")
        self.processes.check(plan.batch, plan.accumulate)
        if self.processes.accelerator is not None:
            model.module.to(self.processes.accelerator.device)
        self.objective = OBJECTIVES[plan.objective]
        self._maker = self.making
        self.loss = compiled(loss_of(self.objective, model, teacher), model.device, plan.compiled)
        self._take_in()
        self._at_the_start()
        self.ahead = self.model.device.type == "cuda"  # a processor gains nothing: a batch takes it a fiftieth of a step
        if folder is not None:
            self._enter(folder)

    def _take_in(self) -> None:
        """What moves the weights."""
        muon = StackedMuon if self.processes.accelerator is None else DividedMuon
        self.optimiser = Optimiser(self.trained, self.plan.optimiser, self.plan.rate, muon=muon)

    @property
    def trained(self) -> nn.Module:
        """The network whose weights move."""
        return self.model.module

    def _at_the_start(self) -> None:
        """What a run knows before its first step."""
        self.step, self._stopped, self._agreed, self._whole = 0, False, False, True
        self._checked_at, self._kept_at = frozenset(self.plan.checked), frozenset(self.plan.kept)
        self._due = self._checked_at | self._kept_at
        self._stamp: bytes | None = None  # of the resume point that is this object's own
        self._saved, self._saved_at = -1, time.monotonic()
        self._writer = resume.PointWriter()
        self._began, self._spent = time.monotonic(), 0.0  # since when it trains, and the seconds of that for checks
        self._unwritten: list[str] = []
        self._lock: Lock | None = None
        self._batches: Iterator[Batch] | None = None

    def summary(self) -> Summary:
        """What is trained, how far it is, and where it is kept."""
        return of_run(self.model.name, self.plan, self.step, self.folder)

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
        self._stopped = self._agreed = False
        with ExitStack() as until_the_end:
            self._begin(until_the_end)
            until_the_end.enter_context(deterministic(self.model.device, self.plan.deterministic))
            until_the_end.enter_context(coarse_float32(self.model.device, self.plan.precision))
            self._began, self._spent = time.monotonic(), 0.0
            self._batches = None
            if self.ahead or self._workers:
                by = partial(made_in_processes, workers=self._workers) if self._workers else made_ahead
                coming = by(self._make, self.step + 1, self.plan.steps)
                self._batches = until_the_end.enter_context(closing(coming))
            self.trained.train()
            try:
                while self.step < self.plan.steps and not self._over:
                    yield from self._together() if self._window() > 1 else (self._next(),)
            finally:
                self.trained.eval()
                self._end()

    def _end(self) -> None:
        """Keep the last step that was made, once the point before it is on the disk."""
        try:
            self._writer.finish()
        finally:
            if self._writes and self._whole:
                assert self.folder is not None
                if self._saved != self.step:
                    self._save()
                self._stamp = points.point_stamp(self.folder)

    @property
    def _workers(self) -> int:
        """How many processes make the batches ahead. A run that makes its own batches, for a study, makes them itself."""
        return getattr(self.plan, "workers", 0) if type(self).batch is Run.batch else 0

    @property
    def _over(self) -> bool:
        """Whether the run was stopped. Several processes end together: after the step in which all of them learned of it."""
        return self._stopped if self.processes.accelerator is None else self._agreed

    def _next(self) -> TrainingStep:
        """One step: make the batch, run the model, update the weights."""
        begin, number = time.perf_counter(), self.step + 1
        self._check_lock()
        with memory_for(self.plan.batch, self.plan.accumulate):
            batch = self._make(number) if self._batches is None else next(self._batches)
            values = self._gradients(batch, number)
            tokens = values.pop(TOKENS, batch.tokens)
            with defer_sigint():
                rate = self._update(number)
                speed = tokens / (time.perf_counter() - begin)
                return self._keep(self._measured(TrainingStep(number, values, rate, speed)))

    def _check_lock(self) -> None:
        """Refuse to go on in a folder that another loop has taken."""
        if self._lock is not None and not self._lock.held:
            raise ChoiceError(f"Another loop over the run in {self.folder} was begun, so this one has ended.")

    def _update(self, number: int) -> float:
        """Move the weights along the gradients of a step; the share of the full rate by which they moved."""
        rate = lr_share(self.plan.schedule, number, self.plan.steps, self.plan.warm)
        self._whole = False
        self.optimiser.step(rate)
        self.step, self._whole = number, True
        return rate

    def _window(self) -> int:
        """How many steps are made before their losses are read: at most `read_every`, and none beyond one that is measured or kept."""
        if self.processes.accelerator is not None:
            return 1
        many = self.plan.read_every
        ends = (n for n in range(1, many) if self.step + n in self._due)
        return min(many, self.plan.steps - self.step, next(ends, many))

    def _together(self) -> list[TrainingStep]:
        """Some steps one after the other, for which the device is waited for once, at their end."""
        begin, many, made = time.perf_counter(), self._window(), list[_Unread]()
        self._check_lock()
        try:
            with memory_for(self.plan.batch, self.plan.accumulate):
                for number in range(self.step + 1, self.step + many + 1):
                    batch = self._make(number) if self._batches is None else next(self._batches)
                    totals = self._backward(batch, number)
                    row = torch.stack([value.reshape(()) for value in (*totals.values(), self.optimiser.norm())])
                    with defer_sigint():
                        made.append(_Unread(number, tuple(totals), row, self._update(number), batch.tokens))
            with defer_sigint():
                *before, last = self._read(made, begin)
                self._unwritten += [line_of(step) for step in before] if self._writes else []
                return [*before, self._keep(self._measured(last))]
        except BaseException:  # what was made is worth keeping, if it is numbers
            self._read_late(made, begin)
            raise

    def _read(self, made: list[_Unread], begin: float) -> list[TrainingStep]:
        """The steps whose losses nobody has read yet, which are read now; an error where they are no numbers."""
        whole, self._whole = self._whole, False  # until it is known that all of them were numbers
        rows = torch.stack([one.row for one in made]).tolist()
        speed = sum(one.tokens for one in made) / (time.perf_counter() - begin)
        steps = []
        for one, (*values, norm) in zip(made, rows, strict=True):
            losses = dict(zip(one.names, values, strict=True))
            check_losses(losses, norm, one.number)
            steps.append(TrainingStep(one.number, losses, one.rate, speed))
        self._whole = whole
        made.clear()
        return steps

    def _read_late(self, made: list[_Unread], begin: float) -> None:
        """Write down the steps that were made before something came between. Where they are no numbers, their weights are not kept."""
        with defer_sigint(), suppress(ChoiceError, RuntimeError):
            steps = self._read(made, begin) if made else []
            self._unwritten += [line_of(step) for step in steps] if self._writes else []

    _scaled = staticmethod(scaled)

    def _gradients(self, batch: Batch, number: int) -> dict[str, float]:
        """The losses of a batch, the same in every process, with their gradients in the weights."""
        totals = self._backward(batch, number)
        if self._alone:  # of the whole batch, of which this process has seen its rows
            totals |= {TOKENS: torch.full((), float(batch.tokens), device=self.model.device)}  # nothing is copied there
        values, norm, self._agreed = self.processes.all_reduce(self.model.module, totals, self._stopped, self.optimiser.norm)
        check_losses(values, norm, number)  # before the update, so that the point which is kept is still a good one
        return values

    def _backward(self, batch: Batch, number: int) -> dict[str, Tensor]:
        """The losses of this process's rows, where they were computed, and their gradients: part after part."""
        module, device = self.trained, self.model.device
        totals: dict[str, Tensor] = {}
        module.zero_grad(set_to_none=True)  # what a step that failed may have left
        first = int(step_rng(self.plan.seed, number).integers(2**62))  # dropout too depends on seed and step alone
        with forked(device):
            for place, part, shares in self.processes.parts(batch, self.plan.accumulate, self.objective.weigh, own=self._alone):
                seeded(device, first + place)
                with autocast(device, self.plan.precision):
                    losses = self.loss(module, tensors(part, device), self.plan.smoothing)
                weighted = {name: self._scaled(loss, shares.get(name, shares[""])) for name, loss in losses.items()}
                whole = sum(weighted.values(), torch.zeros((), device=device))
                if whole.requires_grad:
                    whole.backward()
                for name, loss in weighted.items():
                    totals[name] = totals[name] + loss.detach() if name in totals else loss.detach()
        return totals

    def _measured(self, made: TrainingStep) -> TrainingStep:
        """The step with what the model does on held-out text, where a check is due. Processes do what the clock of the main one says."""
        if self.measure is None or made.step not in self._checked_at:
            return made
        if not self.processes.as_main(self._is_checked(made.step)):
            return made
        begin = time.monotonic()
        found = self._looked(self.measure)
        self._spent += time.monotonic() - begin
        return made if found is None else replace(made, metrics=found.metrics, samples=found.samples, probes=found.probes)

    def _looked(self, measure: Measure) -> Measured | None:
        """What is found on held-out text: each process asks some of the questions, where they can be divided; None: the main one asks."""
        if self.processes.accelerator is None or not isinstance(measure, Checks):
            return measure(self.model) if self.processes.main else None
        return merged(self.processes.every(measure.part(self.model, self.processes.number, self.processes.count)))

    def _is_checked(self, step: int) -> bool:
        """Whether the model is measured after this step: where it is planned, as long as checks take no more than their share of time.

        The first and the last one are never left out.
        """
        share = self.plan.check_share or (GPU_SHARE if self.model.device.type == "cuda" else 1.0)
        if step not in self._checked_at or step in (min(self._checked_at), self.plan.steps):
            return step in self._checked_at
        return self._spent <= share * (time.monotonic() - self._began)

    @property
    def making(self) -> BatchMaker:
        """What makes the batches of this run."""
        return BatchMaker(self.objective, self.stories, self.plan, self.model.tokenizer.vocabulary, self.model.longest)

    def batch(self, step: int) -> Batch:
        """The batch of a step: always the same one."""
        return self._maker(step)

    def _make(self, step: int) -> Batch:
        """What this process needs of the batch of a step: all of it, or its own rows where they can be made alone."""
        if self._alone:
            return self._maker.rows(step, self.processes.number, self.processes.count)
        return self.batch(step)

    @property
    def _alone(self) -> bool:
        return getattr(self.plan, "by_row", False) and self.processes.count > 1

    def _enter(self, folder: Path) -> None:
        """Begin in a folder, or go on from what is in it."""
        pieces = hashlib.sha256(self.model.tokenizer.core.to_str().encode("utf-8")).hexdigest()
        made_of = {"architecture": asdict(self.model.config), "preset": {"name": self.model.preset}}
        if self.processes.main:
            enter(folder, self.plan, made_of | {"tokenizer": {"sha256": pieces}})
        self.processes.wait()
        self._take_up(folder)

    def _take_up(self, folder: Path) -> None:
        """Go on from the resume point in the folder, unless this object is there already."""
        found = points.point_stamp(folder)
        if found is not None and (found != self._stamp or not self._whole):
            self.step = points.read(folder, self.trained, self.optimiser)
            self._stamp, self._whole, self._unwritten = found, True, []
        if not self._whole:
            raise ChoiceError("This run broke off in the middle of an update. Begin it again.")

    def _begin(self, until_the_end: ExitStack) -> None:
        """Lock the folder, and find out whether somebody trained in it meanwhile."""
        if self.folder is None:
            return
        if self.processes.main:
            self._lock = until_the_end.enter_context(locked(self.folder))
        self._take_up(self.folder)
        if self.processes.main:
            write_pieces(self.folder, self.model.tokenizer)
            forget_after(self.folder, self.step)

    @property
    def _writes(self) -> bool:
        """Whether this process keeps a folder now: the main one does, as long as the lock is its own."""
        return self.folder is not None and self._lock is not None and self._lock.held

    def _keep(self, made: TrainingStep) -> TrainingStep:
        """Write down a step, its snapshot where one is due, and every half minute a resume point."""
        if not self._writes:
            return made
        assert self.folder is not None
        try:
            if made.step in self._kept_at:
                made = replace(made, snapshot=self._snapshot(self.folder))
        finally:  # a step that was made is written down, now or with the next one
            self._unwritten.append(line_of(made))
        self._write_down()
        if made.step == self.plan.steps:
            self._save()
        elif self._is_due:
            self._save_beside()
        return made

    @property
    def _is_due(self) -> bool:
        """Whether it is time for a resume point: half a minute after the last one, and so late that points hold the run up but little."""
        since = time.monotonic() - self._saved_at
        return since >= max(EVERY_SECONDS, self._writer.held_up / POINT_SHARE) and not self._writer.busy

    def _save_beside(self) -> None:
        """Begin to write a resume point, and go on meanwhile."""
        assert self.folder is not None
        self._writer.begin(self.folder, self.step, self.trained, self.optimiser)
        self._saved, self._saved_at = self.step, time.monotonic()

    def _write_down(self) -> None:
        """Put the steps that were made into the folder's list."""
        assert self.folder is not None
        try:
            append(self.folder / run_folder.STEPS, self._unwritten)
        except OSError as error:
            raise FileError(f"Could not write into {self.folder} ({error}). Make room, then go on.") from error
        self._unwritten = []

    def _snapshot(self, folder: Path) -> int:
        """Keep the weights as they are now, in 16 bits; all else that a model needs lies in the folder of the run."""
        place = run_folder.place_of(folder, self.step)
        try:
            place.mkdir(parents=True, exist_ok=True)
            store.write_weights(place / run_folder.WEIGHTS, store.state(self.model.module, half=True))
        except OSError as error:
            raise FileError(f"Could not write into {place} ({error}). Make room, then go on.") from error
        return self.step

    def _save(self) -> None:
        assert self.folder is not None
        self._write_down()  # first, so that no step before the point is missing in the list
        self._writer.begin(self.folder, self.step, self.trained, self.optimiser)
        self._writer.finish()
        self._stamp = points.point_stamp(self.folder)
        if self.step == self.plan.steps:
            store.write(self.model, self.folder)
        self._saved, self._saved_at = self.step, time.monotonic()
