"""Sentences for which shared words mislead: the text, the ◇ question, and what the bars say."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Exercise, Nearer

PROSE = prose("vectors")

PLAIN, TAUGHT = "bert, mean of tokens", "sentence-bert, from such pairs"
GUESSING = 0.5


def place(low: float, high: float) -> int:
    """Whether an interval lies below guessing (0), around it (1), or above it (2)."""
    return 0 if high < GUESSING else 2 if low > GUESSING else 1


def plain_question(record: Nearer) -> Exercise:
    """Whether the mean of a plain BERT's states is misled by shared words."""
    n = record.ways.index(PLAIN)
    text, same, another = record.examples[0]
    answer = place(*record.intervals[0, n, 1:])
    each = "; ".join(
        f"{way} {mean:.0%} ({low:.0%} to {high:.0%})"
        for way, (mean, low, high) in zip(record.ways, record.intervals[0], strict=True)
    )
    return PROSE.question("plain question", answer, text=text, same=same, another=another, each=each)


def misled_conclusion(record: Nearer) -> str:
    """What the Sentence-BERT that learned from such pairs gained over the plain one, and the best way of each kind; a tie is a tie."""
    plain, taught = (record.ways.index(way) for way in (PLAIN, TAUGHT))
    parts = []
    for kind, rows in zip(record.kinds, record.intervals, strict=True):
        gain = f"{100 * (rows[taught, 0] - rows[plain, 0]):+.0f} points"
        best, second = np.argsort(-rows[:, 0])[:2]
        leads = "best" if rows[best, 1] > rows[second, 2] else "tied for best"
        parts.append(f"*{kind}* {gain if apart(rows[taught], rows[plain]) else 'a tie'} ({leads}: *{record.ways[best]}*)")
    return PROSE("misled: conclusion", gains="; ".join(parts))


def apart(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two intervals (mean, low, high) do not touch."""
    return bool(first[1] > second[2] or second[1] > first[2])
