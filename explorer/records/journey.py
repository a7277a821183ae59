"""What is said about a training as a whole: its schedule, the way that the weights went, and what the model can do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Schedules(Record):
    """How the learning rate moves under each schedule: `shares` [schedule, place] of the full rate at the steps `at`.

    `chosen` is the schedule of this run and `now` the step where it stands.
    """

    names: tuple[str, ...]
    at: np.ndarray
    shares: np.ndarray
    chosen: str
    now: int


@dataclass(frozen=True, eq=False)
class Along(Record):
    """The loss along the straight line from the weights that a training began with (0) to those it ended with (1).

    `loss` belongs to the places `share` of the line. `went` [snapshot, 3] is where the training itself came by: the step,
    the place on the line that is nearest to its weights, and its loss; `apart` how far from the line that is, in lengths
    of the line. `pieces` is how many answers each loss is the mean of.
    """

    model: str
    task: str
    share: np.ndarray
    loss: np.ndarray
    went: np.ndarray
    apart: np.ndarray
    pieces: int


@dataclass(frozen=True, eq=False)
class Ability(Record):
    """One thing that a model was asked to do: what it read and what it answered. `able` is False where it cannot be asked."""

    verb: str
    reads: str
    says: str
    able: bool = True


@dataclass(frozen=True, eq=False)
class Abilities(Record):
    """What models can do that were trained alike, but for other objectives: `rates` [objective, ability, seed] of exactly right answers.

    They are not numbers where a model cannot be asked; `reasons` [objective, ability] then says why, and is empty elsewhere. `mean`,
    `low` and `high` [objective, ability] are the mean over the seeds and its 95 % interval. `pieces` [objective] is how many pieces of
    text were read in a training, `signal` the share of them that is asked about, `weights` how many numbers each model has. `beside`
    [ability] is what a rule reaches that has read nothing, where there is one.
    """

    systems: tuple[str, ...]
    objectives: tuple[str, ...]
    abilities: tuple[str, ...]
    rates: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reasons: tuple[tuple[str, ...], ...]
    pieces: np.ndarray
    signal: np.ndarray
    weights: np.ndarray
    beside: np.ndarray
    questions: tuple[int, ...]
    note: str
