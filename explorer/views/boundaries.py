"""SpanBERT's second question: a hidden span from the two pieces around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import SpanGuess
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name

HEADS = (("masked head", 0, -0.2, ""), ("boundary head", 1, 0.2, "/"))  # name, colour, where its bars lie in a row, pattern
STANDS = {"masked": "under [MASK]", "replaced": "replaced by other pieces", "kept-but-scored": "left as it was"}


def boundaries(record: SpanGuess, *, span: str) -> go.Figure:
    """One hidden span between its two boundaries, read from top to bottom. Each hidden piece has two bars: the likeliest piece of the
    masked head, which reads the model's last state at that very place; and, striped, the likeliest piece of the boundary head,
    which reads the last states at the two marked boundaries only, and is told which piece of the span is asked for. A tick says
    that this piece stood there.

    You may conclude what the states beside this span still hold of it. You may not conclude that the two words alone are enough:
    their last states have seen the whole text around the span. Nor does one span say how often a head is right: the card does, beside
    a guess that knows nothing but the place in the span.
    """
    left, right = _spans(record)[span]
    inside = np.flatnonzero(record.left == left)
    rows = [left, *record.places[inside].tolist(), right]
    names = theme.labels(record.corruption.original)
    bars = [_bars(record, inside, number) for number in range(len(HEADS))]
    notes = (*_notes(record, inside), theme.unseen_note(record.corruption.original))
    above = theme.space_above(*notes) + 14
    figure = go.Figure([_boundary([0, len(rows) - 1]), *bars])
    figure.update_layout(
        title=theme.title("A span from its boundaries", *notes),
        xaxis={"title": {"text": "probability of the likeliest piece"}, "range": [0, 1.45], "tickformat": ".0%",
               "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        yaxis={
            "tickmode": "array", "tickvals": list(range(len(rows))), "automargin": True, "tickfont": {"size": 17},
            "ticktext": [f"<b>{names[n]}</b>" if n in (left, right) else f"{names[n]} ({n})" for n in rows],
            "range": [len(rows) - 0.4, -0.6], "showgrid": False,
        },
        barmode="overlay", height=above + 52 * len(rows) + 130, margin={"l": 10, "r": 10, "t": above, "b": 130},
    )  # fmt: skip
    return figure


def _bars(record: SpanGuess, inside: np.ndarray, number: int) -> go.Bar:
    """The likeliest piece of one head at every hidden place of the span."""
    name, colour, shift, pattern = HEADS[number]
    texts, shares = [record.texts[number][n] for n in inside], record.shares[number, inside]
    stood = [record.corruption.original.texts[place] for place in record.places[inside]]
    said = [
        ", ".join(f"{theme.label(t)} {s:.1%}" for t, s in zip(*pair, strict=True)) for pair in zip(texts, shares, strict=True)
    ]
    told = [
        f"{line}<br>what stood there ({theme.label(truth)}): {share:.1%}"
        for line, truth, share in zip(said, stood, record.truth[number, inside], strict=True)
    ]
    return go.Bar(
        orientation="h", base=0, x=np.maximum(shares[:, 0], 0.004), y=1 + np.arange(len(inside)) + shift, width=0.36, name=name,
        text=[f"{theme.label(t[0])} {s[0]:.0%}{' ✓' if t[0] == own else ''}" for t, s, own in zip(texts, shares, stood, strict=True)],
        textposition="outside", cliponaxis=False, textfont={"size": 15}, meta=colour, marker={"pattern": {"shape": pattern}},
        customdata=told, hovertemplate=f"{name}: %{{customdata}}<extra></extra>",
    )  # fmt: skip


def _boundary(rows: list[int]) -> go.Bar:
    """The two pieces whose last states the boundary head reads."""
    return go.Bar(
        orientation="h", base=0, x=[1.0] * len(rows), y=rows, width=0.5, name="boundary", meta=3, opacity=0.6,
        text=["the boundary head reads here"] * len(rows), textposition="inside", insidetextanchor="middle", textangle=0,
        textfont={"size": 15}, constraintext="none", hoverinfo="skip",
    )  # fmt: skip


def _notes(record: SpanGuess, inside: np.ndarray) -> tuple[str, ...]:
    """What became of the span, and how surprised each head is at it."""
    done = {STANDS[record.corruption.action[place]] for place in record.places[inside]}
    price = -np.log(np.maximum(record.truth[:, inside].astype(np.float64), 1e-30)).mean(axis=1)
    told = ", ".join(f"{name} {mean:.2f}" for (name, *_), mean in zip(HEADS, price, strict=True))
    count = f"{len(inside)} pieces" if len(inside) > 1 else "1 piece"
    return f"{record.model} reads this span of {count} {' and '.join(sorted(done))}", f"mean −log P of what stood there: {told}"


def _spans(record: SpanGuess) -> dict[str, tuple[int, int]]:
    """The boundaries of each span, as they stand on the control."""
    texts = record.corruption.original.texts
    return {
        f"{theme.plain(texts[left])} … {theme.plain(texts[right])} (from place {left + 1})": (left, right)
        for left, right in record.spans
    }


def which(record: SpanGuess) -> Mapping[str, Control]:
    """Which hidden span."""
    return {"span": Choice("Hidden span", tuple(_spans(record)))}


def is_span_guess(record: object) -> str:
    """Empty where SpanBERT's two heads guessed."""
    if isinstance(record, SpanGuess):
        return ""
    return f"it draws what explorer.guessing.guess_spans(model, corruption) makes; this is a {type(record).__name__}."


VIEWS = by_name(View("boundaries", "A span from its boundaries", boundaries, which, is_span_guess))
