"""When two records are the same: of one kind, and alike in every field, arrays number by number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

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


def thawed(value: object) -> object:
    """A value as pickle and deepcopy take it: read-only mappings as dictionaries."""
    if isinstance(value, Mapping):
        return {key: thawed(part) for key, part in value.items()}
    return tuple(thawed(part) for part in value) if isinstance(value, tuple) else value
