"""How good answers are: the share that is right, F1 of whole spans, rank correlation; and how sure a mean of a few runs is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

# Student's t for 95 %, by degrees of freedom from 1 on; beyond the list the normal distribution is near enough for a lesson.
T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
NORMAL = 1.96


class Interval(NamedTuple):
    """A mean, and where the true mean lies with 95 % confidence."""

    mean: float
    low: float
    high: float


def interval(values: Sequence[float] | np.ndarray) -> Interval:
    """The mean of independent runs with its 95 % interval by Student's t; one run alone says nothing about the spread."""
    held = np.asarray(values, np.float64)
    mean = float(held.mean())
    if len(held) < 2:
        return Interval(mean, float("nan"), float("nan"))
    wide = (T[len(held) - 2] if len(held) - 2 < len(T) else NORMAL) * float(held.std(ddof=1)) / len(held) ** 0.5
    return Interval(mean, mean - wide, mean + wide)


def accuracy(said: Sequence[str], gold: Sequence[str]) -> float:
    """The share of right answers."""
    return float(np.mean(np.array(said) == np.array(gold)))


def spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """The spans of B- and I- tags: (first, behind the last, kind). An I- that continues nothing begins a span of its own."""
    found, begin = set(), 0
    open_kind = ""
    for place, tag in enumerate([*tags, "O"]):
        mark, _, kind = tag.partition("-")
        if open_kind and (mark != "I" or kind != open_kind):
            found.add((begin, place, open_kind))
            open_kind = ""
        if mark in ("B", "I") and not open_kind:
            begin, open_kind = place, kind
    return found


def span_f1(said: Sequence[str], gold: Sequence[str]) -> float:
    """F1 over whole spans: one counts only if its borders and its kind are right."""
    mine, right = spans(said), spans(gold)
    if not mine and not right:
        return 1.0
    return 2 * len(mine & right) / (len(mine) + len(right))


def span_f1_by_kind(said: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    """F1 over whole spans, for each kind by itself."""
    mine, right = spans(said), spans(gold)
    kinds = sorted({kind for _, _, kind in mine | right})
    own = {kind: [{span for span in found if span[2] == kind} for found in (mine, right)] for kind in kinds}
    return {kind: 2 * len(a & b) / (len(a) + len(b)) for kind, (a, b) in own.items()}


def macro_f1(said: Sequence[str], gold: Sequence[str]) -> float:
    """The mean of the F1 of every class that is said or right somewhere: a rare class counts as much as a frequent one."""
    x, y = np.array(said), np.array(gold)
    names = np.unique(np.concatenate((x, y)))
    return float(np.mean([2 * ((x == name) & (y == name)).sum() / ((x == name).sum() + (y == name).sum()) for name in names]))


def spearman(one: Sequence[float] | np.ndarray, other: Sequence[float] | np.ndarray) -> float:
    """The correlation of the ranks; equal values share their mean rank."""
    return float(np.corrcoef(ranks(np.asarray(one)), ranks(np.asarray(other)))[0, 1])


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of every value, from 1; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[which]


METRICS: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "accuracy": accuracy,
    "macro F1": macro_f1,
    "span F1": span_f1,
}
