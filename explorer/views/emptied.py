"""The empty axes of a picture, for the time before a question about it is answered: the guess is made in them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import plotly.graph_objects as go

from explorer.views.guessed import spots

DIGIT, PLACE = re.compile(r"\d"), "rgba(128, 128, 128, 0.7)"  # of the frame around the place of an option


def emptied(figure: go.Figure, title: str, options: Sequence[str] = ()) -> go.Figure:
    """A picture without anything that was measured: as high as it, its axes with their names, no number and no name of a bar.

    Where options stand along an axis, all of them do here, in the order of the question, each with a place to click.
    """
    axes = {name: figure.layout[name] for name in figure.layout if name.startswith(("xaxis", "yaxis"))}
    pairs = {(trace.xaxis or "x", trace.yaxis or "y") for trace in figure.data if "xaxis" in trace} or {("x", "y")}
    hidden = [go.Scatter(x=[None], y=[None], xaxis=x, yaxis=y, showlegend=False, hoverinfo="skip") for x, y in sorted(pairs)]
    margin = {"l": 40, "r": 10, "t": figure.layout.margin.t or 64, "b": 60}
    lines = (figure.layout.title.text or "").count("<br>")  # of notes, which may say the answer
    bare = go.Figure(hidden).update_layout(
        title=title + "<br><span>&nbsp;</span>" * lines, height=figure.layout.height, margin=margin
    )
    for name, axis in axes.items():
        called = "" if DIGIT.search(axis.title.text or "") else axis.title.text
        bare.layout[name] = {
            "domain": axis.domain, "anchor": axis.anchor, "visible": axis.visible, "title": {"text": called},
            "showticklabels": False, "showgrid": False, "zeroline": False, "showline": True, "mirror": True, "range": [0, 1],
        }  # fmt: skip
    along = next((spot.axis for spot in spots(figure, options).values() if spot.axis), "")
    if along:
        return _with_places(bare, along, options)
    return bare.add_annotation(text="empty until you answer", x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)


def _with_places(bare: go.Figure, along: str, options: Sequence[str]) -> go.Figure:
    """The empty axes with a place for each option along one of them, all alike."""
    way, number, places = along[0], along[5:], list(range(len(options)))
    other = "x" if way == "y" else "y"
    ends = [-0.5, len(options) - 0.5]
    bare.layout[along].update(tickvals=places, ticktext=list(options), range=ends[::-1] if way == "y" else ends)
    across = bare.layout[along].anchor or other + number
    marker = {"color": "rgba(0, 0, 0, 0)", "line": {"color": PLACE, "width": 1}}
    bare.add_bar(
        **{way: places, other: [1] * len(options), f"{way}axis": way + number, f"{other}axis": across}, width=0.7,
        orientation="h" if way == "y" else "v", marker=marker, hoverinfo="none", showlegend=False, text=list(options),
        textposition="inside", insidetextanchor="start" if way == "y" else "end", textangle=0 if way == "y" else -90,
        selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 1}},
    )  # fmt: skip
    return bare.add_annotation(
        text="click your guess", x=1, y=0, xref="paper", yref="paper", xanchor="right", yanchor="top", showarrow=False
    )
