"""Two texts or two models side by side: what each predicts, where each attends, and how far apart their states are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import AlignedTraces
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, also, by_name, only

BOTH, DIFFERENCE = "both", "difference"
SAME, CLOSEST = "the same number", "the most alike"
EMPTY = "–"  # of a unit that one text does not have


def unit_names(record: AlignedTraces) -> list[str]:
    """The units as names on an axis: once where both read the same, otherwise both."""
    pairs = [tuple(theme.label(word) if word else EMPTY for word in pair) for pair in record.words]
    return [ours if ours == theirs else f"{ours} | {theirs}" for ours, theirs in pairs]


def predictions(record: AlignedTraces, *, shows: str) -> go.Figure:
    """How many bits each unit costs (−log2 of its probability): 0 is certain, and one bit more is half as probable. The bits of a unit's
    tokens are added, so models that cut words differently can be compared. Point at a bar for what was expected most.

    An encoder has read the token that it is asked for; a decoder has read only what comes before it.

    You may conclude which units of these texts are less expected. You may not conclude that an encoder with fewer bits than a decoder
    predicts the language better: the two answer different questions.
    """
    bits, names = record.bits, unit_names(record)
    model_names = [theme.printable(name) for name in record.names]
    sums = [f"{name}: {np.nansum(row):.1f} bits in all" for name, row in zip(model_names, bits, strict=True)]
    notes = ("; ".join(sums), *_remarks(record))
    figure = go.Figure()
    for number, name in enumerate(model_names) if shows == BOTH else ():
        expected = [theme.label(word) if word else EMPTY for word in record.answers(number)]
        figure.add_bar(
            x=list(range(len(names))), y=bits[number], name=name, customdata=expected,
            hovertemplate=f"{name}<br><b>%{{x}}</b>: %{{y:.2f}} bits<br>expected most: %{{customdata}}<extra></extra>",
        )  # fmt: skip
    if shows == DIFFERENCE:
        figure.add_bar(
            x=list(range(len(names))), y=bits[1] - bits[0], name=f"{model_names[1]} − {model_names[0]}",
            hovertemplate="<b>%{x}</b>: %{y:.2f} bits<extra></extra>",
        )  # fmt: skip
    return figure.update_layout(
        title=theme.title("Bits of each unit" if shows == BOTH else f"Bits: {model_names[1]} minus {model_names[0]}", *notes),
        xaxis={**_axis(names), "tickangle": -60}, yaxis={"title": "bits"}, showlegend=shows == BOTH,
        barmode="group", height=250,
    )  # fmt: skip


def attention(record: AlignedTraces, *, stream: str, layer: int, head: int, match: str, shows: str) -> go.Figure:
    """One head of each side by side, on the same units: rows attend to columns. The row of a unit of several tokens is the mean of their
    rows; its column is the sum of their columns. *Difference* is the second minus the first; units that only one has are empty.

    Heads of two models share nothing but their number, so *the most alike* looks for the head of the second whose weights differ least
    from those of the chosen one.

    You may conclude where these two heads attend differently in these texts. You may not conclude that alike weights mean that the heads
    do the same work: what they pass on depends on their values.
    """
    number = [_pair(pair) for pair in record.streams].index(stream)
    ours, theirs = record.streams[number]
    places = [(layer, head), (layer, head) if match == SAME else record.closest(number, layer, head)[:2]]
    if match == SAME and layer >= _layers(record, 1, theirs):
        places[1] = (_layers(record, 1, theirs) - 1, head)
    cells = [
        record.weights(which, stream_name, *place)
        for which, stream_name, place in zip((0, 1), (ours, theirs), places, strict=True)
    ]
    apart = np.abs(cells[1] - cells[0])
    mean = f"mean difference of a weight: {np.nanmean(apart):.3f}, largest: {np.nanmax(apart):.3f}"
    head_names = [
        f"{stream_name}, layer {place[0]}, head {place[1]}" for stream_name, place in zip((ours, theirs), places, strict=True)
    ]
    return (
        _panels(record, cells, (f"{head_names[0]} | {head_names[1]}", mean, *_remarks(record)))
        if shows == BOTH
        else _apart(record, cells[1] - cells[0], head_names, mean)
    )


def _panels(record: AlignedTraces, cells: Sequence[np.ndarray], notes: Sequence[str]) -> go.Figure:
    """Both heads, with the names of the rows once."""
    model_names = [theme.label(name) for name in record.names]
    names, figure = (
        unit_names(record),
        make_subplots(1, 2, subplot_titles=model_names, horizontal_spacing=0.03, shared_yaxes=True),
    )
    for column, weights in enumerate(cells):
        heat = go.Heatmap(
            z=weights.astype(np.float32), coloraxis="coloraxis3", name=model_names[column], hoverongaps=False, **theme.gaps(weights),
            hovertemplate="<b>%{y}</b> → <b>%{x}</b><br><b>%{z:.4f}</b><extra></extra>",
        )  # fmt: skip
        figure.add_trace(heat, 1, column + 1)
    _framed(figure, names, "Two heads", notes)
    return figure.update_layout(**theme.colours_of_weights())


def _apart(record: AlignedTraces, cells: np.ndarray, head_names: Sequence[str], mean: str) -> go.Figure:
    """The difference of two heads."""
    names = [theme.printable(name) for name in record.names]
    notes = (f"{names[1]} ({head_names[1]}) minus {names[0]} ({head_names[0]})", mean, *_remarks(record))
    figure = go.Figure(
        go.Heatmap(
            z=cells.astype(np.float32), coloraxis="coloraxis2", name=DIFFERENCE, hoverongaps=False, **theme.gaps(cells),
            hovertemplate="<b>%{y}</b> → <b>%{x}</b><br><b>%{z:+.4f}</b><extra></extra>",
        )
    )  # fmt: skip
    _framed(figure, unit_names(record), "Difference of two heads", notes)
    return figure.update_layout(**theme.colours(np.nan_to_num(cells), signed=True))


def _framed(figure: go.Figure, names: Sequence[str], title: str, notes: Sequence[str]) -> None:
    """The title, the names of the units and the size of a picture of attention."""
    figure.update_xaxes({**_axis(names), "tickangle": -60})
    figure.update_yaxes({**_axis(names), "range": [len(names) - 0.5, -0.5]})
    figure.update_layout(title=theme.title(title, *notes), height=max(220, 24 * len(names)))


def states(record: AlignedTraces, *, stream: str) -> go.Figure:
    """How far the state of each unit is from its state in the other text (1 − cosine): 0 is the same direction. After 0
    layers it is the input, where only what was changed differs; look how the change spreads from layer to layer.

    You may conclude which units are affected by the change, and from which layer on. You may not conclude that the model uses it there: a
    state may hold what no later layer reads.
    """
    values, names = record.distance(stream), unit_names(record)
    notes = (f"{theme.printable(record.first.model)}, {stream}", *_remarks(record))
    figure = go.Figure(
        go.Heatmap(
            z=values.astype(np.float32), coloraxis="coloraxis", name="1 − cosine", hoverongaps=False, **theme.gaps(values),
            hovertemplate="after %{y} layers, <b>%{x}</b><br><b>%{z:.4f}</b><extra></extra>",
        )
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title("How far apart the states are", *notes),
        xaxis={**_axis(names), "tickangle": -60},
        yaxis={"title": theme.DEPTH, "tickmode": "linear", "dtick": 1, "autorange": "reversed", "showgrid": False},
        height=60 + 40 * len(values),
        **theme.colours(np.nan_to_num(values), signed=False),
    )  # fmt: skip


def _axis(names: Sequence[str]) -> dict[str, object]:
    """An axis with one place for each unit."""
    return theme.named_axis(names, tickfont={"size": 14 if len(names) <= 20 else 12}, uirevision=theme.mark_of(names))


def _remarks(record: AlignedTraces) -> tuple[str, ...]:
    """Of which tokens a reader should know that they are noise."""
    return tuple(dict.fromkeys(theme.unseen_note(trace.source) for trace in record.both))


def _pair(streams: tuple[str, str]) -> str:
    return streams[0] if streams[0] == streams[1] else f"{streams[0]} and {streams[1]}"


def _layers(record: AlignedTraces, number: int, stream: str) -> int:
    return 1 + max(a.layer for a in record.both[number].attention if a.stream == stream)


def of_bits(record: AlignedTraces) -> Mapping[str, Control]:
    """Both, or their difference."""
    return {"shows": Choice("Show", (BOTH, DIFFERENCE))}


def of_heads(record: AlignedTraces) -> Mapping[str, Control]:
    """Which head of the first, and which of the second beside it."""
    heads = min(a.heads for trace in record.both for a in trace.attention)
    layers = min(_layers(record, 0, ours) for ours, _ in record.streams)
    return {
        "stream": Choice("Attention", tuple(map(_pair, record.streams))),
        "layer": Range("Layer", 0, layers - 1),
        "head": Range("Head", 0, heads - 1),
        "match": Choice("Beside it the head with", (SAME, CLOSEST), SAME if record.one_model else CLOSEST),
        "shows": Choice("Show", (BOTH, DIFFERENCE)),
    }


def of_states(record: AlignedTraces) -> Mapping[str, Control]:
    """The states of which stack."""
    return {"stream": Choice("States", tuple(record.first.hidden))}


ALIGNED = only(AlignedTraces, "ex.analysis.align makes")


def has_bits(record: Any) -> str:
    """Empty where both predict tokens."""
    if not isinstance(record, AlignedTraces):
        return ALIGNED(record)
    silent = [trace.model for trace in record.both if "lm" not in trace.outputs]
    return f"{silent[0]} predicts no tokens, or its scores were not kept (scores=True keeps them)." if silent else ""


has_heads = also(ALIGNED, lambda record: record.streams, "one of these traces holds no attention.")


is_one_model = also(
    ALIGNED,
    lambda record: record.one_model,
    "two models give their dimensions no common meaning. Choose the same model twice, with two texts.",
)


VIEWS = by_name(
    View("beside-predictions", "What each predicts", predictions, has_bits, of_bits),
    View("beside-attention", "Where each attends", attention, has_heads, of_heads),
    View("beside-states", "How far apart the states are", states, is_one_model, of_states),
)
