"""Word vectors on a plane, and enlarged where the words of each pair lie too near each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Plane
from explorer.views import theme
from explorer.views.view import View, by_name, only

NEAR, SMALL = 0.2, 0.1  # of a plane: how near words are one group, and how little of it all groups fill where they are enlarged
MOST = 3  # groups that have room beside each other
PIXELS, UPPER, LOWER = (
    (450, 270),
    (450, 70),
    (250, 230),
)  # of a picture of usual width; of the plane above groups, and of a group
AROUND, ABOVE, BESIDE = (1.36, 1.24), (1.36, 1.9), (1.36, 1.6)  # how much longer than its points an axis is, for the same three
SIDES = {
    "bottom center": (0, -1),
    "top center": (0, 1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (0.9, 0.9),
    "bottom right": (0.9, -0.9),
    "top left": (-0.9, 0.9),
    "bottom left": (-0.9, -0.9),
}  # of a dot, for its name


def plane(record: Plane) -> go.Figure:
    """Word vectors on their first two principal components (the plane with the largest spread), and a line between the two words of
    each pair. Where a relation is one direction, the lines are about parallel and equally long. A name that would cover another is
    not written: point at its dot. Where the pairs lie in small groups far apart, each group is drawn again below, enlarged.

    You may conclude how these words lie on this plane; the title says how much of their variance it keeps. You may not conclude that
    words which are close here are close in all dimensions: the rest of their variance is not in the picture, and another choice of
    words gives another plane.
    """
    view = f"The flat view in which these {len(record.words)} vectors spread most (PCA)"
    kept = f"A line joins a pair. {view} keeps {record.shares.sum():.0%} of their variance."
    axes = [
        f"{which} principal component ({share:.0%})" for which, share in zip(("first", "second"), record.shares, strict=True)
    ]
    groups = enlarged(record)
    figure = _with_groups(record, groups, axes) if groups else _alone(record, axes)
    facts = (theme.printable(record.model), theme.printable(record.relation or ""))
    return figure.update_layout(title=theme.title("Words on a plane", kept), **theme.measured(*facts))


def _alone(record: Plane, axes: Sequence[str]) -> go.Figure:
    """The plane alone."""
    spans = np.ptp(record.points, axis=0) * AROUND
    figure = go.Figure(_drawn(record, range(len(record.words)), PIXELS, spans))
    for way, title, values, span in zip("xy", axes, record.points.T, spans, strict=True):
        figure.layout[f"{way}axis"].update(title={"text": title}, range=_around(values, span))
    return figure.update_layout(height=400)


def enlarged(record: Plane) -> list[np.ndarray]:
    """The groups of more than one pair that are drawn again, larger: none where a pair reaches across the plane."""
    places = record.points / np.maximum(1e-6, np.ptp(record.points, axis=0))
    together = np.abs(places[:, None] - places).max(-1) < NEAR
    together[tuple(np.array(record.links).T)] = True
    reached = np.maximum(together, together.T).astype(np.float32)
    for _ in range(len(places).bit_length()):  # near what is near is one group, too: each time twice as far
        reached = np.minimum(1, reached @ reached)
    groups = sorted((np.flatnonzero(row) for row in np.unique(reached > 0, axis=0)), key=lambda group: places[group, 0].min())
    filled = sum(np.prod(np.ptp(places[group], axis=0)) for group in groups)
    several = [group for group in groups if len(group) > 2]
    return several if len(groups) > 1 and len(several) <= MOST and filled < SMALL else []


def _with_groups(record: Plane, groups: list[np.ndarray], axes: Sequence[str]) -> go.Figure:
    """The plane, and below it each group: all of them as much wider and higher as the largest allows, which its title says."""
    columns = len(groups)
    figure = make_subplots(
        2, columns, specs=[[{"colspan": columns}, *[None] * (columns - 1)], [{}] * columns], subplot_titles=["", *"A" * columns],
        row_heights=[0.3, 0.7], vertical_spacing=0.2, horizontal_spacing=0.1,
    )  # fmt: skip
    once = [n for n in range(len(record.words)) if not any(n in group for group in groups)]
    whole = np.ptp(record.points, axis=0) * ABOVE
    largest = np.max([np.ptp(record.points[group], axis=0) for group in groups], axis=0) * BESIDE
    for trace in _drawn(record, range(len(record.words)), UPPER, whole, named=once):
        figure.add_trace(trace)
    for way, values, span in zip("xy", record.points.T, whole, strict=True):
        figure.layout[f"{way}axis"].update(range=_around(values, span), nticks=4 if way == "y" else None)
    shares = [_long(figure.layout[f"{way}axis2"]) / _long(figure.layout[f"{way}axis"]) for way in "xy"]
    times = whole * shares / np.maximum(largest, 1e-6)
    for number, group in enumerate(groups):
        name, points = f"<b>{chr(ord('A') + number)}</b>", record.points[group]
        for trace in _drawn(record, group.tolist(), LOWER, largest):
            figure.add_trace(trace, row=2, col=1 + number)
        for way, values, span, title in zip("xy", points.T, largest, axes, strict=True):
            axis = figure.layout[f"{way}axis{2 + number}"]
            axis.update(range=_around(values, span), title={"text": "" if number else title}, nticks=5)
        figure.layout.annotations[number].text = f"{name}: {times[0]:.1f} × as wide,<br>{times[1]:.1f} × as high"
        _framed(figure, name, points, 0.02 * whole)
    return figure.update_layout(height=400)


def _framed(figure: go.Figure, name: str, points: np.ndarray, edge: np.ndarray) -> None:
    """A frame around a group on the plane, with its name."""
    (left, low), (right, top) = points.min(0) - edge * (1, 3), points.max(0) + edge * (1, 3)
    figure.add_shape(type="rect", x0=left, x1=right, y0=low, y1=top, xref="x", yref="y", line={"width": 1})
    figure.add_annotation(x=left, y=top, text=name, showarrow=False, xanchor="left", yanchor="bottom", xref="x", yref="y")


def _long(axis: Any) -> float:
    """How much of the figure an axis takes."""
    return float(axis.domain[1] - axis.domain[0])


def _around(values: np.ndarray, span: float) -> list[float]:
    """The range of this length with these values in its middle."""
    middle, span = (float(values.min()) + float(values.max())) / 2, max(span, 1e-6)
    return [middle - span / 2, middle + span / 2]


def _drawn(
    record: Plane, group: Sequence[int], pixels: Sequence[int], spans: np.ndarray, named: Sequence[int] | None = None
) -> list[go.Scatter]:
    """The lines and the dots of these words, in a picture of about so many pixels whose axes are as long as `spans`."""
    points = record.points[list(group)]
    inside = set(group)
    ends = [place for link in record.links if inside.issuperset(link) for place in (*link, None)]
    along = [[None if n is None else float(values[n]) for n in ends] for values in record.points.T]
    names = [theme.label(record.words[n]) for n in group]
    first = {a for a, _ in record.links}
    below = [n in first for n in group]  # the words of a pair may lie so near that their names would cover each other
    at = points * np.array(pixels) / np.maximum(1e-6, spans)
    texts, sides = apart([name if named is None or n in named else "" for n, name in zip(group, names, strict=True)], at, below)
    return [
        go.Scatter(x=along[0], y=along[1], mode="lines", meta=1, line={"width": 2}, hoverinfo="skip", showlegend=False),
        go.Scatter(
            x=points[:, 0], y=points[:, 1], mode="markers+text", text=texts, textposition=sides, meta=0, marker={"size": 9},
            showlegend=False, textfont={"size": 14}, customdata=names,
            hovertemplate="%{customdata}: (%{x:.2f}, %{y:.2f})<extra></extra>",
        ),
    ]  # fmt: skip


def apart(names: Sequence[str], at: np.ndarray, below: Sequence[bool]) -> tuple[list[str], list[str]]:
    """Each name on a side of its dot where it covers no name before it, rather one where it covers no dot (in pixels)."""
    taken: list[tuple[np.ndarray, float]] = []
    texts, sides = [], []
    for name, dot, under in zip(names, at, below, strict=True):
        half = 4.0 * len(name)
        order = list(SIDES) if under else ["top center", "bottom center", *list(SIDES)[2:]]
        middles = {side: dot + np.array(SIDES[side]) * (half + 8, 14) for side in order}
        free = [
            side
            for side, middle in middles.items()
            if all(abs(middle[0] - x) > half + other or abs(middle[1] - y) > 16 for (x, y), other in taken)
        ]
        clear = [side for side in free if not ((np.abs(at - middles[side]) < (half + 4, 11)).all(axis=1)).any()]
        side = next(iter(clear or free), order[0])
        texts.append(name if free else "")
        sides.append(side)
        taken += [(middles[side], half)] if free and name else []
    return texts, sides


VIEWS = by_name(View("plane", "Words on a plane", plane, only(Plane, "ex.analysis.plane(model, pairs) makes")))
