"""The room around a drawing, in one place: margins, legend and colour bars, from what a figure holds.

A view says how high its drawing is (`layout.height`), what its axes are called and which names they have. From their lengths
`framed` computes the margins, and puts the legend and the colour bars below the names. Lengths are those on a telephone, where a
legend takes most lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any

import plotly.graph_objects as go

from explorer.views import theme

TELEPHONE = 360  # pixels of a picture between its sides on the narrowest screen
LETTER, LINE = 0.54, 1.3  # of its size: how wide a letter is, how high a line
SIZE, SMALLEST = 15, 13  # of letters that say no other, and of those that have little room
TITLE, NOTE, PANEL = 40, 24, 24  # pixels of a title, of each line below it, and of the title of a panel
TICK, AXIS_TITLE, BAR = 10, 30, 56  # of a tick, the title of an axis, and a colour bar
SYMBOL, ENTRY, ROWS = 52, 23, 4  # of a legend: how wide a symbol is, how high a line, and for how many lines there is room
WIDE, TALL = 115, 20  # for a room: letters of a note, lines of type below each other
ROOM, HIGH, DRAWN, ROW = 800, 620, 300, 26  # pixels there: between the sides, of a figure, its drawing, a row of boxes
CELL = 12  # pixels of a cell of several pictures side by side
STRETCH = 0.75  # of its width: how high a square cell is there, since a screen is wider than high
GAP, SIDE, SLANTED = 6, 10, 36  # below a title, at the sides, and where the last name of an axis leans out


def framed(figure: go.Figure) -> go.Figure:
    """The same figure, whose height was that of its drawing, with room for its title, its names, its legend and its colour bars.

    >>> bars = go.Figure(go.Bar(y=[1, 2])).update_layout(title="Two bars<br>a note", xaxis_title="bar", height=200)
    >>> (framed(bars).layout.margin.t, bars.layout.height > 300)
    (70, True)
    """
    least = figure.layout.margin
    top = max(_above(figure), least.t or 0)
    bottom = max(_below(figure, TELEPHONE), least.b or 0)
    figure.update_layout(margin={"l": SIDE, "r": _right(figure)})
    return resized(figure, (figure.layout.height or 300) + top + bottom, top, bottom)


def resized(figure: go.Figure, height: float, top: int, bottom: int, wide: int = TELEPHONE) -> go.Figure:
    """The same figure in another height, with these margins above and below; its legend is below its names, a colour bar at its foot."""
    figure.update_layout(height=int(height), margin={"t": top, "b": bottom})
    if rows := _entries(figure, wide):  # plotly makes the drawing lower where a legend has more lines than there is room for
        drawing = max(1, height - top - bottom - ENTRY * max(0, rows - ROWS))
        figure.update_layout(
            legend={
                "x": 0,
                "y": max(-2, -(_names(figure, top=False, wide=wide) + (4 if wide == TELEPHONE else 12)) / drawing),
                "yanchor": "top",
            }
        )
    for name in _scales(figure):
        figure.update_layout({name: {"colorbar": {"yref": "container", "yanchor": "bottom", "y": 4 / height, "ypad": 8}}})
    return figure


def untitled(figure: go.Figure) -> go.Figure:
    """A figure without its title, its drawing as high as before: a page writes the title above it, in lines as long as there is room.

    >>> bars = framed(go.Figure(go.Bar(y=[1, 2])).update_layout(title="Two bars<br>a note", height=200))
    >>> bare = untitled(bars)
    >>> (bare.layout.title.text, bare.layout.margin.t, bars.layout.height - bare.layout.height)
    (None, 6, 64)
    """
    bare, top = go.Figure(figure), figure.layout.margin.t or 0
    bare.update_layout(title={"text": None})
    spared = min(top, _above(figure) - _above(bare))
    return resized(bare, (figure.layout.height or 450) - spared, top - spared, figure.layout.margin.b or 0)


def widened(figure: go.Figure) -> go.Figure:
    """The same figure for a room: each note of its title in as few lines as fit there, and no higher than type for the last row allows.

    Cells have as many lines as there is room for in large type.

    >>> note = "<br><span style='font-size:14px'>a note<br>that was broken</span>"
    >>> bars = widened(framed(go.Figure(go.Bar(y=[1, 2])).update_layout(title=f"Two bars{note}{note}", height=800)))
    >>> (bars.layout.title.text.count("<br>"), bars.layout.margin.t, bars.layout.height)
    (1, 70, 620)
    """
    for heat in figure.select_traces({"type": "heatmap"}):
        if heat.text is not None and heat.texttemplate == "%{text}":
            lines = max(1, TALL // len(heat.text))
            heat.text = [["<br>".join(str(cell).split("<br>")[:lines]) for cell in row] for row in heat.text]
    text, margin, named = figure.layout.title.text or "", figure.layout.margin, _below(figure, TELEPHONE)
    title, *notes = text.split("<br><span", 1)
    if notes:
        every = " · ".join(note.replace("<br>", " ") for note in re.findall("(?<='>).*?(?=</span>)", notes[0]))
        figure.update_layout(
            title_text=f"{title}<br><span style='font-size:{SIZE}px'>{'<br>'.join(theme.even(every, WIDE))}</span>"
        )
    spared = NOTE * (text.count("<br>") - (figure.layout.title.text or "").count("<br>"))
    for scale in _scales(figure):
        figure.layout[scale].colorbar.tickfont.size = SIZE
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        axis.tickfont.size = max(axis.tickfont.size or SIZE, SIZE)
    _stretched(figure)
    figure.update_layout(title_pad_t=6)
    top, bottom = (
        max(_above(figure), (margin.t or 0) - spared),
        max(0, (margin.b or 0) - named + _below(figure, ROOM)),
    )
    least = DRAWN
    for boxes in figure.select_traces({"type": "bar", "name": theme.BOXES}):
        boxes.constraintext = "none"  # plotly writes smaller what is higher than a box with room around it
        least = max(least, ROW * len(figure.layout.yaxis.tickvals or ()))
    high = min(figure.layout.height or 450, max(HIGH, top + bottom + least))
    for axis in figure.select_yaxes():
        _spaced(axis, high - top - bottom)
    return resized(figure, high, top, bottom, ROOM)


def _stretched(figure: go.Figure) -> None:
    """Make the square cells of a heat map wider than high."""
    if any(figure.select_traces({"type": "heatmap"})):
        figure.update_yaxes(scaleratio=STRETCH, selector=lambda axis: axis.scaleanchor is not None)


def _spaced(axis: Any, high: float) -> None:
    """Write every name of an axis of this length, in smaller type where they have no room one below the other; else as many as have it."""
    begin, end = axis.domain or (0, 1)
    names, room = axis.ticktext or (), high * (end - begin) / LINE
    many = sum(map(bool, names))
    if axis.showticklabels is False or many <= max(1, int(room / SIZE)):
        return
    if room >= many * SMALLEST:
        axis.tickfont.size = int(room / many)
    else:
        step = math.ceil(len(names) / max(1, int(room / SIZE)))
        axis.update(ticktext=names[::step], tickvals=axis.tickvals[::step])


def breadths(figures: Sequence[go.Figure]) -> list[float]:
    """How wide pictures that stand side by side are beside each other, so that the cells of all are of one size; else alike.

    >>> heats = [go.Figure(go.Heatmap(z=[[0] * cells])).update_layout(yaxis_ticktext=["a"], margin_r=10) for cells in (10, 20)]
    >>> wide = breadths(heats)
    >>> (round(wide[1] - wide[0]) == 10 * CELL, breadths([*heats, go.Figure(go.Bar(y=[1]))]))
    (True, [1, 1, 1])
    """
    cells = [[len(heat.z[0]) for heat in figure.select_traces({"type": "heatmap"})] for figure in figures]
    if not all(cells):
        return [1] * len(figures)
    return [_left(one) + (one.layout.margin.r or 0) + CELL * row[0] for one, row in zip(figures, cells, strict=True)]


def _right(figure: go.Figure) -> int:
    """The pixels right of the drawing: more where the last name leans out, or half of it reaches out."""
    angles = [axis.tickangle for top in (True, False) for _, axis in _edge(figure, top=top)]
    if any((axis.tickangle or 0) % 90 for _, axis in _edge(figure, top=True)):
        return SLANTED
    return SIDE if any(angles) else 2 * SIDE


def _above(figure: go.Figure) -> int:
    """The pixels above the drawing: the title and its notes, the titles of the upper panels, and names at the top."""
    text = figure.layout.title.text
    panels = [
        len(note.text.split("<br>")) for note in figure.layout.annotations if note.yref == "paper" and (note.y or 0) > 0.99
    ]
    names = _names(figure, top=True)
    title = TITLE + NOTE * text.count("<br>") if text else 0
    return title + (max(panels, default=0) * PANEL or (4 if names else GAP)) + names


def _below(figure: go.Figure, wide: int) -> int:
    """The pixels below the drawing: names, legend and colour bar, in a figure that is this wide between its sides."""
    return _names(figure, top=False, wide=wide) + min(_entries(figure, wide), ROWS) * ENTRY + BAR * bool(_scales(figure)) + SIDE


def _names(figure: go.Figure, *, top: bool, wide: int = TELEPHONE) -> int:
    """The pixels of the names, and of the titles, of the x axes at the upper or the lower edge."""
    return round(max((_depth(figure, name, axis, wide) for name, axis in _edge(figure, top=top)), default=0))


def _edge(figure: go.Figure, *, top: bool) -> Iterator[tuple[str, Any]]:
    """The x axes at the upper or the lower edge of the figure."""
    for name in (name for name in figure.layout if name.startswith("xaxis")):
        axis = figure.layout[name]
        crossed = figure.layout[(axis.anchor if axis.anchor not in (None, "free") else "y").replace("y", "yaxis", 1)]
        begin, end = crossed.domain or (0, 1)
        if axis.visible is not False and (axis.side == "top") == top and (end > 0.99 if top else begin < 0.01):
            yield name, axis


def _depth(figure: go.Figure, name: str, axis: Any, wide: int) -> float:
    """How far an axis's names and its title reach out of the drawing."""
    title = AXIS_TITLE if axis.title.text else 0
    if axis.showticklabels is False:
        return title
    size = axis.tickfont.size or SIZE
    names = _texts(figure, name, axis)
    lines = max((text.count("<br>") + 1 for text in names), default=1) * LINE * size
    longest, angle = max((width(text, size) for text in names), default=0.0), axis.tickangle
    begin, end = axis.domain or (0, 1)
    if angle is None and axis.side != "top":  # plotly turns names that have no room beside each other
        room = (wide - _left(figure)) * (end - begin) / max(1, len(names))
        angle = 0 if longest + size / 2 < room else 30 if room / 2 > LINE * size else 90
    turned = math.radians(abs(angle or 0))
    return longest * math.sin(turned) + lines * math.cos(turned) + TICK + title


def _texts(figure: go.Figure, name: str, axis: Any) -> Sequence[str]:
    """The names of an axis: given ones, or the categories of what is drawn on it."""
    if axis.ticktext is not None:
        return list(axis.ticktext)
    way, which = name[0], name.replace("axis", "")
    places = [trace[way] for trace in figure.data if f"{way}axis" in trace and (trace[f"{way}axis"] or way) == which]
    return list(dict.fromkeys(text for values in places if values is not None for text in values if isinstance(text, str)))


def width(text: str, size: float) -> float:
    """About how many pixels a text is wide, without its markup: its longest line."""
    return LETTER * size * max(len(unescape(re.sub(r"<[^>]*>", "", line))) for line in text.split("<br>"))


def _entries(figure: go.Figure, wide: int) -> int:
    """The lines of the legend in this width: its entries in columns, each as wide as the longest."""
    able = [trace for trace in figure.data if trace.type in ("bar", "scatter", "scatter3d")]
    widths = [SYMBOL + width(trace.name or "trace 0", SIZE) for trace in able if trace.showlegend is not False]
    shown = figure.layout.showlegend
    if shown is False or not widths or not (shown or len(able) > 1 or able[0].showlegend):
        return 0
    room = wide - _left(figure)
    return 1 if sum(widths) <= room else math.ceil(len(widths) / max(1, room // max(widths)))


def _left(figure: go.Figure) -> float:
    """The pixels of the names and the title at the left of the drawing."""
    axis = figure.layout.yaxis
    if axis.visible is False:
        return 0
    names = [] if axis.showticklabels is False else _texts(figure, "yaxis", axis)
    return max((width(text, axis.tickfont.size or SIZE) for text in names), default=3 * SIZE) + (
        AXIS_TITLE if axis.title.text else 0
    )


def _scales(figure: go.Figure) -> list[str]:
    """The colour axes whose bars are drawn."""
    used = {
        trace.coloraxis for trace in figure.data if "coloraxis" in trace and trace.coloraxis and trace.showscale is not False
    }
    return [name for name in sorted(used) if figure.layout[name].showscale is not False]
