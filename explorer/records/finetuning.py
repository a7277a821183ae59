"""What fine-tuning was worth: scores of several models on several tasks, and how they grow with the number of labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class TaskTable(Record):
    """Every system on every task: `scores` [system, task, seed] on new texts, and the mean with its 95 % interval [system, task, 3].

    `metrics` says what each task is scored by, `blind` [task] what who always gives the most frequent answer reaches, `seconds`
    [system, task, seed] how long one fine-tuning took. A score that was not measured is no number.
    """

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    scores: np.ndarray
    intervals: np.ndarray
    seconds: np.ndarray
    blind: np.ndarray
    note: str

    @property
    def average(self) -> np.ndarray:
        """The mean over the tasks [system], as GLUE's last column."""
        return np.asarray(self.scores.mean(axis=(1, 2)))


@dataclass(frozen=True, eq=False)
class LabelCurves(Record):
    """The score on new texts by the number of labels: `scores` [task, way, count, seed], with its interval [task, way, count, 3].

    A way is a model and how it began, such as "bert, pre-trained" and "bert, from scratch"; `blind` [task] is the most frequent
    answer's score.
    """

    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    ways: tuple[str, ...]
    counts: np.ndarray
    scores: np.ndarray
    intervals: np.ndarray
    blind: np.ndarray
    note: str
