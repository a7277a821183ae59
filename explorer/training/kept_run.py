"""What a run keeps in its folder: the steps that were made, snapshots of the weights, and the resume point from which it goes on."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from torch import nn

from explorer.errors import ChoiceError, FileError
from explorer.models import run_folder, store
from explorer.models.model import TrainableModel
from explorer.records import TrainingStep
from explorer.records.summary import Summarised, Summary, of_run
from explorer.training import resume
from explorer.training.folder import Lock, append, enter, forget_after, locked, write_tokenizer
from explorer.training.optimising import Optimiser
from explorer.training.plan import Plan
from explorer.training.processes import Processes, Shards
from explorer.training.steps import line_of

EVERY_SECONDS = 30.0
POINT_SHARE = 0.01  # of the time, for resume points: so much of it may a run be held up by copying them
Trained = TypeVar("Trained", bound=TrainableModel)


class KeptRun(Summarised, Generic[Trained]):
    """A run with its folder, or without one. `Run` is the loop that calls what is here."""

    model: Trained
    plan: Plan
    folder: Path | None
    processes: Processes
    optimiser: Optimiser
    report: str = ""  # what was read, in a line
    _shards: Shards | None = None
    _saves_now = False  # whether it is time for a resume point, as all processes know it

    @property
    def trained(self) -> nn.Module:
        """The network whose weights move."""
        raise NotImplementedError

    def _gathered(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def summary(self) -> Summary:
        """What is trained, how far it is, and where it is kept."""
        return of_run(self.model.name, self.plan, self.step, self.folder, self.report)

    def _prepare_folder(self) -> None:
        """Begin in the folder, or go on from what is in it."""
        self.step, self._whole = 0, True  # the steps that were made, and whether none of them broke off in the middle
        self._kept_at = frozenset(self.plan.kept)
        self._stamp: bytes | None = None  # of the resume point that has the weights as they are here
        self._saved, self._saved_at = -1, time.monotonic()
        self._writer = resume.PointWriter()
        self._unwritten: list[str] = []
        self._lock: Lock | None = None
        if self.folder is not None:
            if self.processes.main:
                enter(self.folder, self.plan, self._made_of())
            self._take_up(self.folder)

    def _made_of(self) -> Mapping[str, Any]:
        """What a run that goes on must have in common with the one in its folder, besides the plan."""
        tokens = hashlib.sha256(self.model.tokenizer.core.to_str().encode("utf-8")).hexdigest()
        return {
            "architecture": asdict(self.model.config), "preset": {"name": self.model.preset}, "tokenizer": {"sha256": tokens},
        }  # fmt: skip

    def _take_up(self, folder: Path) -> None:
        """Go on from the resume point in the folder, unless this object is there already."""
        self.processes.wait()
        stamp = resume.resume_stamp(folder)
        if stamp is not None and (stamp != self._stamp or not self._whole):
            self.step = resume.read(folder, self.trained, self.optimiser)
            self._stamp, self._whole, self._unwritten = stamp, True, []
        if not self._whole:
            raise ChoiceError("This run broke off in the middle of an update. Start it again.")

    def _open_folder(self, until_the_end: ExitStack) -> None:
        """Lock the folder, and find out whether somebody trained in it meanwhile."""
        if self.folder is not None and self.processes.main:
            self._lock = until_the_end.enter_context(locked(self.folder))
        if self.folder is not None:
            self._take_up(self.folder)
        if self.folder is not None and self.processes.main:
            write_tokenizer(self.folder, self.model.tokenizer)
            forget_after(self.folder, self.step)
        if self._shards is not None:
            self._shards.forget()

    def _check_lock(self) -> None:
        """Refuse to go on in a folder that another loop has taken."""
        if self._lock is not None and not self._lock.held:
            raise ChoiceError(f"Another loop over the run in {self.folder} was started, so this one has ended.")

    @property
    def _keeps(self) -> bool:
        """Whether a folder is kept now. The main process writes, as long as the lock is its own; others hand it their shards."""
        return self.folder is not None and (not self.processes.main or (self._lock is not None and self._lock.held))

    def _keep(self, step: TrainingStep) -> TrainingStep:
        """Write down a step, its snapshot where one is due, and every half minute a resume point."""
        if not self._keeps:
            return step
        try:
            if step.step in self._kept_at:
                step = replace(step, snapshot=self._snapshot())
        finally:  # a step that was made is written down, now or with the next one
            self._unwritten.append(line_of(step))
        self._write_down()
        if step.step == self.plan.steps:
            self._save()
        elif self._saves_now:
            self._begin_to_save()
        return step

    @property
    def _is_due(self) -> bool:
        """Whether it is time for a resume point: half a minute after the last one, and so late that points hold the run up but little."""
        since = time.monotonic() - self._saved_at
        return since >= max(EVERY_SECONDS, self._writer.held_up / POINT_SHARE) and not self._writer.busy

    def _write_down(self) -> None:
        """Put the steps that were made into the folder's list."""
        assert self.folder is not None
        if self.processes.main:
            append(self.folder / run_folder.STEPS, self._unwritten)
        self._unwritten = []

    def _snapshot(self) -> int:
        """Keep the weights as they are now, in 16 bits; all else that a model needs lies in the folder of the run."""
        assert self.folder is not None
        place = run_folder.place_of(self.folder, self.step)
        with self._gathered():
            try:
                if self.processes.main:
                    place.mkdir(parents=True, exist_ok=True)
                    store.write_weights(place / run_folder.WEIGHTS, store.state(self.model.module, half=True))
            except OSError as error:
                raise FileError(f"Could not write into {place} ({error}). Make room, then go on.") from error
        return self.step

    def _begin_to_save(self) -> None:
        """Begin to write a resume point, and go on meanwhile."""
        assert self.folder is not None
        if self.processes.main:
            self._writer.begin(self.folder, self.step, self.trained, self.optimiser)
        elif self._shards is not None:
            resume.give_shards(self.trained, self.optimiser)
        self._saved, self._saved_at = self.step, time.monotonic()

    def _save(self) -> None:
        """Write a resume point, and after the last step the model."""
        assert self.folder is not None
        self._write_down()  # first, so that no step before the point is missing in the list
        self._begin_to_save()
        self._writer.finish()
        self._stamp = resume.resume_stamp(self.folder)
        if self.step == self.plan.steps:
            with self._gathered():
                if self.processes.main:
                    store.write(self.model, self.folder)

    def _close_folder(self) -> None:
        """Keep the last step that was made, once the point before it is on the disk."""
        try:
            self._writer.finish()
        finally:
            if self._shards is None or sys.exc_info()[0] is None:  # else perhaps here alone: nobody can be asked for shards
                if self._keeps and self._whole and self._saved != self.step:
                    self._save()
                if self._keeps and self.folder is not None:
                    self._stamp = resume.resume_stamp(self.folder)
                if self._shards is not None:
                    self._shards.gather()
