"""A picture in a few plain words, for those who hear the page: its title, its notes, and the largest value that is drawn."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go

SIGNS = {"<b>": "\ue000", "</b>": "\ue001"}  # of no text
NO_SIGNS = dict.fromkeys(map(ord, SIGNS.values()))


def spoken(figure: go.Figure) -> str:
    """The title and the notes of a figure, and its largest value with its place, as one line of plain text.

    >>> bars = go.Figure(go.Bar(x=["a", "b"], y=[1, 3])).update_layout(title="Two <b>bars</b>", yaxis_title="share")
    >>> spoken(bars)
    'Two bars. Largest value: 3, at “b”.'
    """
    sentences = [*titled(figure), _largest(figure)]
    return " ".join(sentence if sentence[-1] in ".?!…" else f"{sentence}." for sentence in sentences if sentence)


def titled(figure: go.Figure) -> list[str]:
    """The title and its notes as plain text; a line that was only broken to fit goes on with the next."""
    return [_plain(part) for part in re.split("<br>(?=<span)", str(figure.layout.title.text or "Picture"))]


def written(figure: go.Figure) -> list[str]:
    """The same as HTML: what is bold stays bold, and no other tag is one.

    >>> written(go.Figure().update_layout(title="<b>BERT</b> &lt;i&gt; &amp; <i>GPT</i>"))
    ['<b>BERT</b> &lt;i&gt; &amp; GPT']
    """
    kept = go.Figure().update_layout(title=str(figure.layout.title.text or "Picture").translate(NO_SIGNS))
    for tag, sign in SIGNS.items():
        kept.layout.title.text = kept.layout.title.text.replace(tag, sign)
    parts = [escape(part) for part in titled(kept)]
    for tag, sign in SIGNS.items():
        parts = [part.replace(sign, tag) for part in parts]
    return parts


def _plain(text: str) -> str:
    """Without tags, entities and asterisks."""
    return " ".join(unescape(re.sub(r"<[^>]*>", "", text.replace("<br>", " "))).replace("*", "").split())


def _largest(figure: go.Figure) -> str:
    """The largest number that the picture measures, and where: of cells with a colour bar, or along an axis with a name."""
    largest = [pair for trace in figure.data if trace.opacity != 0 and (pair := _of(figure, trace)) is not None]
    if not largest:
        return ""
    value, place = max(largest, key=lambda pair: pair[0])
    return f"Largest value: {value:.3g}".replace("-", "−") + (f", at {place}" if place else "")


def _of(figure: go.Figure, trace: Any) -> tuple[float, str] | None:
    """The largest number of one trace, and its place."""
    if trace.type == "heatmap":
        return _of_cells(figure, trace) if _has_bar(figure, trace) else None
    if trace.type not in ("bar", "scatter") or trace.y is None:
        return None
    way = "x" if trace.orientation == "h" else "y"
    other = "y" if way == "x" else "x"
    if not _axis(figure, trace, way).title.text or trace[way] is None or isinstance(next(iter(trace[way]), None), str):
        return None
    if trace.type == "scatter" and "lines" not in (trace.mode or "lines"):  # points on a plane
        return None
    values = np.asarray(trace[way], np.float64)
    if not np.isfinite(values).any():
        return None
    at = int(np.nanargmax(values))
    along = range(len(values)) if trace[other] is None else trace[other]
    place = _name(_axis(figure, trace, other), along[at])
    named = f" of {_plain(trace.name)}" if trace.name and len(figure.data) > 1 else ""
    return float(values[at]), f"{place}{named}"


def _of_cells(figure: go.Figure, trace: Any) -> tuple[float, str] | None:
    cells = np.asarray(trace.z, np.float64)
    if cells.ndim != 2 or not np.isfinite(cells).any():
        return None
    row, column = np.unravel_index(int(np.nanargmax(cells)), cells.shape)
    places = ((trace.y, row, "y"), (trace.x, column, "x"))
    names = [_name(_axis(figure, trace, way), int(at) if values is None else values[int(at)]) for values, at, way in places]
    return float(cells[row, column]), " and ".join(names)


def _has_bar(figure: go.Figure, trace: Any) -> bool:
    """Whether a colour bar with their numbers stands beside these cells: other colours mean kinds, or numbers on a scale of their own."""
    scaled = trace if trace.coloraxis is None else figure.layout[trace.coloraxis]
    return False not in (trace.showscale, scaled.showscale) and scaled.colorbar.ticktext is None


def _axis(figure: go.Figure, trace: Any, way: str) -> Any:
    return figure.layout[(trace[f"{way}axis"] or way).replace(way, f"{way}axis", 1)]


def _name(axis: Any, place: Any) -> str:
    """What stands at a place of an axis."""
    if isinstance(place, str):
        return f"“{_plain(place)}”"
    places = list(axis.tickvals) if axis.tickvals is not None else []
    if axis.ticktext is not None and place in places:
        return f"“{_plain(axis.ticktext[places.index(place)])}”"
    named = f"{_plain(axis.title.text)} " if axis.title.text else ""
    return f"{named}{place:g}".replace("-", "−")
