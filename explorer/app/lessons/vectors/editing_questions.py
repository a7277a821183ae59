"""A corpus to edit: a dozen sentences about ice and steam, one to add, and what to guess about it."""

from __future__ import annotations

import numpy as np

from explorer.records import Edited, Exercise

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
    options = ("it rises", "it stays", "it falls")
    answer = options[1] if np.isclose(before, now) else options[0] if now > before else options[2]
    a, b = record.pair
    asked = f"We add the sentence *{ADDED}* What happens to P({WATCHED} | {a}) / P({WATCHED} | {b})?"
    why = f"From {before:.2f} to {now:.2f}. Look also at the words that you did not add: their probabilities fall, since a row sums to 1."
    return Exercise(asked, answer, why, options)


def exercises(record: Edited) -> tuple[Exercise, ...]:
    """Questions about the corpus with the added sentence."""
    a, b = record.pair
    place, apart = record.words.index("water"), ADDED.lower().rstrip(".").split().index(WATCHED) - 1
    p, q = (float(f"{value:.3g}") for value in record.chances[1, :, place])
    return (
        Exercise(
            f"In *{ADDED}*, how much does *{WATCHED}* count near *{a}*? They are {apart} positions apart.", 1 / apart,
            f"1 / {apart}: one divided by the distance.",
        ),
        Exercise(
            f"P(water | {a}) = {p:.3g} and P(water | {b}) = {q:.3g}. What is the ratio?", p / q,
            f"{p:.3g} / {q:.3g}. Water occurs near both, but this corpus is too small for a ratio of 1.",
        ),
    )  # fmt: skip
