"""Metrics: what they count, the texts that the card opens with, and exercises on them."""

from __future__ import annotations

import math

from explorer.records import Exercise, TextScores

WRITTEN = "L'animal n'a pas traversé la rue parce qu'elle était trop fatiguée."
REFERENCE = "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
SAID, GOLD = "no no no no no no no no no no", "no no no no no no no no yes yes"
BLEU = (
    "How good is a translation or a summary? People judge best; a metric compares with a text that a person wrote, the reference. "
    "**BLEU** asks which share of the generated 1- to 4-grams is in the reference, each as often as it occurs there at most ($p_n$; $c$ "
    "and $r$ are the lengths of the generated text and of the reference). **ROUGE** asks both ways: also how much of the reference was "
    "found. Change a word, or drop *n'* and *pas*, and see which number shows that the meaning is reversed."
)
LABELS = (
    "Where a model chooses a label, count right answers (**accuracy**), or take the mean of the F1 of every label (**macro F1**), or "
    "**Matthews' correlation**, which is 0 for a model that always answers the same, whatever the labels' shares. For grades "
    "**Spearman's correlation** compares the order. GLUE uses Matthews for CoLA and Spearman for STS-B."
)
CHANCE = (
    "You may conclude how often these answers agree with the gold labels, and whether the most frequent label alone does as well. You may "
    "not conclude that a difference between two models is real: with so few answers, one more right answer changes every number."
)


def exercises(record: TextScores) -> tuple[Exercise, ...]:
    """A question about the lengths of the texts that the card opens with."""
    mine, right = record.lengths
    return (
        Exercise(
            f"A generated text has {max(1, mine // 2)} tokens and its reference {right}. What is the brevity penalty?",
            math.exp(1 - right / max(1, mine // 2)), "e to the power of 1 − r/c, because the text is shorter than its reference.",
        ),
    )  # fmt: skip
