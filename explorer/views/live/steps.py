"""The steps of a decoding as a page draws them: the same as its own engine hands out (`js/decoding.js`), from Python's records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.records import Candidate, DecodingStep

PRUNED = 3  # candidates of each beam that go no further, where there are several beams


def recorded_steps(steps: Sequence[DecodingStep]) -> list[dict[str, Any]]:
    """Each step with its candidates, the text so far, and the texts that have ended."""
    return [
        {
            "step": step.step,
            "candidates": [_candidate(one) for one in _shown(step)],
            "ids": step.ids.tolist(),
            "text": step.text,
            "total": step.total,
            "finished": [
                {"ids": ended.ids.tolist(), "text": ended.text, "score": ended.score, "total": ended.total}
                for ended in step.finished
            ],
            "stopped": step.stopped,
        }
        for step in steps
    ]


def _shown(step: DecodingStep) -> list[Candidate]:
    """The candidates of a step, of several beams the most probable ones."""
    ranked = sorted(step.candidates, key=lambda one: -one.total)
    if len({one.parent for one in ranked}) == 1 and "beam" not in step.strategy:
        return ranked
    left: dict[int, int] = {}
    shown = []
    for one in ranked:
        goes_on = one.beam >= 0 or one.fate in ("kept", "finished")
        left[one.parent] = left.get(one.parent, 0) + (not goes_on)
        if goes_on or left[one.parent] <= PRUNED:
            shown.append(one)
    return shown


def _candidate(one: Candidate) -> dict[str, Any]:
    names = ("id", "text", "logp", "total", "parent", "fate", "beam")
    return {name: getattr(one, name) for name in names}
