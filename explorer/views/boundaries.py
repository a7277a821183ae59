"""SpanBERT's span boundary objective (SBO): a hidden span predicted from the two tokens around it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import SpanGuess
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

HEADS = (
    ("MLM output layer", 0, -0.2, ""),
    ("SBO output layer", 1, 0.2, "/"),
)  # name, colour, where its bars lie in a row, pattern
ACTIONS = {"masked": "under [MASK]", "replaced": "replaced by other tokens", "kept-but-scored": "unchanged"}


def boundaries(record: SpanGuess, *, span: str) -> go.Figure:
    """One hidden span between its two boundaries, read from top to bottom. Each hidden token has two bars: the most probable token of
    the MLM output layer, which reads the last hidden state at this position; and, striped, the most probable token of the SBO output
    layer, which reads only the last hidden states at the two marked boundaries and the position within the span. A tick marks the
    original token.

    You may conclude what can be predicted from the hidden states beside this span. You may not conclude that the two tokens alone
    are enough: their last hidden states have seen the whole text around the span. Nor does one span say how often an output layer
    is right: the model card does, beside a baseline that uses only the position in the span.
    """
    left, right = _spans(record)[span]
    inside = np.flatnonzero(record.left == left)
    rows = [left, *record.places[inside].tolist(), right]
    names = theme.labels(record.corruption.original)
    bars = [_bars(record, inside, number) for number in range(len(HEADS))]
    row_names = [f"<b>{names[n]}</b>" if n in (left, right) else f"{names[n]} ({n})" for n in rows]
    notes = (*_notes(record, inside), theme.unseen_note(record.corruption.original))
    return go.Figure([_boundary([0, len(rows) - 1]), *bars]).update_layout(
        title=theme.title("A span from its boundaries", *notes),
        xaxis={"title": "probability of the most probable token", "range": [0, 1.45], "tickformat": ".0%",
               "tickvals": [0, 0.25, 0.5, 0.75, 1]},
        yaxis=theme.named_axis(row_names, down=True, tickfont={"size": 17}),
        barmode="overlay", height=52 * len(rows),
    )  # fmt: skip


def _bars(record: SpanGuess, inside: np.ndarray, number: int) -> go.Bar:
    """The most probable token of one output layer at every hidden position of the span."""
    name, colour, shift, pattern = HEADS[number]
    texts, shares = [record.texts[number][n] for n in inside], record.shares[number, inside]
    originals = [record.corruption.original.texts[place] for place in record.places[inside]]
    hover_lines = [
        ", ".join(f"{theme.label(t)} {theme.percent(s)}" for t, s in zip(*pair, strict=True))
        for pair in zip(texts, shares, strict=True)
    ]
    hovers = [
        f"{line}<br>original token ({theme.label(truth)}): {theme.percent(share)}"
        for line, truth, share in zip(hover_lines, originals, record.truth[number, inside], strict=True)
    ]
    return go.Bar(
        orientation="h", base=0, x=np.maximum(shares[:, 0], 0.004), y=1 + np.arange(len(inside)) + shift, width=0.36, name=name,
        text=[f"{theme.label(t[0])} {theme.percent(s[0])}{' ✓' if t[0] == own else ''}"
              for t, s, own in zip(texts, shares, originals, strict=True)],
        textposition="outside", cliponaxis=False, textfont={"size": 15}, meta=colour, marker={"pattern": {"shape": pattern}},
        customdata=hovers, hovertemplate=f"{name}: %{{customdata}}<extra></extra>",
    )  # fmt: skip


def _boundary(rows: list[int]) -> go.Bar:
    """The two tokens whose last hidden states the SBO output layer reads."""
    return go.Bar(
        orientation="h", base=0, x=[1.0] * len(rows), y=rows, width=0.5, name="boundary", meta=3, opacity=0.6,
        text=["SBO reads here"] * len(rows), textposition="inside", insidetextanchor="middle", textangle=0,
        textfont={"size": 15}, constraintext="none", hoverinfo="skip",
    )  # fmt: skip


def _notes(record: SpanGuess, inside: np.ndarray) -> tuple[str, ...]:
    """What was done to the span, and the loss of each output layer on it."""
    done = {ACTIONS[record.corruption.action[place]] for place in record.places[inside]}
    price = -np.log(np.maximum(record.truth[:, inside].astype(np.float64), 1e-30)).mean(axis=1)
    hovers = ", ".join(f"{name} {mean:.2f}" for (name, *_), mean in zip(HEADS, price, strict=True))
    count = f"{len(inside)} tokens" if len(inside) > 1 else "1 token"
    return (
        f"{theme.printable(record.model)} reads this span of {count} {' and '.join(sorted(done))}",
        f"mean −log P of the original tokens: {hovers}",
    )


def _spans(record: SpanGuess) -> dict[str, tuple[int, int]]:
    """The boundaries of each span, as the control names them."""
    texts = record.corruption.original.texts
    return {
        f"{theme.plain(texts[left])} … {theme.plain(texts[right])} (from position {left + 1})": (left, right)
        for left, right in record.spans
    }


def which(record: SpanGuess) -> Mapping[str, Control]:
    """Which hidden span: at first the longest between two words, since [CLS] is no word to predict from."""
    spans, special = _spans(record), record.corruption.original.special
    inside = [name for name, ends in spans.items() if not any(special[end] for end in ends)] or list(spans)
    longest = max(inside, key=lambda name: spans[name][1] - spans[name][0])
    return {"span": Choice("Hidden span", tuple(spans), longest)}


is_span_guess = only(SpanGuess, "ex.analysis.guess_spans(model, corruption) makes")
VIEWS = by_name(View("boundaries", "A span from its boundaries", boundaries, is_span_guess, which))
