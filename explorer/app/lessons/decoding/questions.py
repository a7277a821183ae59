"""Decoding: the ◇ questions, exercises on the numbers of one text, and notes on the slides."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from explorer.app.prose import prose
from explorer.records import Contest, DecodingStep, Distribution, Exercise, Generation, Written

PROSE = prose("decoding")

PROMPT = "Anna was hungry, so she"
UNICORNS = (  # GPT-2's, as the slide has it
    "In a shocking finding, scientist discovered a herd of unicorns living in a remote, previously unexplored valley, in the Andes "
    "Mountains. Even more surprising to the researchers was the fact that the unicorns spoke perfect English."
)
SOURCE = "The animal did not cross the street because it was too tired."
BLANKS = "Tom was ___, so he drank some ___. Then he went to ___."
REASONS = ("tired", "wide")
TO_RESTORE = "The dog was tired. It slept in the garden."


def other_reason(source: str) -> tuple[str, str] | None:
    """The other of the two reasons and the source with it; None where the source has neither, or both.

    >>> other_reason("The dog was too tired.")
    ('wide', 'The dog was too wide.')
    """
    reasons = [reason for reason in REASONS if re.search(rf"\b{reason}\b", source)]
    if len(reasons) != 1:
        return None
    other = REASONS[1 - REASONS.index(reasons[0])]
    return other, re.sub(rf"\b{reasons[0]}\b", other, source)


def beam_question(record: Contest) -> Exercise:
    """Whether greedy can end with the more probable text."""
    greedy, beam = (record.totals[record.labels.index(name)] for name in ("greedy", record.labels[2]))
    above, below = float((greedy > beam + 1e-4).mean()), float((beam > greedy + 1e-4).mean())
    place = 0 if above == 0 else 1 if above <= 0.5 else 2
    human = float((record.totals[0] < greedy).mean())
    return PROSE.question(
        "beam question",
        place,
        beams=record.labels[2].split()[-1],
        prompts=len(greedy),
        above=round(above * len(greedy)),
        below=round(below * len(greedy)),
        record=record,
        human=round(human * len(greedy)),
    )


def next_question(record: Distribution) -> Exercise:
    """Which token comes next, among the most probable ones."""
    offered = tuple(sorted(record.texts[:5]))
    shares = record.shares
    return PROSE.question(
        "next question", record.texts[0], options=offered, shares=shares, record=record, called="most probable"
    )


def exercises(
    text: Written, record: Distribution, steps: Sequence[DecodingStep], generation: Generation
) -> tuple[Exercise, ...]:
    """Questions about one text; every answer is read from its records."""
    return (*_about_sums(text), *_about_cuts(record), *_about_search(steps, generation))


def _about_sums(text: Written) -> Sequence[Exercise]:
    first, second = (
        (float(np.exp(value)) for value in text.logp[:2]) if len(text.logp) > 1 else (float(np.exp(text.logp[0])), 1.0)
    )
    return (PROSE.question("exercise: log P of two tokens", float(text.logp[:2].sum()), first=first, second=second),)


def _about_cuts(record: Distribution) -> Sequence[Exercise]:
    kept = int((record.cut(1.0, top_p=0.9)[1] == 0).sum())
    few = float(record.shares[:3].sum())
    return (
        PROSE.question("exercise: top p", float(kept), digits=0),
        PROSE.question("exercise: top k", float(record.shares[0] / few), record=record, few=few),
    )


def _about_search(steps: Sequence[DecodingStep], generation: Generation) -> Sequence[Exercise]:
    final = steps[-1]
    rows = generation.trace.axes("decoder")[0]
    without = sum((*generation.rows[1:], len(rows)))
    return (
        PROSE.question("exercise: length penalty", final.total / len(final.ids), final=final, length=len(final.ids)),
        PROSE.question(
            "exercise: without a cache",
            float(without),
            digits=0,
            positions=len(rows),
            steps=len(generation.rows),
            total=" + ".join(map(str, (*generation.rows[1:], len(rows)))),
        ),
    )
