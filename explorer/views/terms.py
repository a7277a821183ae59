"""DeBERTa's scores taken apart: the part of the content and the parts of the relative positions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Attention, Trace
from explorer.views import theme
from explorer.views.attention import choices, has_attention, place, place_number, remarks
from explorer.views.view import Choice, Control, View, also, by_name

CONTENT, SUM = "content → content", "their sum: the score"


def terms(trace: Trace, *, layer: str, head: int) -> go.Figure:
    """One head's scores before the softmax, as DeBERTa adds them up: three matrices and, last, their sum.

    *Content → content* is q·k of the two tokens, as in every Transformer. *Content → position* is the query of the token on the left times
    a vector for the distance to the token above, so a query can ask for "the token before me". *Position → content* is the key of the token
    above times a vector for that distance, so a key can say from which distance it matters. All share one colour scale and are ÷ √(3d).
    Point at a cell of the sum for its three parts.

    You may conclude which of the terms made a score large in this text. A stretch of colour along a whole row changes nothing, since
    the softmax only compares the cells of a row. You may not conclude that a head with large position terms ignores content: both
    terms also depend on a token.
    """
    attention = trace.attention[place_number(trace, layer)]
    rows, columns = trace.axes(attention.stream)
    parts = parts_of(attention, head)
    shown = {**parts, SUM: attention.stage("biased", head)}
    figure = make_subplots(2, 2, subplot_titles=list(shown), horizontal_spacing=0.03, vertical_spacing=0.09)
    for number, (name, values) in enumerate(shown.items()):
        figure.add_trace(_cells(name, values, parts), row=number // 2 + 1, col=number % 2 + 1)
    quiet = {"showticklabels": False, "automargin": False, "ticks": "", "showline": True, "mirror": True}
    figure.update_xaxes(**{**theme.token_axis(columns), **quiet})
    figure.update_yaxes(**{**theme.token_axis(rows), **quiet, "range": [len(rows) - 0.5, -0.5]})
    notes = ("each row attends to the columns", *remarks(attention, rows, columns))
    return figure.update_layout(
        title=theme.title(f"{layer}, head {head}: three score matrices", *notes),
        height=560,
        **theme.colours(np.stack(list(shown.values())), signed=True),
    )


def parts_of(attention: Attention, head: int) -> dict[str, np.ndarray]:
    """What a score of this head is the sum of, by name: [query, key] each."""
    return {CONTENT: attention.stage("capped", head)} | {name: term[head] for name, term in attention.terms.items()}


def _cells(name: str, values: np.ndarray, parts: Mapping[str, np.ndarray]) -> go.Heatmap:
    """One matrix; a cell of the sum says what it is the sum of."""
    operands = np.stack(list(parts.values()), axis=-1) if name == SUM else None
    sums = " + ".join(f"%{{customdata[{n}]:.3g}}" for n in range(len(parts)))
    body = f"{sums} = " if name == SUM else f"{name}: "
    return go.Heatmap(
        z=values.astype(np.float32), coloraxis="coloraxis2", name=name,
        customdata=None if operands is None else operands.astype(np.float32),
        hovertemplate=f"<b>%{{y}}</b> → <b>%{{x}}</b><br>{body}<b>%{{z:.4g}}</b><extra></extra>",
    )  # fmt: skip


def apart(trace: Trace) -> list[str]:
    """The names of the attention layers whose scores are sums of several terms."""
    return [place(attention) for attention in trace.attention if attention.terms]


def term_choices(trace: Trace) -> Mapping[str, Control]:
    """Which layer, which head."""
    return {"layer": Choice("Layer", tuple(apart(trace))), "head": choices(trace)["head"]}


has_terms = also(has_attention, apart, "in this model no term of a score depends on content and distance; in DeBERTa two do.")


VIEWS = by_name(View("terms", "Three score matrices", terms, has_terms, term_choices))
