"""Pictures of learning a vocabulary: one merge, and tokens per word as the vocabulary grows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.records import Merge
from explorer.views import theme
from explorer.views.stage.curve import points
from explorer.views.strips import FIRST, NEW, Box, Drawn, Strip, drawn, strip_frames
from explorer.views.view import Control, Range, View, also, by_name, only_many


def merges(steps: Sequence[Merge], *, step: int) -> go.Figure:
    """Each row is a word as its tokens are after this merge; orange is the token that was just made. The player replays the merges,
    ever faster those that join nothing in these words.

    Every step joins one pair of neighbouring tokens, everywhere in the texts, and adds one token to the vocabulary. It never looks at
    meaning: it only counts how often two tokens are neighbours.

    You may conclude which strings were frequent in these texts. You may not conclude that a token is a morpheme, a syllable or a unit
    of meaning; where it is one, that is because such strings are frequent.
    """
    return drawn(*merge_rows(steps, step=step))


def merge_rows(steps: Sequence[Merge], *, step: int) -> Drawn:
    """The words after a merge, what was joined, and why."""
    merge, made = steps[step - 1], {known.piece: known for known in reversed(steps[:step])}
    rows = [
        Strip(theme.label(word.strip("·")), tuple(_box(piece, made.get(piece), merge.step) for piece in after))
        for word, after in zip(merge.words, merge.after, strict=True)
    ]
    first, second = (theme.label(part) for part in merge.pair)
    notes = (
        "" if joins(merge) else "not in these words", reason(merge),
        f"vocabulary: {merge.size:,} tokens · a word of the texts needs {merge.fertility:.2f} of them",
    )  # fmt: skip
    return rows, f"merge {merge.step}: {first} + {second} → {theme.label(merge.piece)}", notes


def merge_frames(steps: Sequence[Merge], mode: str) -> dict[str, Any]:
    """Every merge as a frame; one that joins nothing in the words soon passes quickly."""
    moving = strip_frames((merge_rows(steps, step=n + 1) for n in range(len(steps))), mode, "Merge")
    for frame, merge in zip(moving["frames"], steps, strict=True):
        frame["quick"] = not joins(merge)
    return moving | _shorter(np.array([merge.fertility for merge in steps]), mode)


def _shorter(fertility: np.ndarray, mode: str) -> dict[str, Any]:
    """The curve of the tokens per word, merge by merge, with a dot for each."""
    low, high = fertility.min(), fertility.max()
    places = points(np.linspace(0, 1, len(fertility)), fertility, low, high)
    curve = {"name": "tokens per word of the texts", "colour": theme.LINES[mode][0], "points": places}
    ends = [f"{high:.2f}", f"{low:.2f}", "merge 1", f"merge {len(fertility):,}"]
    return {"curves": [curve], "dots": places, "ends": ends}


def joins(merge: Merge) -> bool:
    """Whether the new token is in one of the words."""
    return any(merge.piece in after for after in merge.after)


def reason(merge: Merge) -> str:
    """Why this pair was chosen, with its numbers."""
    if merge.by == "count":
        return f"the most frequent pair of neighbours: {merge.score:,.0f} times"
    a, b = merge.parts
    together = round(merge.score * a * b)
    return f"score {together:,} / ({a:,} · {b:,}) = {merge.score:.3g}; no other pair has a higher score"


def _box(piece: str, made: Merge | None, now: int) -> Box:
    """A token, and the merge that made it."""
    if made is None:
        return Box(piece, FIRST, f"<b>{theme.label(piece)}</b>: in the vocabulary from the start")
    first, second = (theme.label(part) for part in made.pair)
    return Box(piece, NEW if made.step == now else FIRST, f"<b>{theme.label(piece)}</b>: merge {made.step}, {first} + {second}")


def growth(steps: Sequence[Merge]) -> go.Figure:
    """Tokens per word of the texts while the vocabulary grows, one line for each rule for choosing the next pair.

    The lower the line, the fewer tokens the same text needs. At 1 every word of the texts is one token; then there is nothing left to
    join.

    You may conclude which rule gives shorter sequences for these texts. You may not conclude that shorter is better for a model: a
    rare token is seen rarely in training, so its embedding is learned poorly.
    """
    figure = go.Figure()
    for number, by in enumerate(dict.fromkeys(step.by for step in steps)):
        run = [step for step in steps if step.by == by]
        name = NAMES[by]
        line = go.Scatter(
            x=np.array([step.size for step in run]),
            y=np.array([step.fertility for step in run]),
            mode="lines",
            name=name,
            line={"width": 4},
            meta=number,
            hovertemplate=f"{name}<br>%{{x:,}} tokens: <b>%{{y:.2f}}</b> per word<extra></extra>",
        )
        figure.add_trace(line)
    notes = (f"measured on the {len(steps):,} merges of this page",)
    return figure.update_layout(
        title=theme.title("Tokens per word as the vocabulary grows", *notes),
        xaxis={"title": "tokens in the vocabulary"},
        yaxis={"title": "tokens per word", "rangemode": "tozero"},
        height=260,
    )


NAMES = {"count": "by count", "score": "by the score"}


are_merges = only_many(Merge, "the merges that tuple(ex.learn(…)) gives")


is_one_run = also(are_merges, lambda steps: len({step.by for step in steps}) == 1, "it draws one way of learning at a time.")


def step_of(steps: Sequence[Merge]) -> Mapping[str, Control]:
    """Which merge."""
    return {"step": Range("Merge", 1, len(steps))}


VIEWS = by_name(
    View("merges", "Learned merge by merge", merges, is_one_run, step_of, merge_frames),
    View("growth", "Tokens per word as the vocabulary grows", growth, are_merges),
)
