"""Metrics: what they count, the texts that the card opens with, and exercises on them."""

from __future__ import annotations

import math

from explorer.app.prose import prose
from explorer.records import Exercise, TextScores

WRITTEN = "L'animal n'a pas traversé la rue parce qu'elle était trop fatiguée."
REFERENCE = "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
SAID, GOLD = "no no no no no no no no no no", "no no no no no no no no yes yes"


def exercises(record: TextScores) -> tuple[Exercise, ...]:
    """A question about the lengths of the texts that the card opens with."""
    mine, right = record.lengths
    return (
        prose("decoding").question(
            "exercise: brevity penalty", math.exp(1 - right / max(1, mine // 2)), generated=max(1, mine // 2), right=right
        ),
    )
