"""When two records are the same: of one kind, and alike in every field, arrays number by number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Never

import numpy as np


def same(first: object, other: object) -> bool:
    """Whether two values are alike. An array is, with the same shape, kind of number and numbers; NaN equals NaN."""
    if first is other:
        return True
    if isinstance(first, np.ndarray) or isinstance(other, np.ndarray):
        return _same_arrays(first, other)
    if isinstance(first, tuple) and isinstance(other, tuple):
        return len(first) == len(other) and all(map(same, first, other))
    if isinstance(first, Mapping) and isinstance(other, Mapping):
        return first.keys() == other.keys() and all(same(first[key], other[key]) for key in first)
    if isinstance(first, float) and isinstance(other, float) and first != first:
        return other != other
    return bool(first == other)


def _same_arrays(first: object, other: object) -> bool:
    if not isinstance(first, np.ndarray) or not isinstance(other, np.ndarray) or first.dtype != other.dtype:
        return False
    return np.array_equal(first, other, equal_nan=first.dtype.kind in "fc")


def mark(value: object) -> Hashable:
    """What a value adds to the hash of its record: cheap, and alike for values that are. Fractions add nothing, since NaN equals NaN."""
    if isinstance(value, np.ndarray):
        shape: tuple[int, ...] = value.shape
        return shape
    if isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return len(value) if isinstance(value, (tuple, Mapping)) else None


class FrozenDict(dict[Any, Any]):
    """A dictionary that nobody changes. A copy of it, and what pickle makes of it, is an ordinary one."""

    def _refused(self, *_: object, **__: object) -> Never:
        raise TypeError("A record cannot be changed. Take a copy: dict(…).")

    def __missing__(self, key: object) -> Never:
        """Say what there is; still a KeyError, which a caller may expect."""
        known = ", ".join(map(repr, self)) or "nothing"
        first = repr(next(iter(self), ""))
        raise KeyError(
            f"There is no {key!r:.60} here, but {known}."
            + (f" For example [{first}][{key}]." if isinstance(key, int) and self else "")
        )

    def __getattr__(self, name: str) -> Never:
        raise AttributeError(f"It has no {name!r}." + (f" Write [{name!r}]." if name in self else ""), name=name, obj=None)

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refused

    def __reduce__(self) -> tuple[type[dict[Any, Any]], tuple[dict[Any, Any]]]:
        return dict, (dict(self),)
