"""One look for every picture: large type, colours that colour-blind readers can tell apart, light and dark.

A figure holds no colours: they come from its template, so the app or a notebook changes from light to dark by changing
`layout.template`. `coloraxis` is the scale for values from 0 upwards, `coloraxis2` the one for signed values, with zero in the
middle, and `coloraxis3` the one for attention weights: always from 0 to 1, so that heads, layers and steps can be compared.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape, unescape
from textwrap import wrap

import numpy as np
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from explorer.records import Tokens

# Light to dark blue, and blue against orange around a neutral zero: both safe for every kind of colour blindness.
SEQUENTIAL = {
    "light": ("#ffffff", "#dbe9f6", "#9fc6e3", "#5296c8", "#1f66a8", "#08306b"),
    "dark": ("#1a2230", "#12345a", "#175a91", "#2f86bf", "#77bde6", "#e3f4ff"),
}
DIVERGING = {
    "light": ("#8c3a00", "#e08a3c", "#fbe3cc", "#ffffff", "#cfe0f2", "#4a8ac4", "#08407e"),
    "dark": ("#ffc48a", "#d9782a", "#5c3413", "#11151c", "#123a63", "#3f8ccb", "#a8dbff"),
}
INK = {"light": "#1a1f27", "dark": "#e8ecf2"}
PAPER = {"light": "#ffffff", "dark": "#11151c"}
HELD = {"light": "#b0488a", "dark": "#ef9fcb"}  # what a visitor holds or has guessed, as the board frames it
NOWHERE = {"light": "#d7d9dd", "dark": "#3a3f48"}
LINES = {
    "light": ("#1f66a8", "#d55e00", "#00795a", "#b0488a", "#8a6100", "#4b4b9f", "#5b5b5b", "#2f8fbf"),
    "dark": ("#77bde6", "#ff9d5c", "#4fd1a5", "#ef9fcb", "#f0d060", "#b3b3ff", "#c4c8d0", "#a5e0ff"),
}
NOTE, NARROW = 50, 36  # letters of a line of notes: what fits on a telephone, and above one of several pictures
MODES = ("light", "dark")
FONT = "Source Sans, Source Sans Pro, Segoe UI, Helvetica, Arial, sans-serif"
DEPTH = "after so many layers (0: the input)"  # of the states: layer 0 is the first layer, which reads the input
UNSEEN = "†"
MOST = 160  # rows or columns whose cells can still be told apart on a screen
NAMED = 48  # names that fit beside them in a legible size
OUTLINE = "#444"  # around boxes, light or dark
BOXES = "pieces"  # the name of bars whose customdata are their positions on the signed colour scale, from −1 to 1
BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def look(figure: go.Figure, mode: str) -> go.layout.Template:
    """The look of this figure in one mode. A heat map has a grey background, so that masked cells show; beside bars only one with
    gaps.

    A trace takes the colour whose number is its `meta`, so that lines which belong together have the same colour. Boxes are given
    their colours here, by name: as numbers on a scale, plotly warns of every one of them at every drawing, which takes longer than
    the drawing itself.
    """
    cells, bars = ([trace for trace in figure.data if trace.type == kind] for kind in ("heatmap", "bar"))
    look_template = template(
        mode, gaps=bool(cells) and (not bars or any(np.isnan(np.asarray(trace.z, float)).any() for trace in cells))
    )
    numbers = [n if trace.meta is None else int(trace.meta) for n, trace in enumerate(figure.data)]
    look_template.layout.colorway = [LINES[mode][number % len(LINES[mode])] for number in numbers] or LINES[mode]
    if any(bar.name == BOXES for bar in bars):
        look_template.data.bar = [
            {"marker": {"color": signed_colours(bar.customdata, mode), "line": {"color": _outlines(bar, mode)}}}
            if bar.name == BOXES
            else {}
            for bar in bars
        ]
    return look_template


def _outlines(bar: go.Bar, mode: str) -> list[str]:
    """The lines around boxes: a thick one in ink."""
    return [INK[mode] if width > 1 else OUTLINE for width in np.broadcast_to(bar.marker.line.width or 1, len(bar.customdata))]


def signed_colours(tones: Sequence[float], mode: str) -> list[str]:
    """The colours at these positions of the signed scale."""
    return sample_colorscale(_scale(DIVERGING[mode]), [(1 + min(1.0, max(-1.0, float(tone)))) / 2 for tone in tones])


def sequential_colours(shares: Iterable[float], mode: str) -> list[str]:
    """The colours at these positions of the scale from 0 to 1."""
    return sample_colorscale(_scale(SEQUENTIAL[mode]), [float(share) for share in shares])


def template(mode: str, gaps: bool = True) -> go.layout.Template:
    """The look in one mode, as a plotly template."""
    ink, paper = INK[mode], PAPER[mode]
    axis = {
        "color": ink,
        "gridcolor": NOWHERE[mode],
        "linecolor": NOWHERE[mode],
        "zeroline": False,
        "zerolinecolor": ink,
        "automargin": True,
        "fixedrange": True,
        "tickfont": {"size": 15},
        "title": {"font": {"size": 15}},
    }
    bar = {
        "orientation": "h", "thickness": 12, "len": 0.6, "x": 0.5, "y": 0, "yanchor": "top", "ypad": 12,
        "tickfont": {"size": 13}, "outlinewidth": 0,
    }  # fmt: skip
    return go.layout.Template(
        layout={
            "font": {"family": FONT, "size": 15, "color": ink},
            "paper_bgcolor": paper,
            "dragmode": False,  # a finger that moves over a picture scrolls the page
            "plot_bgcolor": NOWHERE[mode] if gaps else paper,
            "legend": {"font": {"size": 15}, "orientation": "h", "x": 0, "y": -0.3, "yanchor": "top"},
            "title": {"font": {"size": 18}, "x": 0.01, "y": 0.985, "yref": "container", "pad": {"t": 14}, "yanchor": "top"},
            "xaxis": axis,
            "yaxis": axis,
            "shapedefaults": {"line": {"color": ink}},
            "scene": {f"{way}axis": _in_space(mode) for way in "xyz"},
            "coloraxis": {"colorscale": _scale(SEQUENTIAL[mode]), "colorbar": bar},
            "coloraxis2": {"colorscale": _scale(DIVERGING[mode]), "colorbar": bar},
            # Attention weights are small: by their roots.
            "coloraxis3": {"colorscale": _scale(SEQUENTIAL[mode], power=2), "colorbar": bar},
            "hoverlabel": {"font": {"size": 15, "family": FONT, "color": paper}, "bgcolor": ink, "bordercolor": ink},
            "barcornerradius": 3,
        }
    )


def _in_space(mode: str) -> dict[str, object]:
    """An axis of a picture with three dimensions."""
    lines = {"gridcolor": NOWHERE[mode], "linecolor": NOWHERE[mode], "zerolinecolor": NOWHERE[mode]}
    return {"color": INK[mode], "showbackground": False, "showspikes": False, "showticklabels": False, **lines}


def labels(tokens: Tokens) -> list[str]:
    """The tokens as axis labels: escaped, shortened, and marked where the model never saw them in training."""
    unseen = tokens.unseen or (False,) * len(tokens)
    return [label(text) + (f"<i>{UNSEEN}</i>" if strange else "") for text, strange in zip(tokens.texts, unseen, strict=True)]


def plain(text: str) -> str:
    """One token without line breaks or invisible letters, and short enough for an axis."""
    shown = visible(text) or "∅"
    return shown if len(shown) <= 16 else shown[:15] + "…"


def visible(text: str) -> str:
    """A text with a sign for every line break and invisible letter."""
    return "".join(c if c.isprintable() else "␣" if c.isspace() else "�" for c in text)


def printable(text: str) -> str:
    """A longer text, safe to print in a figure: all markup escaped."""
    return escape(visible(text), quote=False)


def label(text: str) -> str:
    """One token, safe to print in a figure: all markup escaped."""
    return escape(plain(text), quote=False)


def token_axis(tokens: Tokens) -> dict[str, object]:
    """An axis with one position for each token; repeated tokens stay separate because positions, not names, are drawn. Its
    `uirevision` says whose names it has, so that a page can find the axes of its sentence.
    """
    names = labels(tokens)
    size = {"tickfont": {"size": 15 if len(tokens) <= 26 else 12}, "ticklabeloverflow": "allow"}
    return {**named_axis(names), **size, "uirevision": mark_of(names)}


def mark_of(names: Sequence[str]) -> str:
    """What marks the axes that have these names, or some of them."""
    return f"tokens {zlib.crc32(chr(0).join(names).encode('utf-8', 'replace')):08x}"


def named_axis(names: Sequence[str], *, down: bool = False, **more: object) -> dict[str, object]:
    """An axis with one position for each name, from left to right or upwards; `down` from the top."""
    low, high = -0.5, len(names) - 0.5
    places = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": list(names)}
    return {**places, "range": [high, low] if down else [low, high], "showgrid": False, **more}


def lanes(names: Sequence[str], **more: object) -> dict[str, dict[str, object]]:
    """The axes of shares as bars, a row for each name, from the top. Each bar has its number beside it, so they need no scale."""
    return {"xaxis": {"range": [0, 1.15], "visible": False}, "yaxis": named_axis(names, down=True, **more)}


def below(number: int) -> str:
    """A number as an index, in signs as large as other text: plotly's own indices are two thirds of it, too small for the last row."""
    return str(number).translate(BELOW)


def ticked(names: Sequence[str], right: Sequence[bool]) -> list[str]:
    """The names, with a tick behind the right one."""
    return [f"{name} ✓" if ok else name for name, ok in zip(names, right, strict=True)]


def token_axes(rows: Tokens, columns: Tokens) -> dict[str, dict[str, object]]:
    """Both axes of a matrix of tokens: rows from the top, the slanted names of the columns above it."""
    return {"xaxis": {**token_axis(columns), "side": "top", "tickangle": -60}, "yaxis": downwards(rows)}


def downwards(tokens: Tokens) -> dict[str, object]:
    """An axis with one row for each token, from the top."""
    return {**token_axis(tokens), "range": [len(tokens) - 0.5, -0.5]}


def log_axis(way: str) -> dict[str, object]:
    """An axis by powers of ten ("log"), with 2 and 5 between them, or an even one. Plotly writes 2 and 5 in three quarters of the size."""
    return {"type": "log", "dtick": "D2", "tickfont": {"size": 16}} if way == "log" else {"type": "linear"}


def gaps(cells: np.ndarray) -> dict[str, int]:
    """A line between cells that are large enough for one. Without it the browser paints a picture, not a quarter of a million boxes."""
    gap = 1 if max(cells.shape) <= MOST else 0
    return {"xgap": gap, "ygap": gap}


def thinned(figure: go.Figure, named: int = NAMED, ways: str = "xy") -> go.Figure:
    """The same figure with room between the names of its axes. Where there are too many, every second, third … is written; pointing at
    a cell still says its own, since the axis behind keeps them all. `named` fit along the whole figure, along a panel so much fewer.
    """
    for way in ways:
        for name in [key for key in figure.layout if key.startswith(f"{way}axis")]:
            axis = figure.layout[name]
            begin, end = axis.domain or (0, 1)
            few = max(1, int(named * (end - begin) + 0.5))
            if axis.showticklabels is not False and len(axis.ticktext or ()) > few:
                _overlaid(figure, name, few)
    return figure


def _overlaid(figure: go.Figure, name: str, few: int) -> None:
    """Write few of the names of an axis, on another one that lies over it."""
    axis = figure.layout[name].to_plotly_json()
    written = [(place, text) for place, text in zip(axis["tickvals"], axis["ticktext"], strict=True) if text]
    places, texts = zip(*written[:: math.ceil(len(written) / few)], strict=True)
    written_over(figure, name, places, texts)


def written_over(figure: go.Figure, name: str, places: Sequence[int], texts: Sequence[str]) -> None:
    """Write these names at an axis, on another one that lies over it, which keeps its own."""
    layout, way, own = figure.layout, name[0], name.replace("axis", "")
    axis, names = layout[name].to_plotly_json(), {"tickvals": places, "ticktext": texts, "tickfont": {"size": 12}}
    number = 1 + sum(key.startswith(f"{way}axis") for key in layout)
    axis.pop("scaleanchor", None)  # it follows the one below it
    layout[f"{way}axis{number}"] = {**axis, **names, "overlaying": own, "matches": own}
    layout[name].update(showticklabels=False, automargin=False, ticks="", title={"text": None})
    crossed = {"x": "y", "y": "x"}[way]
    axes = {f"{way}axis": f"{way}{number}", f"{crossed}axis": axis.get("anchor") or crossed}
    figure.add_scatter(x=[None], y=[None], mode="markers", showlegend=False, hoverinfo="skip", **axes)


def title(first: str, *notes: str) -> dict[str, object]:
    """A title, with smaller lines below it for the notes that are not empty."""
    return {
        "text": first + "".join(f"<br><span style='font-size:14px'>{'<br>'.join(even(note))}</span>" for note in notes if note)
    }


def measured(*facts: str) -> dict[str, object]:
    """How the numbers of a picture were measured, for its layout: what its title need not say, with the numbers and in files."""
    return {"meta": [fact for fact in facts if fact]}


def facts_of(figure: go.Figure) -> list[str]:
    """How the numbers of a picture were measured.

    >>> facts_of(go.Figure().update_layout(**measured("3 seeds", "", "100 texts"))), facts_of(go.Figure())
    (['3 seeds', '100 texts'], [])
    """
    return [unescape(str(fact)) for fact in figure.layout.meta or ()]


def lines(notes: Iterable[str]) -> list[str]:
    """Notes in lines that fit on a telephone."""
    return [line for note in notes for line in even(note)]


@lru_cache(maxsize=4096)
def even(note: str, most: int = NOTE) -> list[str]:
    """A note in as few lines as it needs, of like length: no word stands alone in the last one.

    >>> even("the nearest other use has the same sense for 39 of 40")
    ['the nearest other use has', 'the same sense for 39 of 40']
    """
    wrapped = [wrap(note, width, break_long_words=False, break_on_hyphens=False) for width in range(most, most // 2, -1)]
    return next(wrapped[n] for n in range(len(wrapped) - 1, -1, -1) if len(wrapped[n]) == len(wrapped[0]))


def colours(values: np.ndarray, signed: bool) -> dict[str, object]:
    """The colour axis for these values: signed ones around a fixed zero, others from 0 to the largest."""
    finite = values[np.isfinite(values)]
    top = float(np.abs(finite).max()) if finite.size and np.abs(finite).max() > 0 else 1.0
    return {"coloraxis2": {"cmin": -top, "cmax": top, "cmid": 0}} if signed else {"coloraxis": {"cmin": 0, "cmax": top}}


def colours_of_weights() -> dict[str, object]:
    """The colour axis of attention weights: the same in every picture, by their square roots."""
    return {"coloraxis3": {"cmin": 0, "cmax": 1, "colorbar": {"tickvals": [0, 0.25, 1], "tickangle": 0}}}


def percent(share: float) -> str:
    """A probability as it is written in every picture, beside a bar and where a pointer reads it.

    >>> percent(0.2359), percent(0.0004), percent(0.0)
    ('23.6%', '< 0.1%', '0.0%')
    """
    return "< 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def unseen_note(tokens: Tokens) -> str:
    """A sentence about tokens that the model never saw in training; empty where there are none or it is unknown."""
    if tokens.unseen is None or not any(tokens.unseen):
        return ""
    count, text = sum(tokens.unseen), len(tokens) - sum(tokens.special)
    return f"{UNSEEN} never seen in training: {count} of {text} tokens ({tokens.unseen_share:.0%}), so their vectors are noise"


def _scale(colours: tuple[str, ...], power: int = 1) -> list[list[object]]:
    return [[(i / (len(colours) - 1)) ** power, colour] for i, colour in enumerate(colours)]
