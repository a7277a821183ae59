"""A corpus to edit: a dozen sentences about ice and steam, one to add, and what to guess about it."""

from __future__ import annotations

import numpy as np

from explorer.app.prose import prose
from explorer.records import Edited, Exercise

PROSE = prose("vectors")

PAIR = ("ice", "steam")
WATCH = "solid gas water fashion cold hot frozen turns"
CORPUS = (
    "Ice is solid and cold.",
    "The ice on the lake is solid.",
    "Ice is frozen water.",
    "Cold water turns into ice.",
    "A block of ice is heavy.",
    "Steam is a hot gas.",
    "Steam rises from hot water.",
    "Above the kettle the gas is steam.",
    "Hot water turns into steam.",
    "Steam is water as a gas.",
    "He wears the fashion of the year.",
    "The fashion is new.",
)
ADDED, WATCHED = "Dry ice turns into gas.", "gas"


def added_question(record: Edited) -> Exercise:
    """What one sentence does to the ratio of one word."""
    place = record.words.index(WATCHED)
    before, now = record.ratios[:, place]
    answer = 1 if np.isclose(before, now) else 0 if now > before else 2
    a, b = record.pair
    return PROSE.question("added question", answer, added=ADDED, watched=WATCHED, a=a, b=b, before=before, now=now)


def exercises(record: Edited) -> tuple[Exercise, ...]:
    """Questions about the corpus with the added sentence."""
    a, b = record.pair
    place, apart = record.words.index("water"), ADDED.lower().rstrip(".").split().index(WATCHED) - 1
    p, q = (float(f"{value:.3g}") for value in record.chances[1, :, place])
    return (
        PROSE.question("exercise: distance", 1 / apart, added=ADDED, watched=WATCHED, a=a, apart=apart),
        PROSE.question("exercise: ratio of a corpus", p / q, a=a, p=p, b=b, q=q),
    )
