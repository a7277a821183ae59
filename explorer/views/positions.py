"""Pictures of position schemes: their vectors, their curves, their turning, and what they do to scores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Places
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, by_name


def table(record: Places) -> go.Figure:
    """The vector that is added to a word at each place: one row for each place, one column for each feature.

    Sines and cosines make stripes that grow wider to the right: fast features tell neighbours apart, slow ones tell the
    beginning from the end. A learned table is trained like any weight (that of our tiny models begins as sines, more than three
    times as strong as the word vectors at the start; a random one would need longer): look for what training made of it.

    You may conclude which places have similar vectors. You may not conclude what the model does with them: that depends on
    the queries and keys it makes of the sum of word and place.
    """
    assert record.vectors is not None
    notes = ("rows are places, columns are features",)
    figure = _heat(record.vectors, f"Vectors of the places: {record.label}", notes, "place %{y}, feature %{x}")
    figure.update_xaxes(title={"text": "feature", "standoff": 6}, side="top", automargin=True)
    figure.update_yaxes(title={"text": "place"}, autorange="reversed", automargin=True)
    return figure


def waves(record: Places, *, feature: int) -> go.Figure:
    """Four neighbouring features of the place vectors as curves over the places.

    Sinusoidal schemes: each pair of features is a sine and a cosine of the same speed, and the next pair is slower. Move
    the slider from the fast features to the slow ones.

    You may conclude how fast a feature tells places apart. You may not conclude that one feature alone says where a word
    stands: only all of them together do.
    """
    assert record.vectors is not None
    count, width = record.vectors.shape
    shown = [n for n in range(feature, feature + 4) if n < width]
    lines = [
        go.Scatter(
            x=np.arange(count), y=record.vectors[:, n], mode="lines", name=f"feature {n}", line={"width": 3}, meta=n - feature,
            hovertemplate=f"feature {n}, place %{{x}}: <b>%{{y:.4g}}</b><extra></extra>",
        )
        for n in shown
    ]  # fmt: skip
    return _drawn(lines, f"Features over places: {record.label}", (), "place", "value")


def turns(record: Places, *, pair: int, place: int) -> go.Figure:
    """One pair of features as a hand of a clock: each place turns it a little further, and slower pairs turn less.

    RoPE turns queries and keys themselves; what is left in q·k is the *difference* of their angles, that is the
    distance of the two places. Sinusoidal vectors are the same hands, added to the words instead.

    You may conclude how far this pair turns from place to place. You may not conclude that a model uses every pair:
    the slowest ones hardly move within a short text.
    """
    assert record.angles is not None
    angle = record.angles[:, pair]
    points = go.Scatter(
        x=np.cos(angle), y=np.sin(angle), mode="markers", name="all places", marker={"size": 7, "opacity": 0.55}, meta=0,
        customdata=np.arange(len(angle)), hovertemplate="place %{customdata}: (%{x:.3f}, %{y:.3f})<extra></extra>",
    )  # fmt: skip
    hands = [
        go.Scatter(
            x=[0.0, np.cos(angle[at])], y=[0.0, np.sin(angle[at])], mode="lines+markers", name=f"place {at}", meta=colour,
            line={"width": 5}, marker={"size": 12}, hovertemplate=f"place {at}: %{{x:.3f}}, %{{y:.3f}}<extra></extra>",
        )
        for at, colour in ((0, 6), (place, 1))
    ]  # fmt: skip
    step = float(angle[1] - angle[0]) if len(angle) > 1 else 0.0
    notes = (f"place {place} has turned by {np.degrees(angle[place]):.1f}°: {place} × {np.degrees(step):.3g}°",)
    figure = _drawn([points, *hands], f"Pair {pair} as a hand: {record.label}", notes, "first feature", "second feature")
    figure.update_xaxes(range=[-1.15, 1.15], zeroline=True)
    figure.update_yaxes(range=[-1.15, 1.15], scaleanchor="x", zeroline=True)
    return figure.update_layout(height=560)


def scores(record: Places, *, head: int) -> go.Figure:
    """What the places alone contribute to the score of each query (row) and key (column).

    Stripes along the diagonal mean that only the distance counts. For schemes that add a vector to the word it is the dot
    product of two place vectors; for RoPE the score of one random query and key, turned; for T5 and ALiBi the bias itself.

    You may conclude how a score changes when a word moves and nothing else does. You may not conclude where a head
    looks: the words have their say as well, and usually the larger one.
    """
    notes = (f"head {head}: {record.meaning}",)
    figure = _heat(record.scores[head], f"Places and scores: {record.label}", notes, "query at %{y}, key at %{x}")
    figure.update_xaxes(title={"text": "place of the key", "standoff": 6}, side="top", automargin=True)
    figure.update_yaxes(title={"text": "place of the query"}, autorange="reversed", automargin=True)
    return figure


def distances(record: Places) -> go.Figure:
    """The same contributions by distance: the mean over all pairs of places that are so far apart; bars show their range.

    Where there are no bars, only the distance counts, wherever the pair stands. Left of 0 the key stands before the query.

    You may conclude whether a scheme is about distance, and whether it favours near words. You may not conclude from the
    heights that one scheme matters more than another: they are on different scales, and a model learns to use them.
    """
    count = record.scores.shape[1]
    away = np.arange(count)[None, :] - np.arange(count)[:, None]
    furthest = max(1, count // 2)
    steps = np.arange(-furthest, 1 if record.causal else furthest + 1)
    lines = []
    for head in range(len(record.scores)):
        found = [record.scores[head][away == step] for step in steps if (away == step).any()]
        mean = np.array([values.mean() for values in found])
        lines.append(
            go.Scatter(
                x=steps[-len(found) :], y=mean, mode="lines", name=f"head {head}", line={"width": 3}, meta=head,
                error_y={"array": [v.max() - m for v, m in zip(found, mean, strict=True)],
                         "arrayminus": [m - v.min() for v, m in zip(found, mean, strict=True)], "thickness": 1, "width": 0},
                hovertemplate=f"head {head}, distance %{{x}}: <b>%{{y:.4g}}</b><extra></extra>",
            )
        )  # fmt: skip
    notes = (record.meaning,)
    return _drawn(lines, f"Scores by distance: {record.label}", notes, "place of the key − place of the query", "contribution")


def _heat(values: np.ndarray, heading: str, notes: tuple[str, ...], hover: str) -> go.Figure:
    heat = go.Heatmap(z=values, coloraxis="coloraxis2", hovertemplate=hover + ": <b>%{z:.4g}</b><extra></extra>", name=heading)
    figure = go.Figure(heat)
    above = theme.space_above(*notes) + 24
    figure.update_layout(
        title=theme.title(heading, *notes), height=560 + above, margin={"l": 10, "r": 20, "t": above, "b": 60},
        **theme.colours(values, signed=True),
    )  # fmt: skip
    return figure


def _drawn(lines: list[go.Scatter], heading: str, notes: tuple[str, ...], across: str, up: str) -> go.Figure:
    above = theme.space_above(*notes)
    figure = go.Figure(lines)
    return figure.update_layout(
        title=theme.title(heading, *notes), height=400 + above, margin={"l": 10, "r": 20, "t": above, "b": 110},
        xaxis={"title": {"text": across, "standoff": 6}, "automargin": True},
        yaxis={"title": {"text": up}, "automargin": True},
    )  # fmt: skip


def feature_choice(record: Places) -> Mapping[str, Control]:
    """Which features."""
    assert record.vectors is not None
    return {"feature": Range("First feature", 0, max(0, record.vectors.shape[1] - 2))}


def pair_choice(record: Places) -> Mapping[str, Control]:
    """Which pair, and which place."""
    assert record.angles is not None
    count, pairs = record.angles.shape
    return {"pair": Range("Pair", 0, pairs - 1, min(2, pairs - 1)), "place": Range("Place", 0, count - 1, min(5, count - 1))}


def head_choice(record: Places) -> Mapping[str, Control]:
    """Which head."""
    return {"head": Choice("Head", tuple(range(len(record.scores))), ordered=True)}


def is_places(record: object) -> str:
    """Empty for a position scheme."""
    return "" if isinstance(record, Places) else f"it draws what ex.places(scheme) makes; this is a {type(record).__name__}."


def has_vectors(record: Places) -> str:
    """Empty where a vector is added to the words."""
    if reason := is_places(record):
        return reason
    return "" if record.vectors is not None else f"{record.scheme} adds no vector to the words; see what it does to the scores."


def has_angles(record: Places) -> str:
    """Empty where pairs of features turn."""
    if reason := is_places(record):
        return reason
    return "" if record.angles is not None else f"{record.scheme} turns nothing; sinusoidal vectors and RoPE do."


VIEWS = by_name(
    View("place-vectors", "Vectors of the places", table, lambda record: {}, has_vectors),
    View("place-curves", "Features over places", waves, feature_choice, has_vectors),
    View("place-turns", "Turning", turns, pair_choice, has_angles),
    View("place-scores", "Places and scores", scores, head_choice, is_places),
    View("place-distances", "Scores by distance", distances, lambda record: {}, is_places),
)
