"""The n-gram model as a run: it counts one portion of the corpus after the other, and is measured after each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.causal import edge
from explorer.errors import check_whole, unknown
from explorer.models import ngram, ngram_files, run_folder
from explorer.models.counts import SMOOTHINGS
from explorer.models.ngram import NGram
from explorer.records import TrainingStep
from explorer.records.summary import Summarised, Summary, of_run
from explorer.text.tokenizers import Tokenizer
from explorer.training.folder import append, enter, forget_after, locked
from explorer.training.processes import Processes
from explorer.training.steps import line_of

FIRST = 64  # so many texts, at most, make the first portion; each portion is as many times larger as the one before


@dataclass(frozen=True)
class CountingPlan:
    """Everything that decides what is counted. `steps` are the portions, or as many of them as there are texts for."""

    order: int = 4
    smoothing: str = "kneser-ney"
    steps: int = 10
    checks: int = 10
    objective: str = "counting"
    seed: int = 0
    corpus: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_whole("order", self.order, 1, 4)
        check_whole("portions", self.steps, 1)
        check_whole("checks", self.checks, 0)
        if self.smoothing not in SMOOTHINGS:
            raise unknown("smoothing", self.smoothing, SMOOTHINGS)


def portions(texts: int, most: int) -> list[int]:
    """Where portions end that grow by a constant factor, from 0 to all texts; none of them is empty."""
    ends = np.geomspace(min(FIRST, max(1, texts // most)), texts, most).round().astype(int)
    return sorted({0, *ends.tolist()[:-1], texts})


class CountingRun(Summarised):
    """Iterate for a `TrainingStep` a portion. Its loss is the cross-entropy of the portion *before* it was counted (mean −log P).

    The portions grow by a constant factor, so the curve has its points evenly spaced on a logarithmic axis. `model` is the model
    so far. With a folder, the run can be taken up where it was stopped, and `ex.load` opens what was counted.
    """

    processes = Processes()  # counting takes one
    report: str = ""  # what was read, in a line

    def __init__(
        self,
        rows: Sequence[np.ndarray],
        tokenizer: Tokenizer,
        plan: CountingPlan,
        folder: str | Path | None = None,
        measure: Callable[[Any], Measured] | None = None,
    ) -> None:
        self.rows, self.tokenizer, self.plan, self.measure = rows, tokenizer, plan, measure
        self.folder = None if folder is None else Path(folder)
        self.begin = (edge(tokenizer) or [0])[0]
        self.ends = portions(len(rows), plan.steps)
        self.plan = replace(plan, steps=len(self.ends) - 1)
        self.step, self._stopped = 0, False
        if self.folder is not None:  # begin there, or go on after the portions that it lists
            enter(self.folder, self.plan, {"architecture": {"order": self.plan.order}, "preset": {"name": "ngram"}})
            self.step = len(run_folder.lines(self.folder))
        self.model = self._counted(max(1, self.ends[self.step]))

    def summary(self) -> Summary:
        """What is trained, how far it is, and where it is kept."""
        return of_run(self.model.name, self.plan, self.step, self.folder, self.report)

    def stop(self) -> None:
        """End after the portion that is being counted."""
        self._stopped = True

    def __iter__(self) -> Iterator[TrainingStep]:
        self._stopped = False
        with ExitStack() as until_the_end:
            lock = None if self.folder is None else until_the_end.enter_context(locked(self.folder))
            if self.folder is not None:
                self._take_up(self.folder)
            while self.step < self.plan.steps and not self._stopped:
                step = self._next()
                if self.folder is not None and lock is not None and lock.held:
                    self._keep(self.folder, step)
                yield step

    def _next(self) -> TrainingStep:
        """One portion: how surprising it is, then count it."""
        clock = time.perf_counter()
        fresh = self.rows[self.ends[self.step] : self.ends[self.step + 1]]
        loss = self._loss(fresh) if self.step else float(np.log(self.model.size))
        self.model = self._counted(self.ends[self.step + 1])
        self.step += 1
        speed = sum(map(len, fresh)) / (time.perf_counter() - clock)
        measured = self.measure(self.model) if self.measure is not None and self.plan.checks else Measured()
        metrics = {**measured.metrics, "texts counted": float(self.ends[self.step])} if measured.metrics else {}
        return TrainingStep(self.step, {"lm": loss}, 0.0, speed, metrics, measured.samples, counts=measured.counts)

    def _loss(self, rows: Sequence[np.ndarray]) -> float:
        logp = self.model.logp(rows)
        return -float(np.concatenate(logp).mean()) if len(logp) else float(np.log(self.model.size))

    def _counted(self, many: int) -> NGram:
        plan = self.plan
        return ngram.train(self.rows[:many], self.tokenizer, order=plan.order, smoothing=plan.smoothing, begin=self.begin)

    def _take_up(self, folder: Path) -> None:
        """Go on after what is written down by now; a last line that a kill cut short is forgotten, and its portion counted again."""
        forget_after(folder, self.plan.steps)
        written = len(run_folder.lines(folder))
        if written != self.step:
            self.step = written
            self.model = self._counted(max(1, self.ends[written]))

    def _keep(self, folder: Path, step: TrainingStep) -> None:
        ngram_files.write(self.model, folder)
        append(folder / run_folder.STEPS, [line_of(step)])
