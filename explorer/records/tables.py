"""A record as a table of pandas: what is alongside in it, a row for each place on its axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import LISTED, ChoiceError, MissingError, an, repeated, unknown, whole

if TYPE_CHECKING:
    from pandas import DataFrame

Record = Any  # a `records.Record`, whose module imports this one
PLAIN = (str, int, float)


def table_of(columns: Any) -> DataFrame:
    """Columns or rows as a table of pandas; given as a function, they are made only where pandas is there."""
    try:
        import pandas
    except ImportError as error:
        raise MissingError("A table needs pandas, which is not installed: pip install pandas.") from error
    return pandas.DataFrame(columns() if callable(columns) else columns)


def rows_where(frame: DataFrame, where: Mapping[str, object]) -> DataFrame:
    """The rows with these values in these columns: one layer, one head, one token."""
    for name, value in where.items():
        if name not in frame:
            raise unknown("column of this table", name, frame)
        plain = isinstance(value, PLAIN) or whole(value) is not None
        same = np.array([plain and isinstance(given, (*PLAIN, np.generic)) and given == value for given in frame[name]], bool)
        if not same.any():
            known = [*dict.fromkeys(map(str, frame[name]))][:LISTED]
            raise ChoiceError(f"There is no {name} {repeated(value)} in this table. It has: {', '.join(known) or 'no rows'}.")
        frame = frame[same]
    return frame.reset_index(drop=True) if where else frame


def table_of_record(record: Record, what: str) -> DataFrame:
    """The table of one field and of those with the same axes; without a name that of the first field whose axes are known."""
    values = {field.name: getattr(record, field.name) for field in fields(record)}
    if isinstance(what, str) and isinstance(getattr(type(record), what, None), property):  # what is computed of the fields
        return _table_of_field(record, what, getattr(record, what))
    if not isinstance(what, str) or (what and what not in values):
        raise unknown(f"field of {an(type(record).__name__)}", what, values)
    inner = [name for name, value in values.items() if _holds_records(value)]
    first = what or next(iter(record.shapes), "") or (inner[0] if len(inner) == 1 else "")
    if not first:
        return table_of([values])
    return _table_of_field(record, first, values[first])


def _table_of_field(record: Record, name: str, value: Any) -> DataFrame:
    if is_dataclass(value):
        return table_of_record(value, "")
    if _holds_records(value):
        return _below([(_name_of(part, n), table_of_record(part, "")) for n, part in enumerate(value)])
    axes = record.shapes.get(name)
    if axes:
        alike = [other for other, its_axes in record.shapes.items() if its_axes == axes]
        return _with_names(table_of(lambda: _columns({other: getattr(record, other) for other in alike}, axes)), record)
    if isinstance(value, Mapping) and any(isinstance(part, np.ndarray) for part in value.values()):
        return _below([((name, key), table_of(_columns({"value": part}, _axes_of(part)))) for key, part in value.items()])
    return table_of(lambda: _columns({name: value}, _axes_of(value)) if _is_long(value) else [{name: value}])


def _with_names(frame: DataFrame, record: Record) -> DataFrame:
    """With the token that stands at each place beside its number, and the name of a place that has one in its stead."""
    for axis, field in record.legend.items():
        if axis not in frame or not hasattr(record, field.partition(".")[0]):
            continue
        named = attrgetter(field)(record)
        names = getattr(named, "texts", named) or ()
        if len(names) != len(frame[axis].unique()):
            continue
        column = [names[place] for place in frame[axis]]
        if names is named:
            frame[axis] = column
        else:
            frame.insert(frame.columns.get_loc(axis) + 1, "token" if axis in ("position", "word") else f"{axis}_token", column)
    return frame


def _columns(values: Mapping[str, Any], axes: tuple[str, ...]) -> dict[str, Any]:
    """A column for each axis, with the place on it, and one for each field; a dictionary of arrays has one for each entry."""
    there = {name: value for name, value in values.items() if value is not None}
    parts: dict[str, Any] = {}
    for name, value in there.items():
        parts |= value if isinstance(value, Mapping) else {name: value}
    places = np.indices(_lengths(next(iter(parts.values())), len(axes))).reshape(len(axes), -1)
    return {**dict(zip(axes, places, strict=True)), **{name: list(_flat(part, len(axes))) for name, part in parts.items()}}


def _lengths(value: Any, depth: int) -> tuple[int, ...]:
    return (len(value), *(_lengths(value[0], depth - 1) if depth > 1 and len(value) else (0,) * (depth - 1)))


def _flat(value: Any, depth: int) -> Iterable[Any]:
    if isinstance(value, np.ndarray):
        return value.reshape(-1)
    return value if depth == 1 else (entry for row in value for entry in _flat(row, depth - 1))


def _axes_of(value: Any) -> tuple[str, ...]:
    return tuple(f"axis {n}" for n in range(value.ndim)) if isinstance(value, np.ndarray) else ("number",)


def _is_long(value: Any) -> bool:
    return isinstance(value, tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _holds_records(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(map(is_dataclass, value))


def _name_of(record: Record, number: int) -> tuple[str, Any]:
    """What tells a record from its neighbours: its first plain field, otherwise its number."""
    named = ((field.name, getattr(record, field.name)) for field in fields(record))
    return next(((name, value) for name, value in named if isinstance(value, PLAIN)), ("number", number))


def _below(parts: Iterable[tuple[tuple[str, Any], DataFrame]]) -> DataFrame:
    """Tables one below the other, with a first column that says whose rows they are."""
    import pandas

    named = [frame if name in frame else _with_first(frame, name, value) for (name, value), frame in parts]
    return pandas.concat(named, ignore_index=True)


def _with_first(frame: DataFrame, name: str, value: Any) -> DataFrame:
    frame.insert(0, name, value)
    return frame
