"""Pictures of position schemes: their vectors, their curves, their rotations, and what they do to scores."""

from __future__ import annotations

from collections.abc import Mapping
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.records import Places
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, by_name, only

MOST = 0.999  # the share of a table's numbers that its colours tell apart


def table(record: Places) -> go.Figure:
    """The position embedding that is added to the token embedding: one row for each position, one column for each dimension.

    Sines and cosines make stripes that grow wider to the right: fast dimensions distinguish neighbours, slow ones the beginning from
    the end. A learned table is trained like any weight. In *bert* and *gpt2* here it starts as sinusoids; in the published BERT, at
    random. Look for what training changed.

    You may conclude which positions have similar vectors. You may not conclude what the model does with them: that depends on the
    queries and keys that it computes from the sum of token and position.
    """
    assert record.vectors is not None
    sizes, end = np.abs(record.vectors), float(np.quantile(np.abs(record.vectors), MOST))
    lone = end > 0 and sizes.max() > 2 * end  # a few large numbers would leave the rest without colour
    notes = (
        "rows are positions, columns are dimensions",
        f"colours end at ±{end:.2g}; the largest number is ±{sizes.max():.3g}" if lone else "",
    )
    figure = _heat(record.vectors, f"Position vectors: {theme.printable(record.label)}", notes, "position %{y}, dimension %{x}")
    if lone:
        figure.update_layout(coloraxis2={"cmin": -end, "cmax": end})
    figure.update_xaxes(title="dimension")
    figure.update_yaxes(title="position", autorange="reversed")
    return figure


def waves(record: Places, *, feature: int) -> go.Figure:
    """Two neighbouring dimensions of the position vectors, a slower one and the last, as curves over the positions.

    Sinusoidal schemes: each pair of dimensions is a sine and a cosine of the same frequency, and the next pair is slower. Move the
    slider from the fast dimensions to the slow ones.

    You may conclude how fast a dimension changes with the position. You may not conclude that one dimension alone encodes the
    position of a token: only all of them together do.
    """
    assert record.vectors is not None
    count, width = record.vectors.shape
    shown = sorted({n for n in (feature, feature + 1, width // 4, width - 1) if n < width})
    lines = [
        go.Scatter(
            x=np.arange(count), y=record.vectors[:, n], mode="lines", name=f"dimension {n}", line={"width": 3}, meta=place,
            hovertemplate=f"dimension {n}, position %{{x}}: <b>%{{y:.4g}}</b><extra></extra>",
        )
        for place, n in enumerate(shown)
    ]  # fmt: skip
    return _drawn(lines, f"Dimensions over positions: {theme.printable(record.label)}", (), "position", "value")


def turns(record: Places, *, pair: int, place: int) -> go.Figure:
    """One pair of dimensions as the hand of a clock: each position rotates it a little further, and slower pairs rotate less.

    RoPE rotates queries and keys; q·k then depends only on the *difference* of their angles, that is on the distance of the two
    positions. Sinusoidal vectors are the same hands, but they are added to the token embeddings.

    You may conclude how far this pair rotates from position to position. You may not conclude that a model uses every pair: the
    slowest ones hardly move within a short text.
    """
    assert record.angles is not None
    angle = record.angles[:, pair]
    points = go.Scatter(
        x=np.cos(angle), y=np.sin(angle), mode="markers", name="all positions", marker={"size": 7, "opacity": 0.55}, meta=0,
        customdata=np.arange(len(angle)), hovertemplate="position %{customdata}: (%{x:.3f}, %{y:.3f})<extra></extra>",
    )  # fmt: skip
    hands = [
        go.Scatter(
            x=[0.0, np.cos(angle[at])], y=[0.0, np.sin(angle[at])], mode="lines+markers", name=f"position {at}", meta=colour,
            line={"width": 5}, marker={"size": 12}, hovertemplate=f"position {at}: %{{x:.3f}}, %{{y:.3f}}<extra></extra>",
        )
        for at, colour in ((0, 6), (place, 1))
    ]  # fmt: skip
    heading = f"Pair {pair} as a hand: {theme.printable(record.label)}"
    figure = _drawn([points, *hands], heading, (_rotated(angle, place),), "first dimension", "second dimension")
    figure.update_xaxes(range=[-1.15, 1.15], zeroline=True)
    figure.update_yaxes(range=[-1.15, 1.15], scaleanchor="x", zeroline=True)
    return figure.update_layout(height=370)


def turn_frames(record: Places, mode: str, *, pair: int) -> dict[str, Any]:
    """Every position as a frame: all pairs as hands, and how far the chosen one is rotated."""
    assert record.angles is not None
    label = unescape(theme.printable(record.label))
    about = f"{label}: pair 0 rotates fastest; grey is position 0"
    titles = [f"Pair {pair}: {_rotated(record.angles[:, pair], place)}" for place in range(len(record.angles))]
    named = {"figure": "clocks", "label": "Rotations", "unit": "position", "chosen": pair}
    return named | {
        "frames": [{"title": title, "notes": [about]} for title in titles],
        "angles": record.angles.astype(float).round(4).tolist(),
    }


def _rotated(angle: np.ndarray, place: int) -> str:
    """How far a position is rotated, in words."""
    step = float(angle[1] - angle[0]) if len(angle) > 1 else 0.0
    return f"position {place} is rotated by {np.degrees(angle[place]):.1f}°: {place} × {np.degrees(step):.3g}°"


def scores(record: Places, *, head: int) -> go.Figure:
    """What the positions alone contribute to the score of each query (row) and key (column).

    Stripes along the diagonal mean that only the distance counts. For schemes that add a position vector it is the dot product of two
    position vectors; for RoPE the score of one random query and key, rotated; for T5 and ALiBi the bias itself.

    You may conclude how a score changes when only the position of a token changes. You may not conclude what a head attends to: the
    score also depends on the tokens, usually much more.
    """
    notes = (f"head {head}: {record.meaning}",)
    figure = _heat(
        record.scores[head], f"Positions and scores: {theme.printable(record.label)}", notes, "query at %{y}, key at %{x}"
    )
    figure.update_xaxes(title="position of the key", side="top")
    figure.update_yaxes(title="position of the query", autorange="reversed")
    return figure


def distances(record: Places) -> go.Figure:
    """The same contributions by distance: the mean over all pairs of positions with this distance; bars show their range.

    Where there are no bars, only the distance counts, not the positions themselves. Left of 0 the key is before the query.

    You may conclude whether a scheme depends on the distance only, and whether it favours near tokens. You may not conclude that
    one scheme matters more than another because its values are larger: they are on different scales, and a model learns to use
    them.
    """
    count = record.scores.shape[1]
    away = np.arange(count)[None, :] - np.arange(count)[:, None]
    furthest = max(1, count // 2)
    steps = np.arange(-furthest, 1 if record.causal else furthest + 1)
    lines = []
    for head in range(len(record.scores)):
        by_step = [record.scores[head][away == step] for step in steps if (away == step).any()]
        mean = np.array([values.mean() for values in by_step])
        lines.append(
            go.Scatter(
                x=steps[-len(by_step) :], y=mean, mode="lines", name=f"head {head}", line={"width": 3}, meta=head,
                error_y={"array": [v.max() - m for v, m in zip(by_step, mean, strict=True)],
                         "arrayminus": [m - v.min() for v, m in zip(by_step, mean, strict=True)], "thickness": 1, "width": 0},
                hovertemplate=f"head {head}, distance %{{x}}: <b>%{{y:.4g}}</b><extra></extra>",
            )
        )  # fmt: skip
    notes = (record.meaning,)
    return _drawn(
        lines,
        f"Scores by distance: {theme.printable(record.label)}",
        notes,
        "position of the key − position of the query",
        "contribution",
    )


def _heat(values: np.ndarray, heading: str, notes: tuple[str, ...], hover: str) -> go.Figure:
    heat = go.Heatmap(z=values, coloraxis="coloraxis2", hovertemplate=hover + ": <b>%{z:.4g}</b><extra></extra>", name=heading)
    return go.Figure(heat).update_layout(
        title=theme.title(heading, *notes), height=380,
        **theme.colours(values, signed=True),
    )  # fmt: skip


def _drawn(lines: list[go.Scatter], heading: str, notes: tuple[str, ...], across: str, up: str) -> go.Figure:
    figure = go.Figure(lines)
    return figure.update_layout(
        title=theme.title(heading, *notes), height=290,
        xaxis={"title": across},
        yaxis={"title": up},
    )  # fmt: skip


def feature_choice(record: Places) -> Mapping[str, Control]:
    """Which dimensions."""
    assert record.vectors is not None
    return {"feature": Range("First dimension", 0, max(0, record.vectors.shape[1] - 2))}


def pair_choice(record: Places) -> Mapping[str, Control]:
    """Which pair, and which position."""
    assert record.angles is not None
    count, pairs = record.angles.shape
    return {"pair": Range("Pair", 0, pairs - 1, min(2, pairs - 1)), "place": Range("Position", 0, count - 1, min(5, count - 1))}


def head_choice(record: Places) -> Mapping[str, Control]:
    """Which head."""
    return {"head": Choice("Head", tuple(range(len(record.scores))), ordered=True)}


is_places = only(Places, "ex.places(scheme) makes")


def has_vectors(record: Places) -> str:
    """Empty where a vector is added to the token embeddings."""
    if reason := is_places(record):
        return reason
    return (
        ""
        if record.vectors is not None
        else f"{record.scheme} adds no vector to the token embeddings; see what it does to the scores."
    )


def has_angles(record: Places) -> str:
    """Empty where pairs of dimensions are rotated."""
    if reason := is_places(record):
        return reason
    return "" if record.angles is not None else f"{record.scheme} rotates nothing; sinusoidal vectors and RoPE do."


VIEWS = by_name(
    View("place-vectors", "Position vectors", table, has_vectors),
    View("place-curves", "Dimensions over positions", waves, has_vectors, feature_choice),
    View("place-turns", "Rotations", turns, has_angles, pair_choice, turn_frames),
    View("place-scores", "Positions and scores", scores, is_places, head_choice),
    View("place-distances", "Scores by distance", distances, is_places),
)
