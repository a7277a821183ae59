"""When two records are the same: of one kind, and alike in every field, arrays number by number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np


def same(one: object, other: object) -> bool:
    """Whether two values are alike. An array is, with the same shape, kind of number and numbers; NaN equals NaN."""
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return _same_arrays(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, float) and one != one:
        return other != other
    return bool(one == other)


def _same_arrays(one: object, other: object) -> bool:
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray) or one.dtype != other.dtype:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind in "fc")


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


def thawed(value: object) -> object:
    """A value as pickle and deepcopy take it: read-only mappings as dictionaries."""
    if isinstance(value, Mapping):
        return {key: thawed(held) for key, held in value.items()}
    return tuple(thawed(held) for held in value) if isinstance(value, tuple) else value
