"""The empty frame of a picture, for the time before a question about it is answered."""

from __future__ import annotations

import re

import plotly.graph_objects as go

DIGIT, GREYED = re.compile(r"\d"), "rgba(128, 128, 128, 0.1)"  # of the frame in which nothing is drawn yet


def emptied(figure: go.Figure, title: str) -> go.Figure:
    """A picture without anything in it that was measured: as high as it, its axes with their names, no number and no name of a bar."""
    axes = {name: figure.layout[name] for name in figure.layout if name.startswith(("xaxis", "yaxis"))}
    pairs = {(trace.xaxis or "x", trace.yaxis or "y") for trace in figure.data if "xaxis" in trace} or {("x", "y")}
    hidden = [go.Scatter(x=[None], y=[None], xaxis=x, yaxis=y, showlegend=False, hoverinfo="skip") for x, y in sorted(pairs)]
    margin = {"l": 40, "r": 10, "t": figure.layout.margin.t or 64, "b": 60}
    bare = go.Figure(hidden).update_layout(title=title, height=figure.layout.height, margin=margin, plot_bgcolor=GREYED)
    for name, axis in axes.items():
        called = "" if DIGIT.search(axis.title.text or "") else axis.title.text
        bare.layout[name] = {
            "domain": axis.domain, "anchor": axis.anchor, "visible": axis.visible, "title": {"text": called},
            "showticklabels": False, "showgrid": False, "zeroline": False, "showline": True, "mirror": True, "range": [0, 1],
        }  # fmt: skip
    return bare.add_annotation(text="empty until you answer", x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
