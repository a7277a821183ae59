"""What a decoding kept at each of its steps, for the board: the row that wrote, and the best beams after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from explorer.errors import ChoiceError
from explorer.records import DecodingStep, Trace
from explorer.views import theme

MOST, LETTERS = 4, 48  # beams of a step, and letters of each


class Beam(TypedDict):
    """One text that was still followed after a step: its end, and the sum of its log-probabilities."""

    text: str
    total: float


class Moment(TypedDict):
    """One step: the row whose probabilities it used, and the best beams after it."""

    row: int
    beams: list[Beam]


def moments(trace: Trace, steps: Sequence[DecodingStep]) -> list[Moment]:
    """The steps of a decoding by the rows of the trace of its text, which holds all tokens but the last one, that was never read."""
    if not steps:
        return []
    rows = trace.source if trace.target is None else trace.target
    written = steps[-1].ids
    first = len(rows) - len(written)
    if first < 0 or not np.array_equal(rows.ids[first + 1 :], written[:-1]):
        raise ChoiceError(
            "These steps wrote another text than this trace holds. Trace what they wrote: target=list(steps[-1].ids), or as the text."
        )
    texts: dict[int, str] = {}
    found_moments: list[Moment] = []
    for number, step in enumerate(steps[: len(written)]):
        kept = sorted((candidate for candidate in step.candidates if candidate.beam >= 0), key=lambda candidate: candidate.beam)
        texts = {candidate.beam: texts.get(candidate.parent, "") + candidate.text for candidate in kept}
        beams: list[Beam] = [
            {"text": _end(texts[candidate.beam]), "total": float(candidate.total)} for candidate in kept[:MOST]
        ]
        found_moments.append({"row": first + number, "beams": beams})
    return found_moments


def _end(text: str) -> str:
    """The end of a text, where it is long."""
    shown = theme.visible(text.replace("·", " ")).strip()
    return shown if len(shown) <= LETTERS else f"… {shown[-LETTERS:]}"
