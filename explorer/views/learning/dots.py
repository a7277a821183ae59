"""The held-out losses of a class's runs: a dot for each run, a row for each setting."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import plotly.graph_objects as go

from explorer.views import theme
from explorer.views.margins import framed

MOST, LETTERS = 20, 30  # rows, and letters of a line of their names
Row = tuple[str, Sequence[float], Sequence[str]]


def loss_dots(rows: Sequence[Row]) -> go.Figure:
    """The first rows: the name of a setting, the loss of each run, and what a dot says of it. The line is the mean."""
    shown, figure = rows[:MOST], go.Figure()
    dots = [(loss, row, said) for row, (_, losses, says) in enumerate(shown) for loss, said in zip(losses, says, strict=True)]
    at, places, texts = zip(*dots, strict=True)
    figure.add_scatter(
        x=at, y=places, text=texts, mode="markers", name="a run", marker={"size": 14, "opacity": 0.7},
        hovertemplate="%{text}: <b>%{x:.4f}</b><extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[fmean(losses) for _, losses, _ in shown], y=list(range(len(shown))), mode="markers", name="mean of a setting",
        marker={"symbol": "line-ns", "size": 34, "line": {"width": 3, "color": theme.HELD["light"]}},
        hovertemplate="mean: <b>%{x:.4f}</b><extra></extra>",
    )  # fmt: skip
    names = ["<br>".join(theme.even(theme.printable(each), LETTERS)) for each, *_ in shown]
    note = f"the {MOST} lowest of {len(rows)} settings" if len(rows) > MOST else ""
    figure.update_layout(
        title=theme.title("Held-out loss of each run", note), height=30 + 56 * len(shown), xaxis={"title": "held-out loss (nats)"},
        yaxis={"tickvals": list(range(len(shown))), "ticktext": names, "range": [len(shown) - 0.5, -0.5]}, showlegend=True,
    )  # fmt: skip
    return framed(figure)
