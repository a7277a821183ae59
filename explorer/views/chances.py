"""Corruption over many random draws: how much is hidden, 80/10/10 as squares, how long spans are, which sentences are hidden."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.records import Corruption, GapSentences, Rates, SpanLengths
from explorer.views import theme
from explorer.views.tiles import KINDS
from explorer.views.view import View, by_name, only, other

SQUARES = {"masked": "square", "replaced": "x", "kept-but-scored": "circle", "kept": "circle-open"}
FULL_NAMES = {"kept": "not predicted", "kept-but-scored": "kept, but predicted", "masked": "masked", "replaced": "replaced"}
SHORT = {"masked": "masked", "replaced": "replaced", "kept-but-scored": "kept but predicted"}


def rates(record: Rates) -> go.Figure:
    """The share of one text that each strategy hides, moves or inserts. The vertical line is its target rate, the diamond the mean
    over all random draws, the bar holds 95 of 100 draws.

    Where there is no bar, every draw hides the same number of tokens. BERT's own program hides an exact number; many others flip a
    coin for every token, and then a short text may get no [MASK] at all or twice as many. Whole sentences cannot be cut to fit, so
    PEGASUS is far from its target rate on a short text.

    You may conclude how much the rate varies for one short text. You may not conclude that the mean over a long training run differs: in
    the long run coin flips hide the same share.
    """
    low, high = np.percentile(record.realised, [2.5, 97.5], axis=1)
    rows = np.arange(len(record.names))
    ranges = [f"{a:.0%} to {b:.0%}" for a, b in zip(low, high, strict=True)]
    bars = go.Bar(
        orientation="h", base=low, x=high - low, y=rows, width=0.5, text=ranges, textposition="none", name="95 of 100 draws",
        meta=0, marker={"opacity": 0.6}, hovertemplate="%{y}: 95 of 100 draws change %{text}<extra></extra>",
    )  # fmt: skip
    means = _points(record.realised.mean(axis=1), rows, "mean of the draws", 0, {"symbol": "diamond", "size": 12})
    aims = _points(record.nominal, rows, "target rate", 1, {"symbol": "line-ns-open", "size": 20, "line": {"width": 4}})
    figure = go.Figure([bars, means, aims])
    notes = (f"one text of {record.pieces} tokens, {record.realised.shape[1]} draws each",)
    return figure.update_layout(
        title=theme.title("How much is changed", *notes),
        xaxis={"title": "share of the text", "tickformat": ".0%", "rangemode": "tozero"},
        yaxis=theme.named_axis(list(record.names), down=True),
        height=36 * len(rows),
    )  # fmt: skip


def _points(x: np.ndarray, y: np.ndarray, name: str, colour: int, marker: dict[str, object]) -> go.Scatter:
    hover = f"%{{y}}: {name} %{{x:.1%}}<extra></extra>"
    return go.Scatter(x=x, y=y, mode="markers", name=name, meta=colour, marker=marker, hovertemplate=hover)


def squares(record: Corruption) -> go.Figure:
    """Every token of a text as a mark: the solid square is replaced by [MASK], the cross by another token, the solid circle is
    unchanged but must be predicted too, and the open circle is not predicted.

    The loss is computed on the first three kinds only. Of a thousand tokens these are about 120, 15 and 15, not 150 [MASK]; the exact
    numbers change with the seed, because each chosen token is drawn independently.

    You may conclude how few tokens of each text a masked model must predict, and that their positions are drawn at random.
    You may not conclude that the other 850 are useless: they are the context that the predictions are made from.
    """
    count = len(record.source)
    across = int(np.ceil(np.sqrt(1.6 * count)))
    actions = np.array(record.action)
    texts = np.array(theme.labels(record.source))
    figure = go.Figure([_marks(kind, np.flatnonzero(actions == kind), texts, across) for kind in ("kept", *SHORT)])
    counts = ", ".join(f"{(actions == kind).sum()} {name}" for kind, name in SHORT.items())
    first = f"{counts}, {(~record.scored).sum()} not predicted"
    notes = (first, f"{record.strategy}, seed {record.seed}", theme.unseen_note(record.original))
    down = -(-count // across)
    return figure.update_layout(
        title=theme.title(f"{count:,} tokens", *notes),
        xaxis={"visible": False, "range": [-1, across]},
        yaxis={"visible": False, "range": [down, -1]},
        height=max(160, min(420, 17 * down)),
    )  # fmt: skip


def _marks(kind: str, places: np.ndarray, texts: np.ndarray, across: int) -> go.Scatter:
    colour = 6 if kind == "kept" else KINDS[kind][0]
    marker = {"symbol": SQUARES[kind], "size": 4 if kind == "kept" else 10}
    return go.Scatter(
        x=places % across, y=places // across, mode="markers", name=FULL_NAMES[kind], meta=colour, marker=marker,
        customdata=texts[places], hovertemplate=f"%{{customdata}}: {kind}<extra></extra>",
    )  # fmt: skip


def lengths(record: SpanLengths) -> go.Figure:
    """Bars: the share of each span length in this text; the line is the distribution that lengths are drawn from.

    SpanBERT draws from a geometric distribution, truncated at ten words and renormalised, with a mean of 3.8; but the last span is
    cut when the budget is used up, and a span ends where the text ends, so short texts get shorter spans. BART draws from a Poisson
    distribution with mean 3: a span of length zero inserts [MASK] where nothing is missing. T5 draws no lengths: it divides a fixed
    number of hidden tokens into a fixed number of spans, all divisions equally probable; on a short text there is one span, and one
    length.

    You may conclude that short texts do not reach the nominal mean. You may not conclude that training suffers from it: long packed
    sequences come closer to the distribution.
    """
    bars = go.Bar(
        x=record.lengths, y=record.realised, name="in this text", meta=0,
        hovertemplate=f"%{{x}} {record.unit}: <b>%{{y:.1%}}</b> of the spans<extra></extra>",
    )  # fmt: skip
    law = go.Scatter(
        x=record.lengths, y=record.nominal, mode="lines+markers", name="distribution", meta=1, line={"width": 3},
        marker={"size": 8}, hovertemplate=f"%{{x}} {record.unit}: <b>%{{y:.1%}}</b> in the distribution<extra></extra>",
    )  # fmt: skip
    aimed, came = record.means
    notes = (
        f"mean of the distribution {aimed:.2f} {record.unit}, in this text {came:.2f}",
        f"{record.spans:,} spans drawn in a text of {record.pieces} tokens",
    )
    return go.Figure([bars, law]).update_layout(
        title=theme.title(f"How long the spans of {record.strategy} are", *notes),
        xaxis={"title": f"length in {record.unit}", "dtick": 1},
        yaxis={"title": "share of the spans", "tickformat": ".0%", "rangemode": "tozero"},
        height=250,
    )  # fmt: skip


def gap_sentences(record: GapSentences) -> go.Figure:
    """How much each sentence overlaps with the rest of its text: ROUGE-1 F1, counted in tokens. PEGASUS replaces the sentences with
    the highest scores by one [MASK] each, and the model generates them: a summarisation task without summaries written by hand.

    Precision is the share of the sentence's tokens that the rest has too, recall the share of the rest's tokens that the sentence
    has; F1 is their harmonic mean. A sentence is scored against the *rest*, without itself.

    You may conclude which sentences repeat what the text is about. You may not conclude that they would make a good summary: function
    words and names count as much as content.
    """
    rows, traces = np.arange(len(record.scores)), []
    for number, (name, wanted) in enumerate((("kept", False), ("✕ hidden, to be generated", True))):
        places = rows[np.array(record.chosen) == wanted]
        texts = [f"{record.scores[n]:.2f}" for n in places]
        bar = go.Bar(
            orientation="h", x=record.scores[places], y=places, base=0, width=0.34, name=name, text=texts, meta=number,
            textposition="outside", cliponaxis=False, marker={"pattern": {"shape": "/" if wanted else ""}},
            hovertemplate="sentence %{y}: ROUGE-1 F1 <b>%{x:.3f}</b><extra></extra>",
        )  # fmt: skip
        traces.append(bar)
    figure = go.Figure(traces)
    notes = (f"{sum(record.chosen)} of {len(rows)} sentences hidden; target rate {record.rate:.0%}",)
    return figure.update_layout(
        title=theme.title("Which sentences PEGASUS hides", *notes),
        annotations=[_sentence(n, text) for n, text in enumerate(record.sentences)],
        xaxis={"title": "ROUGE-1 F1 against the rest", "range": [0, max(0.1, 1.2 * float(record.scores.max()))]},
        yaxis=theme.named_axis([str(n) for n in rows], range=[len(rows) - 0.5, -0.7]),
        barmode="overlay", height=62 * len(rows),
    )  # fmt: skip


def _sentence(row: int, text: str) -> dict[str, object]:
    short = text if len(text) <= 40 else text[:39] + "…"
    place = {"x": 0, "y": row - 0.36, "xanchor": "left", "showarrow": False, "font": {"size": 14}}
    return {**place, "text": theme.printable(short)}


is_rates = only(Rates, "ex.corruption.rates(text) makes")


is_lengths = only(SpanLengths, "ex.corruption.span_lengths(text, strategy) makes")


is_gaps = only(GapSentences, "ex.corruption.gap_sentences(text) makes")


def is_split(record: object) -> str:
    """Empty for a corruption that masks, replaces and keeps."""
    if not isinstance(record, Corruption):
        return other("what ex.corrupt(text, 'mlm') makes", record)
    split = all((done == "kept") != scored for done, scored in zip(record.action, record.scored.tolist(), strict=False))
    plain = record.target is None and not record.labels and len(record.source) == len(record.original) and split
    return "" if plain else f"{record.strategy} does not split its tokens into masked, replaced and kept. Take mlm."


VIEWS = by_name(
    View("rates", "How much is changed", rates, is_rates),
    View("squares", "80/10/10 of a thousand tokens", squares, is_split),
    View("span-lengths", "How long spans are", lengths, is_lengths),
    View("gap-sentences", "Which sentences are hidden", gap_sentences, is_gaps),
)
