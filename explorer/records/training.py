"""What a training leaves behind: its steps, curves over seeds, schedules and abilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.record import Record

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Curve(Record):
    """One line: y over x, with the lowest and the highest measurement where there were several.

    Lines take one colour after the other; `colour` is for a line that has another number in a picture beside it.
    """

    shapes = dict.fromkeys(("x", "y", "low", "high"), ("point",))
    label: str
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    colour: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("y", "low", "high"):
            values = getattr(self, name)
            if values is not None and values.shape != self.x.shape:
                raise ChoiceError(f"The curve {self.label!r} has {len(self.x)} points but {name} holds {values.shape}.")


@dataclass(frozen=True, eq=False)
class Curves(Record):
    """Several lines over the same axes, a note on how they were measured, and perhaps a place along the axis that has a name."""

    title: str
    across: str
    up: str
    lines: tuple[Curve, ...]
    note: str = ""
    log: bool = False
    mark: tuple[str, float] | None = None


def spread(label: str, x: np.ndarray, runs: np.ndarray) -> Curve:
    """The mean of several runs [run, place] with their lowest and highest."""
    return Curve(label, x, runs.mean(axis=0), runs.min(axis=0), runs.max(axis=0))


@dataclass(frozen=True, eq=False)
class Saturation(Record):
    """What a softmax does to scores q·k of ever wider queries and keys, whose parts are independent with variance 1.

    For each width: `scores` [width, key] of one query, and over many queries, without and with ÷ √d [width, 2]: the mean
    `largest` weight, the mean size of the softmax's `slope` ‖∂α/∂s‖ and the share of `single` rows, with one weight above 0.99.
    """

    shapes = {
        **dict.fromkeys(("largest", "slope", "single"), ("width", "scaled")),
        "scores": ("width", "key"),
        "widths": ("width",),
    }
    widths: np.ndarray
    scores: np.ndarray
    largest: np.ndarray
    slope: np.ndarray
    single: np.ndarray
    draws: int


@dataclass(frozen=True, eq=False)
class TrainingStep(Record):
    """The loss by part, the share of the full learning rate and the speed (tokens a second) at one step.

    Now and then the model is measured on held-out text, and the step holds what was found: `metrics` by name; `samples`, what
    the model writes or fills in, a line each; `probes`, by name how much each head does one thing [layer, head]; `counts`, on how
    many texts, windows of them and predictions. `snapshot` is the step that `ex.load(folder, step=…)` opens, or None.
    """

    step: int
    losses: dict[str, float]
    rate: float
    speed: float = float("nan")
    metrics: dict[str, float] = field(default_factory=dict)
    samples: tuple[str, ...] = ()
    probes: dict[str, np.ndarray] = field(default_factory=dict)
    snapshot: int | None = None
    counts: dict[str, int] = field(default_factory=dict)

    def to_row(self) -> dict[str, float]:
        """The numbers of this step by name: `step`, `rate`, `speed`, each loss as `loss/…`, and what was measured."""
        losses = {f"loss/{name}": value for name, value in self.losses.items()}
        return {"step": self.step, "rate": self.rate, "speed": self.speed, **losses, **self.metrics}

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """The numbers of this step as a table of pandas with one row, or one of its fields by name."""
        return super().to_frame(what, **where) if what or where else Steps((self,)).to_frame()


class Steps(tuple[TrainingStep, ...]):
    """The steps of a run, one after the other."""

    __slots__ = ()

    def to_frame(self) -> DataFrame:
        """The steps as a table of pandas, a row for each; a figure that was not measured at a step is NaN there.

        >>> import explorer as ex
        >>> list(ex.training.steps_of(ex.models()["gpt2"].folder).to_frame().columns)[:4]
        ['step', 'rate', 'speed', 'loss/lm']
        """
        from explorer.records.tables import table_of

        return table_of([step.to_row() for step in self])


@dataclass(frozen=True, eq=False)
class RunsBeside(Record):
    """Several trainings: their `names`, the `steps` of each, and `settings` in which they differ, with the `values` [setting][run]."""

    names: tuple[str, ...]
    steps: tuple[tuple[TrainingStep, ...], ...]
    settings: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]

    def changes(self, number: int) -> tuple[str, ...]:
        """What differs between a run and the one before it, setting by setting; nothing for the first."""
        if number == 0:
            return ()
        pairs = ((name, row[number - 1], row[number]) for name, row in zip(self.settings, self.values, strict=True))
        return tuple(f"{name}: {before} → {now}" for name, before, now in pairs if before != now)

    def groups(self, apart: str = "seed") -> dict[str, tuple[int, ...]]:
        """The numbers of the runs that differ in nothing but the seed, by the settings in which they differ from other runs."""
        rows = {name: row for name, row in zip(self.settings, self.values, strict=True) if name != apart}
        groups: dict[str, tuple[int, ...]] = {}
        for number in range(len(self.names)):
            name = ", ".join(f"{setting} {row[number]}" for setting, row in rows.items()) or "all settings alike"
            groups[name] = (*groups.get(name, ()), number)
        return groups

    def last(self, number: int, metric: str = "held-out loss") -> float:
        """The last measurement of a metric in a run; NaN where there is none."""
        values = self.line(number, metric)[1]
        return float(values[-1]) if len(values) else float("nan")

    def line(self, number: int, metric: str = "") -> tuple[np.ndarray, np.ndarray]:
        """The steps of one run and a metric at each where it was measured; without a name the sum of all losses."""
        points = [
            (step.step, step.metrics[metric] if metric else sum(step.losses.values()))
            for step in self.steps[number]
            if not metric or np.isfinite(step.metrics.get(metric, np.nan))
        ]
        return np.array([step for step, _ in points]), np.array([value for _, value in points], np.float64)

    def metrics(self, number: int) -> tuple[str, ...]:
        """What was measured in one run."""
        names = dict.fromkeys(name for step in self.steps[number] for name in step.metrics)
        return tuple(name for name in names if len(self.line(number, name)[0]))


@dataclass(frozen=True, eq=False)
class Schedules(Record):
    """How the learning rate moves under each schedule: `shares` [schedule, place] of the full rate at the steps `at`.

    `chosen` is the schedule of this run and `now` the step that it has reached.
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
class Budget(Record):
    """What a training costs: its steps, the tokens that it reads and the labels that it is given, and its weights."""

    steps: int
    pieces: float
    answers: float
    weights: int

    @property
    def operations(self) -> float:
        """About six for each weight and token that is read: two forwards, four backwards."""
        return 6 * self.weights * self.pieces


@dataclass(frozen=True, eq=False)
class Abilities(Record):
    """What models can do that were trained alike, but for other objectives: `rates` [objective, ability, seed] of exactly right answers.

    They are not numbers where a model cannot be asked; `reasons` [objective, ability] then says why, and is empty elsewhere. `mean`,
    `low` and `high` [objective, ability] are the mean over the seeds and its 95% interval. `pieces` [objective] is how many tokens of
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
