"""Exercises with their answers, and the table of supported architectures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.records.record import Record

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Exercise(Record):
    """A question, its answer, and why. With `options` one of them is chosen; otherwise a number is typed.

    A number is right when it is as near as rounding to `digits` places after the point allows. `called` says what the answer is where
    nobody knows better than a model what comes next: then it is what the model finds most probable.
    """

    question: str
    answer: float | str
    why: str = ""
    options: tuple[str, ...] = ()
    digits: int = 2
    called: str = "the answer"

    @property
    def shown(self) -> str:
        """The answer as it is printed."""
        return self.answer if isinstance(self.answer, str) else f"{self.answer:.{self.digits}f}"

    def right(self, given: str) -> bool:
        """Whether this is the answer. A comma may stand for the point."""
        if isinstance(self.answer, str):
            return given == self.answer
        try:
            number = float(given.strip().replace(",", ".").replace("−", "-"))
        except ValueError:
            return False
        return bool(abs(number - self.answer) <= 0.51 * 10**-self.digits)


def added(value: float, digits: int = 3) -> str:
    """A number as the next term of a sum.

    >>> added(0.25), added(-1.5, 1)
    ('+ 0.250', '− 1.5')
    """
    return f"{'−' if value < 0 else '+'} {abs(value):.{digits}f}"


@dataclass(frozen=True, eq=False)
class Support(Record):
    """One architecture, as it was measured on a tiny model with random weights.

    `way` is "stages" (every stage of attention), "weights" (the weights alone) or "refused", then `reason` says why. `weights` and
    `outputs` are the largest differences to what the class computes by itself with eager attention, `residual` the largest gap of
    the weights that were computed again from q, k and the mask. `walk` is the largest gap between the states that its sums and norms
    lead to, computed again, and those that the class hands out; NaN where they cannot be told apart, then `without_walk` says why.
    `edits` names the changes that it can undergo.
    """

    architecture: str
    way: str
    family: str = ""
    streams: tuple[str, ...] = ()
    weights: float = float("nan")
    outputs: float = float("nan")
    residual: float = float("nan")
    states: bool = False
    edits: tuple[str, ...] = ()
    reason: str = ""
    walk: float = float("nan")
    without_walk: str = ""


@dataclass(frozen=True, eq=False)
class SupportTable(Record):
    """All of them, and with which versions."""

    rows: tuple[Support, ...]
    versions: str

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """The table as one of pandas, a row for each architecture, or one of its fields by name."""
        if what:
            return super().to_frame(what, **where)
        from explorer.records.tables import rows_where, table_of

        names = ("architecture", "family", "way", "weights", "outputs", "residual", "walk", "edits", "reason")
        return rows_where(table_of([{name: getattr(row, name) for name in names} for row in self.rows]), where)
