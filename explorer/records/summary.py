"""How a record, a model or a run prints: a few lines, and in a notebook a small table in which every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors.elsewhere import hint, not_by_key

WIDE = 100  # characters of a line, at most
ROWS = 12  # rows that are printed, at most
Summary = tuple[str, Sequence[tuple[str, str]]]  # a heading, and rows of a name and what is said of it


class Summarised:
    """What prints as a few lines, and as a small table in a notebook. `summary` says what to print."""

    if not TYPE_CHECKING:  # else a type checker would find every attribute

        def __getattr__(self, name: str) -> Any:
            """Say what does what is looked for, or which name is meant."""
            text = f"{type(self).__name__!r} has no {name!r}."
            if not name.startswith("_"):
                near = get_close_matches(name, [own for own in {*dir(type(self)), *self.__dict__} if own[0] != "_"], n=1)
                text += hint(name) or (f" Did you mean {near[0]!r}?" if near else "")
            raise AttributeError(text, name=name, obj=None)

        def __getitem__(self, key: object) -> Any:
            """Say how what is looked for is written."""
            raise TypeError(not_by_key(type(self).__name__, key, {*dir(type(self)), *self.__dict__}))

    def summary(self) -> Summary:
        """The heading, then a name and a short text for each row."""
        return type(self).__name__, ()

    def __repr__(self) -> str:
        heading, rows = self.summary()
        return "\n".join([heading, *(f"  {name}: {text}" for name, text in rows[:ROWS])])

    def _repr_html_(self) -> str:
        heading, rows = self.summary()
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in rows[:ROWS]
        )
        return f"<table><caption style='text-align:left'>{escape(heading)}</caption><tbody>{cells}</tbody></table>"


def shortened(text: str, most: int = WIDE) -> str:
    """A text on one line, cut where it is longer than that."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def listed(texts: Iterable[str], most: int = WIDE) -> str:
    """Tokens one after the other on one line."""
    return shortened(" ".join(texts), most)


def brief(value: object) -> str:
    """A value in a few words: the shape of an array, the count of records, the beginning of a text."""
    if isinstance(value, np.ndarray):
        small = value.size <= 4 and value.ndim < 2
        return str(value.tolist()) if small else f"{value.dtype} [{', '.join(map(str, value.shape))}]"
    if isinstance(value, Summarised):
        return value.summary()[0]
    if isinstance(value, Mapping):
        return shortened(", ".join(f"{key} {brief(part)}" for key, part in value.items())) or "nothing"
    if isinstance(value, tuple) and value and all(isinstance(part, Summarised) for part in value):
        return f"{len(value)} × {type(value[0]).__name__}"
    return shortened(repr(value))


def fields_of(names: Iterable[str], record: object) -> list[tuple[str, str]]:
    """A row for every field that holds something."""
    values = ((name, getattr(record, name)) for name in names)
    return [(name, brief(value)) for name, value in values if value is not None and not _empty(value)]


def _empty(value: Any) -> bool:
    return isinstance(value, (str, tuple, Mapping)) and not value


def of_run(name: str, plan: Any, step: int, folder: Any, report: str = "") -> Summary:
    """What is said of a run: the model that it trains, its objective, its texts, how far it is and where it is kept."""
    rows = [("step", f"{step:,} of {plan.steps:,}"), ("objective", str(plan.objective)), ("seed", str(plan.seed))]
    rows += [("texts", report)] if report else []
    return f"Run of {name!r}", [*rows, ("kept in", "memory alone" if folder is None else str(folder))]


def is_plain(value: object) -> bool:
    """Whether a value says as much in its own words: a text, a number, or a few of them."""
    if isinstance(value, tuple):
        return all(is_plain(part) for part in value)
    return value is None or isinstance(value, (str, int, float, bool))
