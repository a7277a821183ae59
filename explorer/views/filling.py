"""A masked language model that fills several blanks, one row for each step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.records import FillingStep
from explorer.views import strips, theme
from explorer.views.strips import FIRST, NEW, PLAIN, SECOND, Box, Drawn, Strip
from explorer.views.view import Control, Range, View, by_name, only_many

SAID = 3
TITLES = {
    "left": "from left to right",
    "confident": "the most confident first",
    "mask-predict": "all at once, then the least confident ones again",
}


def filling(steps: Sequence[FillingStep], *, shown: int) -> go.Figure:
    """Orange tokens were written in this step, dark blue ones before; pale ones are still [MASK]. Each row is the text after a step.
    Point at one for the model's most probable tokens at that position, given the text at the beginning of the step.

    A masked language model predicts every blank from the whole context, but it predicts the blanks independently of each other: two
    that fit alone need not fit together. So it fills one, reads the text again, and fills the next; the order changes the text.
    *Mask-predict* fills all at once and then hides those with the lowest probability again.

    You may conclude which order wrote which text, and how confident the model was each time. You may not conclude that the sum of
    these logarithms is the log-probability of the sentence: a masked language model does not define one.
    """
    return strips.drawn(*filling_rows(steps, shown=shown))


def filling_rows(steps: Sequence[FillingStep], *, shown: int) -> Drawn:
    """The text after each step that is shown."""
    first = steps[0]
    notes = (
        f"{theme.printable(first.model)}, {TITLES[first.order]}: {len(first.places)} blanks, {len(steps)} steps",
        f"sum of log P of what was written: {steps[-1].total:.2f}",
        theme.unseen_note(steps[-1].tokens),
    )
    rows: list[Strip] = []
    for number, step in enumerate(steps):
        lines = strips.wrapped(f"step {step.step}", _boxes(steps, number))
        rows += lines if number < shown else [Strip("")] * len(lines)  # the picture keeps its height while it is played
    return rows, "Blanks are filled", notes


def filling_frames(steps: Sequence[FillingStep], mode: str) -> dict[str, Any]:
    """Every step as a frame."""
    return strips.strip_frames((filling_rows(steps, shown=n + 1) for n in range(len(steps))), mode, "Step")


def _boxes(steps: Sequence[FillingStep], number: int) -> list[Box]:
    """The tokens of the text after a step."""
    step, names = steps[number], theme.labels(steps[number].tokens)
    at = {int(place): n for n, place in enumerate(step.places)}
    boxes = []
    for place, (text, shown) in enumerate(zip(step.tokens.texts, names, strict=True)):
        n = at.get(place)
        hover = f"{shown}, position {place}" if n is None else f"{shown}, position {place}: {_likeliest(step, n)}"
        boxes.append(
            Box(text + (theme.UNSEEN if theme.UNSEEN in shown and theme.UNSEEN not in text else ""), _tone(step, n), hover)
        )
    return boxes


def _tone(step: FillingStep, n: int | None) -> float:
    """The colour of a token: written now, written before, blank, or given."""
    if n is None:
        return PLAIN
    return FIRST if step.blank[n] else NEW if step.filled[n] else SECOND


def _likeliest(step: FillingStep, n: int) -> str:
    pairs = zip(step.texts[n][:SAID], np.asarray(step.shares[n][:SAID]), strict=True)
    return ", ".join(f"{theme.label(text)} {theme.percent(share)}" for text, share in pairs)


def steps_shown(steps: Sequence[FillingStep]) -> Mapping[str, Control]:
    """How many steps are shown; all of them at first."""
    return {"shown": Range("Step", 1, len(steps), len(steps))}


STEPS = only_many(FillingStep, "the steps of a filling, tuple(ex.decode(bert, text, 'fill'))")
VIEWS = by_name(View("filling", "Blanks are filled", filling, STEPS, steps_shown, filling_frames))
