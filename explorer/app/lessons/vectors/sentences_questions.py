"""Vectors of whole sentences: what to guess about the student's own, and about the recorded ranking."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Exercise, Likeness, Ranked

PROSE = prose("vectors")

TEXTS = (
    "Anna gave the red key to Tom in the garden.",
    "In the garden, Tom was given the red key by Anna.",
    "Tom gave the red key to Anna in the garden.",
    "Anna sold the blue watch to Tom in the kitchen.",
    "The dog was tired because it ran all day.",
)
WORDS, LABELS = "mean of words", "sentence-bert, from inference"


def turned_question(record: Likeness) -> Exercise:
    """Which ways cannot tell who gave and who was given to: the first and the third sentence have the same words."""
    same = [way for way, cosines in zip(record.ways, record.cosines, strict=True) if cosines[0, 2] > 1 - 1e-9]
    options: tuple[str, ...] = ("none of them", f"those with the {WORDS}", "all of them")
    answer = options[0] if not same else options[2] if len(same) == len(record.ways) else options[1]
    if answer == options[1] and same != [way for way in record.ways if WORDS in way]:
        answer = ", ".join(same)
        options = (*options, answer)
    others = [f"{way} {cosines[0, 2]:.3f}" for way, cosines in zip(record.ways, record.cosines, strict=True) if way not in same]
    return PROSE.question(
        "turned question", answer, options=options, record=record, others=", ".join(others) or "there are none"
    )


def best_question(record: Ranked) -> Exercise:
    """Which way ranks new pairs best, and how far a plain mean of BERT's states is behind it."""
    means = dict(zip(record.ways, record.intervals[0, :, 0], strict=True))
    best = max(means, key=means.__getitem__)
    ranked = ", ".join(f"{way} {means[way]:.2f}" for way in sorted(means, key=means.__getitem__, reverse=True))
    return PROSE.question(
        "best question", best, options=record.ways, pairs=len(record.grades), ranked=ranked, note=_of_labels(record)
    )


def _of_labels(record: Ranked) -> str:
    """What the softmax version of Sentence-BERT reaches, where its interval includes 0."""
    mean, low, high = record.intervals[0, record.ways.index(LABELS)] if LABELS in record.ways else (1.0, 1.0, 1.0)
    if low > 0 or high < 0:
        return ""
    return " " + PROSE("inference labels", mean=mean, low=low, high=high)


def exercises(record: Likeness, measured: Ranked) -> tuple[Exercise, ...]:
    """Questions whose answers are read off both records or follow from the numbers given."""
    u, v = np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.6, 0.8])
    return (
        PROSE.question("exercise: cosine", float(u @ v)),
        PROSE.question("exercise: loss of a grade", float((u @ v - 1) ** 2)),
        PROSE.question("exercise: weights of W", float(3 * 3 * 64), digits=0),
        _last(measured),
    )


def _last(measured: Ranked) -> Exercise:
    """Which way with vectors ranks worst."""
    means = measured.intervals[0, :, 0]
    worst = measured.ways[int(np.argmin(means))]
    return PROSE.question("exercise: worst way", worst, options=measured.ways, lowest=means.min())
