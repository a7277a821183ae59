"""The matrices of queries, keys and values before and after training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Projections
from explorer.records.projections import MATRICES
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, by_name, only


def projections(record: Projections, *, matrix: str, layer: int, head: int) -> go.Figure:
    """One matrix of one head at the first and at the last of these steps, on one colour scale: rows are the dimensions of the state that
    it reads, columns those of the query, key or value that it computes. Right, its singular values, the largest first: how strongly it
    passes each of its directions on. Nobody sets these weights: each step moves them a little against the gradient of the loss.

    You may conclude how far training moved this matrix, and how unequally it now treats its directions. You may not conclude what it
    looks for: in single cells, rows and columns have no fixed meaning. See what the head attends to, early and late, in *Snapshots* of
    *Pre-training live*.
    """
    first, *_, last = record.of(matrix, layer, head)
    names = [f"step {step:,}" for step in (record.steps[0], record.steps[-1])]
    figure = make_subplots(
        1, 3, subplot_titles=(*names, "singular values"), horizontal_spacing=0.08, column_widths=[0.3, 0.3, 0.4]
    )
    for column, (name, cells) in enumerate(zip(names, (first, last), strict=True), 1):
        heat = go.Heatmap(
            z=cells, coloraxis="coloraxis2", name=name, hovertemplate="dimension %{y} → %{x}: <b>%{z:.4f}</b><extra></extra>",
        )  # fmt: skip
        figure.add_trace(heat, 1, column)
    strengths = record.strengths(matrix, layer, head)
    for number, (name, values) in enumerate(zip(names, (strengths[0], strengths[-1]), strict=True)):
        bars = go.Bar(
            x=np.arange(1, len(values) + 1), y=values, name=name, meta=number,
            hovertemplate=f"{name}, number %{{x}}: <b>%{{y:.3f}}</b><extra></extra>",
        )  # fmt: skip
        figure.add_trace(bars, 1, 3)
    figure.update_xaxes(showticklabels=False, showgrid=False, ticks="", row=1, col=1).update_xaxes(
        showticklabels=False, showgrid=False, ticks="", row=1, col=2
    )
    figure.update_yaxes(showticklabels=False, showgrid=False, ticks="", autorange="reversed", row=1, col=1)
    figure.update_yaxes(showticklabels=False, showgrid=False, ticks="", autorange="reversed", row=1, col=2)
    figure.update_yaxes(rangemode="tozero", row=1, col=3)
    return figure.update_layout(
        title=theme.title(f"{matrix} of head {head}, layer {layer}", *_moved(record.model, first, last)), height=380,
        barmode="group", bargap=0,
        **theme.colours(np.stack([first, last]), signed=True),
    )  # fmt: skip


def _moved(model: str, first: np.ndarray, last: np.ndarray) -> tuple[str, ...]:
    """How far the matrix has moved, and how much of where it began is left in it."""
    size, moved = np.linalg.norm(first), np.linalg.norm(last - first)
    cosine = float((first * last).sum() / (size * np.linalg.norm(last)))
    return theme.printable(
        model
    ), f"it moved {moved / size:.1f} times its first length; cosine with its beginning {round(cosine, 2) + 0:.2f}"


def choices(record: Projections) -> Mapping[str, Control]:
    """Which matrix, layer and head."""
    _, _, layers, heads, *_ = record.weights.shape
    return {
        "matrix": Choice("Matrix", MATRICES),
        "layer": Range("Layer", 0, layers - 1),
        "head": Range("Head", 0, heads - 1),
    }


VIEWS = by_name(
    View(
        "projections",
        "W_Q before and after training",
        projections,
        only(Projections, "ex.analysis.projections_over_steps(models) makes"),
        choices,
    )
)
