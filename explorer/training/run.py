"""A run: iterate over it and it trains; stop and it can go on later, to the same bits."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer import library
from explorer.errors import ChoiceError, FileError
from explorer.model import OwnModel
from explorer.objectives import OBJECTIVES
from explorer.records import TrainingStep
from explorer.training import point
from explorer.training.batches import BATCHES, Batch, Kitchen
from explorer.training.optimising import Optimiser
from explorer.training.schedules import share
from explorer.training.stories import chosen, lots

RUN, STEPS, SNAPSHOTS = "run.json", "steps.jsonl", "snapshots"
EVERY_SECONDS = 30.0


@dataclass(frozen=True)
class Plan:
    """Everything that decides what a run does."""

    objective: str
    strategy: str
    steps: int
    batch: int = 32
    seed: int = 0
    schedule: str = "cosine"
    warm: float = 0.05
    optimiser: str = "muon"
    rate: float | None = None
    smoothing: float = 0.0
    snapshots: int = 8
    corpus: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch < 1 or self.snapshots < 0:
            raise ChoiceError(
                f"steps={self.steps}, batch={self.batch} must be at least 1 and snapshots={self.snapshots} 0 or more."
            )
        if self.objective not in OBJECTIVES:
            raise ChoiceError(f"There is no objective {self.objective!r} here. There are: {', '.join(OBJECTIVES)}.")
        share(self.schedule, 1, self.steps, self.warm)

    @property
    def kept(self) -> tuple[int, ...]:
        """The steps whose weights are kept as snapshots: close together at first, then ever further apart."""
        if not self.snapshots:
            return ()
        return tuple(sorted({int(step) for step in np.geomspace(1, self.steps, self.snapshots).round()}))


class Run:
    """A model, its stories and a plan. Iterate for a `TrainingStep` each; `folder` keeps it, None keeps it in memory."""

    def __init__(self, model: OwnModel, stories: Sequence[Any], plan: Plan, folder: Path | None = None) -> None:
        self.model, self.stories, self.plan, self.folder = model, stories, plan, folder
        self.optimiser = Optimiser(model.module, plan.optimiser, plan.rate)
        self.step, self._stopped = 0, False
        self._saved, self._saved_at = -1, time.monotonic()  # the last step that this object wrote a resume point of, and when
        if folder is not None:
            self._enter(folder)

    def stop(self) -> None:
        """End after the step that is running; the folder keeps what the next one needs."""
        self._stopped = True

    def __iter__(self) -> Iterator[TrainingStep]:
        self._stopped = False
        self.model.module.train()
        try:
            while self.step < self.plan.steps and not self._stopped:
                yield self._next()
        finally:
            self.model.module.eval()
            if self.folder is not None and self._saved != self.step:
                self._save()

    def _next(self) -> TrainingStep:
        """One step: make the batch, run the model, update the weights."""
        begin, number = time.perf_counter(), self.step + 1
        batch = self.batch(number)
        with torch.random.fork_rng(devices=[] if self.model.device.type == "cpu" else None):
            torch.manual_seed(int(lots(self.plan.seed, number).integers(2**62)))  # dropout too depends on seed and step alone
            ready = tensors(batch, self.model.device)
            losses = OBJECTIVES[self.plan.objective](self.model.module, ready, self.plan.smoothing)
        values = {name: float(loss.detach()) for name, loss in losses.items()}
        wrong = next((name for name, value in values.items() if value != value), None)
        if wrong is not None:  # before the update, so that the point which is kept is still a good one
            raise ChoiceError(f"The loss {wrong!r} is not a number at step {number}. Choose a lower rate=….")
        sum(losses.values(), torch.zeros((), device=self.model.device)).backward()
        rate = share(self.plan.schedule, number, self.plan.steps, self.plan.warm)
        self.optimiser.step(rate)
        self.step = number
        speed = batch.pieces / (time.perf_counter() - begin)
        snapshot = number if number in self.plan.kept and self.folder is not None else None
        made = TrainingStep(number, values, rate, speed, snapshot=snapshot)
        if self.folder is not None:
            self._keep(made)
        return made

    def batch(self, step: int) -> Batch:
        """The batch of a step: always the same one."""
        numbers = chosen(step, len(self.stories), self.plan.batch, self.plan.seed)
        vocabulary = self.model.tokenizer.vocabulary
        held = Kitchen(self.stories, vocabulary, self.model.longest, self.plan.strategy, lots(self.plan.seed, step))
        return BATCHES[self.plan.objective]([self.stories[n] for n in numbers], held)

    def _enter(self, folder: Path) -> None:
        """Begin in a folder, or go on from what is in it."""
        wanted = {"plan": asdict(self.plan), "architecture": asdict(self.model.config), "preset": {"name": self.model.preset}}
        wanted = json.loads(json.dumps(wanted))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if (folder / RUN).is_file():
                _check_same(folder, json.loads((folder / RUN).read_text("utf-8")), wanted)
            elif any(folder.iterdir()):
                raise ChoiceError(f"{folder} holds other things. Choose an empty or a new folder.")
            else:
                point.replace(folder / RUN, (json.dumps(wanted, indent=1) + "\n").encode("utf-8"))
        except (OSError, ValueError) as error:
            raise FileError(f"{folder} cannot be used for a run ({error}). Choose another folder.") from error
        if (folder / point.POINT).is_file():
            self.step = point.read(folder, self.model.module, self.optimiser)
            self._forget(folder / STEPS)

    def _forget(self, path: Path) -> None:
        """Take out of the list of steps what came after the resume point: it will be done again."""
        if path.is_file():
            lines = [line for line in path.read_text("utf-8").splitlines() if _step_of(line) <= self.step]
            point.replace(path, "".join(f"{line}\n" for line in lines).encode("utf-8"))

    def _keep(self, made: TrainingStep) -> None:
        """Write down a step, its snapshot where one is due, and every half minute a resume point."""
        assert self.folder is not None
        line = {
            "step": made.step,
            "losses": dict(made.losses),
            "rate": made.rate,
            "speed": made.speed,
            "metrics": dict(made.metrics),
        }
        try:
            with open(self.folder / STEPS, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            if made.snapshot is not None:
                library.write(self.model, self.folder / SNAPSHOTS / f"{made.step:06d}", half=True)
        except OSError as error:
            raise FileError(f"Could not write into {self.folder} ({error.strerror}). Make room, then go on.") from error
        if time.monotonic() - self._saved_at >= EVERY_SECONDS or made.step == self.plan.steps:
            self._save()

    def _save(self) -> None:
        assert self.folder is not None
        point.write(self.folder, self.step, self.model.module, self.optimiser)
        self._saved, self._saved_at = self.step, time.monotonic()
        if self.step == self.plan.steps:
            library.write(self.model, self.folder)


def tensors(batch: Batch, device: torch.device) -> dict[str, Tensor]:
    """A batch as an objective takes it."""
    named = {"source": batch.source, "real": batch.real, "segments": batch.segments, "answers": batch.answers}
    named |= {"scored": batch.scored, **batch.labels}
    return {name: torch.as_tensor(np.ascontiguousarray(value), device=device) for name, value in named.items()}


def _check_same(folder: Path, held: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse to go on with other settings than those a folder was begun with."""
    different = [
        f"{name}={held.get(part, {}).get(name)!r} there, {value!r} here"
        for part in wanted
        for name, value in wanted[part].items()
        if held.get(part, {}).get(name) != value
    ]
    if different:
        raise ChoiceError(
            f"{folder} holds another run ({'; '.join(different)}). Choose another folder, or that run's settings."
        )


def _step_of(line: str) -> int:
    """The step that a line tells of; a line cut short by a kill tells of none."""
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return 2**62


def steps_of(folder: Path) -> list[TrainingStep]:
    """The steps that a run wrote down."""
    lines = (folder / STEPS).read_text("utf-8").splitlines() if (folder / STEPS).is_file() else []
    whole = [json.loads(line) for line in lines if _step_of(line) < 2**62]
    return [TrainingStep(**line) for line in whole]
