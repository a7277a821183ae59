"""Scores of answers: how many are right, how much of a text was found again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

Words = Sequence[Hashable]


def share(right: np.ndarray | Sequence[bool]) -> float:
    """The share that is right; NaN where nothing was asked."""
    return float(np.mean(right)) if len(right) else float("nan")


def overlap(answer: Words, gold: Words) -> float:
    """F1 of the words of a text, each counted as often as both have it, at any position."""
    both = sum((Counter(answer) & Counter(gold)).values())
    return 2 * both / (len(answer) + len(gold)) if answer or gold else 1.0
