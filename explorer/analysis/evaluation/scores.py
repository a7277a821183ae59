"""Scores of answers: how many are right, how much of a text was found again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

Words = Sequence[Hashable]


def share(right: np.ndarray | Sequence[bool]) -> float:
    """The share that is right; NaN where nothing was asked."""
    return float(np.mean(right)) if len(right) else float("nan")


def overlap(found: Words, gold: Words) -> float:
    """F1 of the words of a text, each counted as often as both have it, at any position."""
    both = sum((Counter(found) & Counter(gold)).values())
    return 2 * both / (len(found) + len(gold)) if found or gold else 1.0


def bleu(found: Sequence[Words], gold: Sequence[Words], longest: int = 4) -> float:
    """BLEU of a whole set of texts (Papineni et al. 2002), from 0 to 100: four n-gram precisions and the brevity penalty."""
    right, said = np.zeros(longest), np.zeros(longest)
    for mine, theirs in zip(found, gold, strict=True):
        for n in range(1, longest + 1):
            ours, wanted = _grams(mine, n), _grams(theirs, n)
            right[n - 1] += sum((ours & wanted).values())
            said[n - 1] += sum(ours.values())
    if not right.all():
        return 0.0
    lengths = sum(map(len, found)), sum(map(len, gold))
    brevity = min(0.0, 1 - lengths[1] / lengths[0])
    return 100 * math.exp(brevity + float(np.log(right / said).mean()))


def _grams(words: Words, n: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
