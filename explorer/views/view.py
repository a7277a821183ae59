"""What a view is: a drawing of a record, and the choices that it offers."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from inspect import getdoc
from typing import Any

import plotly.graph_objects as go

from explorer.errors import ChoiceError, ExplorerError, an, repeated, unknown
from explorer.views import theme
from explorer.views.margins import framed

DRAWN: dict[Callable[[Any], str], str] = {}  # by what checks whether a view fits: the kind of record that it draws
READING, LIMITS, MEASURED = "Reading this figure", "What this does not show", "How it was measured"
LIMITING = re.compile(r"\bYou\s+may\s+not\s+conclude\s+")


@dataclass(frozen=True)
class Choice:
    """One of several named things; `ordered` ones are shown as a slider."""

    label: str
    options: tuple[Any, ...]
    start: Any = None
    ordered: bool = False

    @property
    def first(self) -> Any:
        """The value before anyone chooses."""
        return self.options[0] if self.start is None else self.start

    @property
    def places(self) -> list[Any]:
        """What it can be, in order."""
        return list(self.options)

    def check(self, name: str, given: Any) -> Any:
        """`given`, if it is one of the options; of options that end in a number ("encoder layer 1") the first with this one."""
        if isinstance(given, int) and given not in self.options:
            given = next((option for option in self.options if str(option).endswith(f" {given}")), given)
        if getattr(given, "ndim", 0) or not isinstance(given, Hashable) or given not in self.options:  # an array equals nothing
            raise unknown(name, given, self.options)
        return given


@dataclass(frozen=True)
class Range:
    """A whole number from `low` to `high`."""

    label: str
    low: int
    high: int
    start: int | None = None

    @property
    def first(self) -> int:
        """The value before anyone chooses."""
        return self.low if self.start is None else self.start

    @property
    def places(self) -> list[int]:
        """What it can be, in order."""
        return list(range(self.low, self.high + 1))

    def check(self, name: str, given: Any) -> int:
        """`given`, if it lies in the range."""
        if isinstance(given, bool) or not hasattr(given, "__index__") or not self.low <= given.__index__() <= self.high:
            raise ChoiceError(f"{name}={repeated(given)} must be a whole number from {self.low} to {self.high}.")
        return int(given)


@dataclass(frozen=True)
class Toggle:
    """Yes or no."""

    label: str
    start: bool = False

    @property
    def first(self) -> bool:
        """The value before anyone chooses."""
        return self.start

    def check(self, name: str, given: Any) -> bool:
        """`given`, if it is yes or no."""
        if not isinstance(given, bool):
            raise ChoiceError(f"{name}={repeated(given)} must be True or False.")
        return given


Control = Choice | Range | Toggle


def caption_halves(caption: str) -> tuple[str, str]:
    """How a figure is read, and what it does not show, without the words that its heading says already.

    >>> caption_halves("Bars. You may conclude a. You may not conclude that b.")
    ('Bars. You may conclude a.', 'That b.')
    """
    reading, *rest = LIMITING.split(caption, maxsplit=1)
    limits = "".join(rest)
    return reading.strip(), limits[:1].upper() + limits[1:]


def always(record: Any) -> str:
    """A view that makes sense for every record."""
    return ""


def nothing(record: object) -> Mapping[str, Control]:
    """No choices."""
    return {}


@dataclass(frozen=True)
class View:
    """A drawing by name. `fits(record)` is empty, or says in a sentence why the view makes no sense for this record.

    `moving` gives all its frames as plain data, in a mode and with the choices that no frame changes, for a page that moves its objects.
    """

    name: str
    title: str
    draw: Callable[..., go.Figure]
    fits: Callable[[Any], str] = always
    controls: Callable[[Any], Mapping[str, Control]] = nothing
    moving: Callable[..., dict[str, Any]] | None = None

    @property
    def caption(self) -> str:
        """The text under the picture, for a student: the docstring of `draw`."""
        return getdoc(self.draw) or ""

    @property
    def reading(self) -> str:
        """The first half of the caption: what is drawn, and what may be concluded from it."""
        return caption_halves(self.caption)[0]

    @property
    def limits(self) -> str:
        """The second half of the caption: what may not be concluded."""
        return caption_halves(self.caption)[1]

    def choices(self, record: Any, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Every choice with its value: what was given, checked, or the first value."""
        reason = self.fits(record)
        if reason:
            raise ExplorerError(f"The view {self.title!r} does not fit: {reason}")
        offered, given = self.controls(record), given or {}
        for name in given:
            if name not in offered:
                raise unknown(f"choice in the view {self.title!r}", name, offered)
        return {name: control.check(name, given[name]) if name in given else control.first for name, control in offered.items()}

    def __call__(self, record: Any, **given: Any) -> go.Figure:
        """Draw the record with these choices."""
        record = drawn_of(record)
        return framed(theme.thinned(self.draw(record, **self.choices(record, given))))


def drawn_of(given: Any) -> Any:
    """What is drawn of what was given: of a decoding, which makes its steps one by one, all of them; otherwise the same."""
    return tuple(given.taken) if "taken" in getattr(given, "__dict__", ()) and given.last else given


def by_name(*views: View) -> dict[str, View]:
    """Views by their names."""
    return {view.name: view for view in views}


def only(kind: type, maker: str) -> Callable[[Any], str]:
    """A check for a view that draws one kind of record: empty where it is one, otherwise what it draws, "… makes", and what this is."""

    def check(record: Any) -> str:
        return "" if isinstance(record, kind) else other(f"what {maker}", record)

    DRAWN[check] = kind.__name__
    return check


def only_many(kind: type, drawn: str, rows: type | tuple[type, ...] = (tuple, list)) -> Callable[[Any], str]:
    """The same for a view that draws several records of one kind, at least one."""

    def check(records: Any) -> str:
        many = isinstance(records, Sequence) and isinstance(records, rows) and len(records) > 0
        return "" if many and all(isinstance(record, kind) for record in records) else other(drawn, records)

    DRAWN[check] = f"several {kind.__name__}"
    return check


def also(first: Callable[[Any], str], holds: Callable[[Any], object], reason: str) -> Callable[[Any], str]:
    """A check with a second condition, and the reason that is given where the record does not meet it."""

    def check(record: Any) -> str:
        return first(record) or ("" if holds(record) else reason)

    DRAWN[check] = DRAWN.get(first, "")
    return check


def other(drawn: str, record: object) -> str:
    """What a view draws, and that this is something else."""
    kind = type(record).__name__
    return f"it draws {drawn}; this is {an(kind)}."
