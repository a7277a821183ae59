"""How good answers are: the share that is right, F1 of whole spans, rank correlation; and how sure a mean of a few runs is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from string import punctuation
from typing import NamedTuple

import numpy as np

# Student's t for 95%, by degrees of freedom from 1 on; beyond the list the normal distribution is near enough for a lesson.
T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)
NORMAL = 1.96
ARTICLES = ("a", "an", "the")


class Interval(NamedTuple):
    """A mean, and where the true mean lies with 95% confidence."""

    mean: float
    low: float
    high: float


SHARE, CORRELATION = (0.0, 1.0), (-1.0, 1.0)  # what a share of right answers, or a correlation, can be at all


def interval(values: Sequence[float] | np.ndarray, within: tuple[float, float] = (-np.inf, np.inf)) -> Interval:
    """The mean of independent runs with its 95% interval by Student's t; one run alone says nothing about the spread.

    Student's t knows no bounds: of few runs its ends can lie where no score can be, so they are cut off at those of `within`.

    >>> [round(float(end), 3) for end in interval([0.9, 1.0, 1.0], (0, 1))]
    [0.967, 0.823, 1.0]
    """
    numbers = np.asarray(values, np.float64)
    mean = float(numbers.mean())
    if len(numbers) < 2:
        return Interval(mean, float("nan"), float("nan"))
    wide = (T[len(numbers) - 2] if len(numbers) - 2 < len(T) else NORMAL) * float(numbers.std(ddof=1)) / len(numbers) ** 0.5
    return Interval(mean, max(mean - wide, within[0]), min(mean + wide, within[1]))


def accuracy(answers: Sequence[str], gold: Sequence[str]) -> float:
    """The share of right answers."""
    return float(np.mean(np.array(answers) == np.array(gold)))


def tag_spans(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    """The spans of B- and I- tags: (first, behind the last, kind). An I- that continues nothing begins a new span."""
    spans, begin = set(), 0
    open_kind = ""
    for place, tag in enumerate([*tags, "O"]):
        mark, _, kind = tag.partition("-")
        if open_kind and (mark != "I" or kind != open_kind):
            spans.add((begin, place, open_kind))
            open_kind = ""
        if mark in ("B", "I") and not open_kind:
            begin, open_kind = place, kind
    return spans


def span_f1(answers: Sequence[str], gold: Sequence[str]) -> float:
    """F1 over whole spans: one counts only if its borders and its kind are right."""
    mine, right = tag_spans(answers), tag_spans(gold)
    if not mine and not right:
        return 1.0
    return 2 * len(mine & right) / (len(mine) + len(right))


def macro_f1(answers: Sequence[str], gold: Sequence[str]) -> float:
    """The mean of the F1 of every class that is said or right somewhere: a rare class counts as much as a frequent one."""
    x, y = np.array(answers), np.array(gold)
    names = np.unique(np.concatenate((x, y)))
    return float(np.mean([2 * ((x == name) & (y == name)).sum() / ((x == name).sum() + (y == name).sum()) for name in names]))


def spearman(first: Sequence[float] | np.ndarray, other: Sequence[float] | np.ndarray) -> float:
    """The correlation of the ranks; equal values share their mean rank."""
    return float(np.corrcoef(ranks(np.asarray(first)), ranks(np.asarray(other)))[0, 1])


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of every value, from 1; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[which]


def matthews(answers: Sequence[str], gold: Sequence[str]) -> float:
    """Matthews' correlation of answers and classes: 1 if all are right, 0 for who answers blindly, whatever the classes' sizes."""
    names = sorted({*answers, *gold})
    x, y = (np.array([[answer == name for name in names] for answer in some], np.float64) for some in (answers, gold))
    x, y = x - x.mean(0), y - y.mean(0)
    spread = float((x * x).sum() * (y * y).sum()) ** 0.5
    return float((x * y).sum()) / spread if spread else 0.0


def correlation(answers: Sequence[str], gold: Sequence[str]) -> float:
    """Spearman's correlation of numbers that are written as text; 0 where all answers are the same number."""
    x, y = (np.array(some, np.float64) for some in (answers, gold))
    return spearman(x, y) if x.std() and y.std() else 0.0


def shared_words_f1(answers: Sequence[str], gold: Sequence[str]) -> float:
    """The mean F1 of the words of each answer, as SQuAD counts it: without articles and punctuation, in lower case."""
    pairs = [(_plain(a), _plain(b)) for a, b in zip(answers, gold, strict=True)]
    return float(np.mean([2 * (a & b).total() / (a.total() + b.total()) if a and b else float(a == b) for a, b in pairs]))


def _plain(text: str) -> Counter[str]:
    letters = "".join(letter for letter in text.lower() if letter not in punctuation)
    return Counter(word for word in letters.split() if word not in ARTICLES)


METRICS: dict[str, Callable[[Sequence[str], Sequence[str]], float]] = {
    "accuracy": accuracy,
    "macro F1": macro_f1,
    "span F1": span_f1,
    "Matthews": matthews,
    "Spearman": correlation,
    "F1 of words": shared_words_f1,
}
