"""The options of a question that stand in a picture, as names on an axis or as lines: which one was clicked, and marks at two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import plotly.graph_objects as go

from explorer.views import theme

TAG, EXTRA = re.compile(r"<[^>]*>"), re.compile(r"[✓·†\s]+")  # what a picture writes around a name
YOURS, RIGHT, BOTH = "your guess", "✓ the answer", "✓ your guess"


@dataclass(frozen=True)
class Spot:
    """Where an option stands: a name on an axis, by the axis and its value there, or a line, by its number (its axis is empty then)."""

    axis: str
    value: int


def spots(figure: go.Figure, options: Sequence[str]) -> dict[str, Spot]:
    """Those options that stand in a picture, and where; none, where not at least two do."""
    wanted, there = {_bare(option): option for option in options}, dict[str, Spot]()
    for text, spot in _named(figure):
        for name in (_bare(text), _bare(text.partition("<br>")[0])):
            if name in wanted:
                there.setdefault(wanted[name], spot)
    return there if len(there) > 1 else {}


def _bare(text: str) -> str:
    """A name without tags, marks and spaces."""
    return EXTRA.sub("", TAG.sub("", text))


def _named(figure: go.Figure) -> Iterator[tuple[str, Spot]]:
    """The names in a picture: of its axes' ticks, of its categories, and of its lines."""
    for name in figure.layout:
        if name.startswith(("xaxis", "yaxis")) and figure.layout[name].ticktext:
            ticks = zip(figure.layout[name].tickvals, figure.layout[name].ticktext, strict=False)
            yield from ((str(text), Spot(name, int(value))) for value, text in ticks)
    for number, trace in enumerate(figure.data):
        for way in "xy":
            values: Any = trace[way] if way in trace and trace[way] is not None else ()
            if len(values) and isinstance(values[0], str):
                axis = f"{way}axis" + (trace[f"{way}axis"] or way)[1:]
                yield from ((text, Spot(axis, n)) for n, text in enumerate(values))
        yield str(trace.name), Spot("", number)


def clicked(figure: go.Figure, options: Sequence[str], point: Mapping[str, Any]) -> str | None:
    """The option at the point of a picture that was clicked."""
    for option, spot in spots(figure, options).items():
        at = point.get("curve_number") if not spot.axis else point.get(spot.axis[0])
        if at == spot.value or (isinstance(at, str) and _bare(option) in (_bare(at), _bare(at.partition("<br>")[0]))):
            return option
    return None


def marked(figure: go.Figure, guess: Spot | None, answer: Spot | None, mode: str, right: str = RIGHT) -> go.Figure:
    """A copy of a picture in which the guess and the answer are marked, where they stand in it: the guess first, the answer last."""
    figure = go.Figure(figure)
    if guess is not None:
        _mark(figure, guess, BOTH if guess == answer else YOURS, theme.HELD[mode], mode)
    if answer is not None and answer != guess:
        _mark(figure, answer, right, theme.INK[mode], mode)
    return figure


def _mark(figure: go.Figure, spot: Spot, words: str, colour: str, mode: str) -> None:
    """A frame along an axis with a few words in it, or a flag at the end of a line."""
    note: dict[str, Any] = {"text": f"<b>{words}</b>", "font": {"color": colour, "size": 13}, "bgcolor": theme.PAPER[mode]}
    if not spot.axis:
        flag = {"arrowcolor": colour, "arrowwidth": 2, "ax": -48, "ay": -28, "bordercolor": colour}
        figure.add_annotation(note | flag | _end(figure.data[spot.value]))
        return
    way, number = spot.axis[0], spot.axis[5:]
    other = "y" if way == "x" else "x"
    across = f"{(figure.layout[spot.axis].anchor or other + number)} domain"
    place: dict[str, Any] = {f"{way}ref": way + number, f"{other}ref": across}
    at, ends = float(spot.value), (spot.value - 0.5, spot.value + 0.5)
    if figure.layout[spot.axis].type == "log":  # there a frame has its value, and a note the logarithm of it
        at, ends = log10(spot.value), (spot.value / 1.2, spot.value * 1.2)
    sides = {f"{way}0": ends[0], f"{way}1": ends[1], f"{other}0": 0, f"{other}1": 1}
    line = {"color": colour, "width": 2, "dash": "dot" if words == YOURS else "solid"}
    figure.add_shape(type="rect", line=line, fillcolor="rgba(0,0,0,0)", **place, **sides)
    inside = way == "y" and _is_long(figure, at)  # a note at the right would cover what is written behind the bar
    anchors = {
        "xanchor": "left" if inside else "right" if way == "y" else "center",
        "yanchor": "middle" if way == "y" else "top",
    }
    figure.add_annotation(note | place | anchors | {way: at, other: 0 if inside else 1, "showarrow": False})


def _is_long(figure: go.Figure, row: float) -> bool:
    """Whether a bar to the right, in this row of a picture, is more than half as long as the longest."""
    bars = [trace for trace in figure.data if trace.type == "bar" and trace.orientation == "h"]
    ends = [(float(x), y) for trace in bars for x, y in zip(trace.x, trace.y, strict=True)]
    return any(y == row and x > max(ends)[0] / 2 for x, y in ends)


def _end(trace: Any) -> dict[str, Any]:
    """The last point of a line, as the place of a note."""
    last = next((n for n in reversed(range(len(trace.y))) if trace.y[n] is not None and trace.y[n] == trace.y[n]), 0)
    return {"x": trace.x[last], "y": trace.y[last], "xref": trace.xaxis or "x", "yref": trace.yaxis or "y"}
