"""A board that does not move: one head of one layer as SVG, for a saved notebook without a kernel, and for print."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import numpy as np

from explorer.records import Attention, Trace
from explorer.views import theme

MOST = 96  # rows and columns that can be told apart in print
CELL, LEFT, TOP = 20, 110, 130
NOTED = 560  # so wide is the line of text above the cells


def still(trace: Trace, view: dict[str, Any] | None = None) -> str:
    """The weights of one head, its tokens beside them: an SVG that needs nothing else and shows no number that was not traced."""
    attention, head = _chosen(trace, view or {})
    weights = np.nan_to_num(attention.weights[head][:MOST, :MOST])
    rows, columns = trace.axes(attention.stream)
    size = max(4, min(CELL, math.floor(640 / max(weights.shape))))
    cells = "".join(_cell(i, j, float(share), size) for (i, j), share in np.ndenumerate(weights))
    names = "".join(_row(theme.plain(text), i, size) for i, text in enumerate(rows.texts[: len(weights)]))
    names += "".join(_column(theme.plain(text), j, size) for j, text in enumerate(columns.texts[: weights.shape[1]]))
    longest = max(len(theme.plain(text)) for text in columns.texts[: weights.shape[1]])
    drop = max(0, 7 * longest - 70)  # a long name is higher than its place
    wide, high = max(NOTED, LEFT + size * weights.shape[1] + 60), TOP + drop + size * len(weights) + 36
    title = f"{theme.printable(trace.model)}: {attention.stream} layer {attention.layer}, head {head}"
    note = "The weights (softmax). Run the cell, or open the saved page, for all other stations."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img" '
        f'aria-label="{escape(title)}" font-family="{escape(theme.FONT)}" font-size="14" fill="{theme.INK["light"]}">'
        f'<rect width="100%" height="100%" fill="{theme.PAPER["light"]}"/>'
        f'<text x="10" y="24" font-size="18" font-weight="700">{title}</text>'
        f'<text x="10" y="44">{note}</text><g transform="translate(0 {drop})">{cells}{names}</g></svg>'
    )


def _chosen(trace: Trace, view: dict[str, Any]) -> tuple[Attention, int]:
    """The attention and the head that a view names, otherwise the first."""
    wanted = (view.get("stream"), view.get("layer"))
    attention = next((a for a in trace.attention if (a.stream, a.layer) == wanted), trace.attention[0])
    return attention, min(int(view.get("head") or 0), attention.heads - 1)


def _cell(i: int, j: int, share: float, size: int) -> str:
    if share < 1e-3:
        return ""
    tone = theme.SEQUENTIAL["light"]
    place = min(0.9999, math.sqrt(min(1.0, share))) * (len(tone) - 1)
    low, rest = int(place), place - int(place)
    ends = [[int(tone[n][at : at + 2], 16) for at in (1, 3, 5)] for n in (low, low + 1)]
    colour = "#" + "".join(f"{round(a + (b - a) * rest):02x}" for a, b in zip(*ends, strict=True))
    return f'<rect x="{LEFT + j * size}" y="{TOP + i * size}" width="{size}" height="{size}" fill="{colour}"/>'


def _row(text: str, i: int, size: int) -> str:
    y = TOP + (i + 0.5) * size + 4
    return f'<text x="{LEFT - 8}" y="{y:g}" text-anchor="end" font-size="{min(14, size)}">{escape(text)}</text>'


def _column(text: str, j: int, size: int) -> str:
    x = LEFT + (j + 0.5) * size + 4
    return f'<text transform="translate({x:g} {TOP - 6}) rotate(-60)" font-size="{min(14, size)}">{escape(text)}</text>'
