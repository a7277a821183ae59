"""What is inside a model: all heads at a glance, heads combined, the logit lens, gradients, and which token can see which."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.records import Attention, Gradient, HeadStatistics, Lens, Trace, Visibility
from explorer.views import theme
from explorer.views.attention import has_attention, high, matrix, place
from explorer.views.sums import WAYS, joined, summed
from explorer.views.titles import titled
from explorer.views.view import Choice, Control, Toggle, View, by_name, only

READABLE, SHORT = 6, 9  # columns of a lens whose words have room beside each other; rows whose cells hold three of them
TILE = 128  # rows and columns of one head among all: more than a screen has points for
NOBODY, NO_HEAD, FIRST = "no token", "no head", "it"  # whose largest weight is named below each head
FRAME = "the chosen token"
SLANTED = 60  # pixels of the names above the columns of one head, which all heads together do not have
MANY = 48  # heads that have room for a word below each
ORDER = "Each row reads the columns; a stronger colour is a larger weight"
SQUARE = {"constrain": "domain"}  # a picture keeps the shape of its cells in whatever room there is
PAIR = "<b>%{y}</b> → <b>%{x}</b><br>"


def glance(trace: Trace, *, stream: str, token: str, head: str) -> go.Figure:
    """Look for full columns (every row reads one token) and diagonals (each row reads itself or a neighbour). Each small
    matrix is a head, each row of matrices a layer.

    In each small matrix rows attend to columns, in the order of the text. A full first column is an attention sink. With a
    token chosen, the word below each head is the one to which this token attends most there. The framed head is the chosen one.

    You may conclude which heads differ in this text. You may not conclude what a head is for, or that an attention sink matters: its
    value vectors may be almost zero. Cells are rounded to 255 steps; in a long text each is the maximum of several neighbours.
    """
    layers = [attention for attention in trace.attention if attention.stream == stream]
    heads, row = max(attention.heads for attention in layers), _row_of(trace, stream, token)
    top = max(float(attention.weights.max()) for attention in layers)
    pool = -(-max(map(len, trace.axes(stream))) // TILE)
    tiles = [[_largest(weights, pool) for weights in attention.weights] for attention in layers]
    rows, columns = tiles[0][0].shape
    high = rows + (1 if row is None else 1 + math.ceil(0.22 * rows))  # of a tile, with what stands below it
    whole = np.zeros((len(layers) * high, heads * (columns + 1)), np.uint8)
    for n, of_layer in enumerate(tiles):
        for left, tile in zip(range(0, whole.shape[1], columns + 1), of_layer, strict=False):
            whole[n * high : n * high + rows, left : left + columns] = np.round(255 * tile / top).astype(np.uint8)
    scale = "coloraxis" if head == NO_HEAD else "coloraxis3"  # of the large head beside all, whose bar stands for both
    figure = go.Figure(go.Heatmap(z=whole, coloraxis=scale, hoverinfo="skip", name="all heads"))
    if row is not None:
        words = [[trace.axes(stream)[1].texts[int(weights[row].argmax())] for weights in one.weights] for one in layers]
        figure.update_layout(annotations=_below(words, (rows, columns), high))
        figure.add_trace(_framed(row // pool, columns, (len(layers), heads), high))
    if head != NO_HEAD:
        figure.add_trace(_around(*_numbers(head), (rows, columns), high))
    pooled = f"each cell is the largest of {pool} × {pool} weights" if pool > 1 else ""
    figure.add_trace(_named(trace, stream, row, (rows, columns), high)).update_layout(hovermode="closest", hoverdistance=-1)
    notes = (f"{ORDER} (at most {top:.3g}){_marked(trace, stream, row)}", pooled, theme.unseen_note(trace.source), *trace.notes)
    return figure.update_layout(
        title=theme.title(f"{stream}: {len(layers)} layers × {heads} heads", *notes),
        xaxis={**_tiled("head", heads, columns + 1), "range": [-0.5, whole.shape[1] - 0.5], **SQUARE},
        yaxis={**_tiled("layer", len(layers), high), "range": [len(whole) - 0.5, -0.5], **SQUARE, "scaleanchor": "x"},
        **_tones(top), height=_tall(layers),
    )  # fmt: skip


def _tones(top: float) -> dict[str, dict[str, object]]:
    """The colours of cells in 255ths of the largest weight: in even steps with a bar of their own, or those of one large head."""
    bar = {"tickvals": [0, 127.5, 255], "ticktext": ["0", f"{top / 2:.2g}", f"{top:.2g}"], "tickangle": 0}
    large: dict[str, object] = {"cmin": 0, "cmax": 255 / top, "showscale": False}
    return {"coloraxis": {"cmin": 0, "cmax": 255, "colorbar": bar}, "coloraxis3": large}


def enlarged(trace: Trace, *, stream: str, token: str, head: str) -> go.Figure:
    """One head of all, with the names of its tokens: each row reads the columns.

    A row is a token that attends, a column one that is attended to; a stronger colour is a larger weight, and grey is hidden by a mask.
    The framed row is the token that is followed.

    You may conclude what this head does in this text. You may not conclude that it does so in others.
    """
    layer, number = _numbers(head)
    named = [one for one in trace.attention if one.stream == stream]
    attention = next((one for one in named if one.layer == layer), named[-1])  # another stream may have fewer
    figure = matrix(trace, layer=place(attention), head=min(number, attention.heads - 1), stage="weights")
    rows, columns = trace.axes(stream)
    row = _row_of(trace, stream, token)
    if row is not None:
        figure.add_trace(_framed(row, len(columns), (1, 1), len(rows)))
    return figure.update_layout(height=max(_tall(named) - SLANTED, 12 * len(rows)))


def _tall(layers: Sequence[Attention]) -> int:
    """How high all heads are drawn, and beside them one."""
    return max(260, min(900, 110 * len(layers)))


def named_heads(trace: Trace, stream: str) -> tuple[str, ...]:
    """The heads of a stream by their layers."""
    return tuple(f"layer {one.layer}, head {n}" for one in trace.attention if one.stream == stream for n in range(one.heads))


def _numbers(head: str) -> tuple[int, int]:
    """The numbers of the layer and of the head in such a name."""
    layer, number = map(int, re.findall(r"\d+", head))
    return layer, number


def _around(layer: int, head: int, tile: tuple[int, int], high: int) -> go.Scatter:
    """A frame around one head of all."""
    (rows, columns), x, y = tile, head * (tile[1] + 1) - 0.5, layer * high - 0.5
    return go.Scatter(
        x=[x, x + columns, x + columns, x, x], y=[y, y, y + rows, y + rows, y], mode="lines", line={"width": 3}, meta=3,
        name="the chosen head", hoverinfo="skip", showlegend=False, cliponaxis=False,
    )  # fmt: skip


def _named(trace: Trace, stream: str, row: int | None, tile: tuple[int, int], high: int) -> go.Scatter:
    """An unseen point in the middle of every tile: its head, and the largest weight in it, or in the chosen row."""
    layers = [attention for attention in trace.attention if attention.stream == stream]
    (texts, read), said, x, y = (axis.texts for axis in trace.axes(stream)), [], [], []
    for n, attention in enumerate(layers):
        for head, weights in enumerate(attention.weights):
            reader, best = np.unravel_index(weights.argmax(), weights.shape) if row is None else (row, weights[row].argmax())
            pair = f"“{theme.label(texts[reader])}” → “{theme.label(read[best])}”"
            said.append([f"layer {attention.layer}, head {head}", f"{pair} {weights[reader, best]:.2f}"])
            x.append(head * (tile[1] + 1) + (tile[1] - 1) / 2)
            y.append(n * high + (tile[0] - 1) / 2)
    words = "<b>%{customdata[0]}</b><br>most: %{customdata[1]}<extra></extra>"
    return go.Scatter(
        x=x, y=y, mode="markers", marker={"opacity": 0}, customdata=said, hovertemplate=words, name="heads", showlegend=False
    )


def _marked(trace: Trace, stream: str, row: int | None) -> str:
    """Which row is framed in every tile, and what stands below."""
    return "" if row is None else f". Framed: “{theme.label(trace.axes(stream)[0].texts[row])}”; below, what it reads most"


def _below(words: Sequence[Sequence[str]], tile: tuple[int, int], high: int) -> list[dict[str, Any]]:
    """A word below each tile."""
    rows, columns = tile
    return [
        {"x": head * (columns + 1) + (columns - 1) / 2, "y": n * high + rows + (high - rows - 1) / 2, "text": theme.label(word),
         "showarrow": False, "font": {"size": 13}}
        for n, of_layer in enumerate(words) for head, word in enumerate(of_layer)
    ]  # fmt: skip


def _framed(row: int, columns: int, tiles: tuple[int, int], high: int) -> go.Scatter:
    """A frame round the same row of every tile."""
    x: list[float | None] = []
    y: list[float | None] = []
    for layer, head in np.ndindex(tiles):
        left, top = head * (columns + 1) - 0.5, layer * high + row - 0.5
        x += [left, left + columns, left + columns, left, left, None]
        y += [top, top, top + 1, top + 1, top, None]
    return go.Scatter(
        x=x, y=y, mode="lines", line={"width": 1.5}, meta=3, name=FRAME, hoverinfo="skip", showlegend=False, cliponaxis=False
    )


def _largest(weights: np.ndarray, pool: int) -> np.ndarray:
    """The largest weight in every square of `pool` × `pool`: no screen has a point for each."""
    rows, columns = (-(-size // pool) for size in weights.shape)
    filled = np.zeros((rows * pool, columns * pool), weights.dtype)
    filled[: weights.shape[0], : weights.shape[1]] = weights
    return filled.reshape(rows, pool, columns, pool).max(axis=(1, 3))


def _tiled(what: str, count: int, width: int) -> dict[str, Any]:
    """An axis of tiles, each with its number in its middle."""
    names = [f"{what} {n // width}" if n % width == width // 2 else "" for n in range(count * width)]
    return {"showgrid": False, "tickmode": "array", "tickvals": list(range(count * width)), "ticktext": names, "ticks": ""}


def together(trace: Trace, *, stream: str, way: str, words: bool, special: bool) -> go.Figure:
    """Many heads as one matrix: their mean, their maximum, or attention rollout through all layers.

    Rollout takes each layer as half attention (the mean of its heads) and half identity (the residual connection), and multiplies the
    matrices of all layers. *Words* joins the tokens of a word: weights to its tokens are added, rows of its tokens are averaged.
    Without special tokens the rows no longer sum to 1.

    You may conclude how attention weights are distributed. You may not conclude where the information comes from: rollout ignores the
    values, the feed-forward layers and the norm of the residual stream.
    """
    values, rows, columns = summed(trace, stream, way)
    values, rows, columns = joined(values, rows, columns, words=words, special=special)
    notes = (WAYS[way], theme.unseen_note(rows), *trace.notes)
    heat = go.Heatmap(z=values.astype(np.float32), coloraxis="coloraxis", **theme.gaps(values), name=way,
                      hovertemplate=f"{PAIR}<b>%{{z:.4g}}</b><extra></extra>")  # fmt: skip
    return go.Figure(heat).update_layout(
        title=theme.title(f"{stream}, all layers: {way}", *notes),
        **theme.token_axes(rows, columns),
        **theme.colours(values, signed=False),
        height=high(len(rows)),
    )


def through(record: Lens, *, shown: str) -> go.Figure:
    """The logit lens: what the model would predict if it ended after each layer; the first column is the input of the first layer.

    Each row is a position of the text. A cell names the most probable token, in a short text the three most probable ones; its colour
    is how probable that is. Or each cell says how probable the token is that the last layer predicts, which stands in the last column.

    You may conclude from which layer on the model's output layer predicts the answer. You may not conclude that earlier layers do not
    contain it: they may represent it in a way that the last norm and the output layer cannot read.
    """
    own = shown == "its own guess"
    values = (record.chances if own else record.final).T  # [position, layer]
    guessed = list(zip(*record.best, strict=True))  # [position, layer, guess]
    hover = "after <b>%{x}</b>, at <b>%{y}</b><br>predicts %{customdata}<br>shown: <b>%{hovertext}</b><extra></extra>"
    shares = record.shares.swapaxes(0, 1)
    heat = go.Heatmap(
        z=values.astype(np.float32), coloraxis="coloraxis", hovertemplate=hover, xgap=1, ygap=1, name="lens",
        customdata=[[_chances(*cell) for cell in zip(*row, strict=True)] for row in zip(guessed, shares, strict=True)],
        hovertext=[[theme.percent(share) for share in row] for row in values],
    )  # fmt: skip
    three = len(record.tokens) <= SHORT
    if len(record.texts) <= READABLE:
        texts = (
            [[_stacked(cell[: 3 if three else 1]) for cell in row] for row in guessed] if own else _last_one(guessed, values)
        )
        heat.update(text=texts, texttemplate="%{text}", textfont={"size": 14})
    apart = f"differ by {record.gap:.0e} at most" if record.gap else "are the same numbers"
    guess = "the three most probable tokens" if three else "the most probable token"
    cells = f"in each cell {guess}" if own else "in each row how probable the token of its last cell is after each layer"
    return go.Figure(heat).update_layout(
        title=theme.title(
            f"If {theme.label(titled(record.model))} ended here",
            f"{cells}; strong: near 100%",
            theme.unseen_note(record.tokens),
        ),
        **theme.measured(f"the last layer's logits and the model's own {apart}"),
        xaxis=theme.named_axis(list(record.named), side="top"),
        yaxis=theme.downwards(record.tokens),
        coloraxis={"cmin": 0, "cmax": 1},
        height=int(min(1200, (58 if three and own else 26) * max(len(record.tokens), 8))),
    )


def _last_one(guessed: Sequence[Sequence[Sequence[str]]], values: np.ndarray) -> list[list[str]]:
    """How probable the token of the last column is in each other one."""
    return [
        [*(theme.percent(share) for share in shares), _stacked(row[-1][:1])]
        for shares, row in zip(values[:, :-1], guessed, strict=True)
    ]


def _stacked(guesses: Sequence[str]) -> str:
    """The guesses of a cell below each other, the first one larger."""
    first, *others = (theme.printable(theme.plain(text)) for text in guesses)
    return "<br>".join([first, *(f"<span style='font-size:12px'>{text}</span>" for text in others)])


def _chances(guesses: Sequence[str], shares: np.ndarray) -> str:
    """The guesses of a cell with their probabilities."""
    return ", ".join(f"<b>{theme.label(text)}</b> {theme.percent(share)}" for text, share in zip(guesses, shares, strict=True))


def slopes(record: Gradient, *, layer: int) -> go.Figure:
    """One prediction, and measures of what it depends on: gradient × input, integrated gradients where they were computed, and the
    attention of its row in one layer.

    A positive bar says that a longer input vector of this token makes the answer more probable, a negative one less probable; each
    kind of bars is scaled to a maximum of 1. Integrated gradients average the slope on the straight line to the input from a baseline
    (every position holds the mean vector); unscaled, they sum to the difference of ln P.

    You may conclude whether the measures agree for this prediction. You may not conclude that any is the reason: the gradient is the
    slope at one point, integrated gradients depend on the baseline, and attention weights ignore the values.
    """
    figure = go.Figure()
    accounts = [("gradient × input", record.values), (f"attention, layer {layer}", record.attention[layer])]
    accounts += [] if record.integrated is None else [("integrated gradients", record.integrated)]
    for number, (name, values) in enumerate(accounts):
        longest = float(np.abs(values).max()) or 1.0
        figure.add_trace(
            go.Bar(x=list(range(len(values))), y=values / longest, customdata=values, name=name, meta=number,
                   hovertemplate="<b>%{x}</b><br>%{customdata:.4g}<extra></extra>")
        )  # fmt: skip
    share = theme.percent(np.exp(record.logp))
    prediction = f"the model predicts “{theme.label(record.piece)}” at position {record.row} with probability {share}"
    notes = (prediction, _added(record), theme.unseen_note(record.tokens))
    return figure.update_layout(
        title=theme.title("Gradient and attention", *notes),
        xaxis={**theme.token_axis(record.tokens), "tickangle": -60},
        yaxis={"range": [-1.05, 1.05], "zeroline": True, "title": "scaled to a maximum of 1"},
        barmode="group",
        height=270,
    )


def _added(record: Gradient) -> str:
    """What integrated gradients sum to, beside what they should."""
    if record.integrated is None:
        return ""
    here = round(record.logp, 2) + 0.0  # no minus before zero
    return (
        f"integrated gradients sum to {record.integrated.sum():.2f}; ln P is {here:.2f}, at the baseline {record.nothing:.2f}: "
        f"a difference of {record.logp - record.nothing:.2f}"
    )


def seen(record: Visibility) -> go.Figure:
    """Which token can see which, proved by gradients: how much each last hidden state changes when an embedding changes a little.
    Grey is exactly 0.

    The colour is the logarithm of the norm of a gradient. With a causal mask everything right of the diagonal is exactly zero,
    through all layers; in an encoder no cell is.

    You may conclude that a grey cell can never matter, whatever the weights. You may not conclude that a cell with a large gradient
    matters for a prediction: that also depends on the output layer.
    """
    shown = np.full(record.moved.shape, np.nan)
    np.log10(record.moved, out=shown, where=record.moved > 0)
    notes = (f"{int((record.moved == 0).sum())} of {record.moved.size} cells are exactly 0", theme.unseen_note(record.columns))
    figure = go.Figure(
        go.Heatmap(z=shown.astype(np.float32), coloraxis="coloraxis", hoverongaps=False, **theme.gaps(shown), name="log10",
                   hovertemplate="state of <b>%{y}</b>, token <b>%{x}</b><br>10^<b>%{z:.2f}</b><extra></extra>")
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title(f"What the last states of {theme.label(record.model)} depend on", *notes),
        **theme.token_axes(record.rows, record.columns),
        coloraxis={"cmin": float(np.nanmin(shown)), "cmax": float(np.nanmax(shown))},
        height=high(len(record.rows)),
    )


def habits(record: HeadStatistics, *, measure: str) -> go.Figure:
    """One measure for every head: rows are layers, columns heads, over all rows of all texts.

    *Sharpness* is 0 where a head has uniform weights and 1 where all weight is on one token; *distance* counts tokens; the others are
    attention weights. *From a pronoun to its antecedent* adds the weights from a pronoun to earlier mentions of the right entity, in
    stories with gold labels. Beside the title is the value of uniform attention.

    You may conclude which heads do the same thing in text after text, and how far above uniform attention. You may not conclude that
    a head with such a pattern is needed (ablate it in the lesson *What if* and look), nor that one with a large value finds what a
    pronoun means: it may only prefer nouns, or the first name of a story. The largest of many values is partly the largest by chance:
    choose a head on some texts and measure it on others.
    """
    values = record.measures[measure]
    figure = go.Figure(
        go.Heatmap(z=values.astype(np.float32), coloraxis="coloraxis", xgap=1, ygap=1, texttemplate="%{z:.2f}", name=measure,
                   hovertemplate="layer %{y}, head %{x}<br><b>%{z:.4g}</b><extra></extra>")
    )  # fmt: skip
    layer, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
    even = f"; uniform attention has {round(record.even[measure], 2) + 0.0:.2f}" if measure in record.even else ""
    note = f"Head {head} of layer {layer} has the largest value, {np.nanmax(values):.2f}{even}."
    whole = {"tickmode": "linear", "dtick": 1, "showgrid": False}
    return figure.update_layout(
        title=theme.title(measure, note),
        **theme.measured(f"{theme.label(record.model)}, {record.stream}, {record.texts} texts"),
        xaxis={**whole, "title": "head"},
        yaxis={**whole, "title": "layer", "autorange": "reversed"},
        **theme.colours(values, signed=False),
        height=70 + 44 * len(values),
    )


def streams(trace: Trace, *, own: bool = False) -> tuple[str, ...]:
    """The streams of a trace that hold attention; `own` leaves out cross-attention."""
    return tuple(dict.fromkeys(a.stream for a in trace.attention if not (own and a.stream == "cross")))


def head_controls(trace: Trace, *nothing: str) -> Mapping[str, Control]:
    """Which attention (encoder, decoder or cross), the token whose row is framed, and a head."""
    names = streams(trace)
    heads = Choice("Head", (*nothing, *named_heads(trace, names[0])))
    return {"stream": Choice("Attention", names), "token": _named_rows(trace, names[0]), "head": heads}


def _named_rows(trace: Trace, stream: str) -> Choice:
    """The tokens that attend in a stream, with their positions; none where so many heads have no room for words."""
    heads, texts = (
        sum(attention.heads for attention in trace.attention if attention.stream == stream),
        trace.axes(stream)[0].texts,
    )
    rows = [_named_row(text, n) for n, text in enumerate(texts)] if heads <= MANY and len(texts) <= TILE else []
    first = next((name for name, text in zip(rows, texts, strict=False) if text.strip("·▁Ġ ").lower() == FIRST), NOBODY)
    return Choice("Token to follow", (NOBODY, *rows), first)


def _named_row(text: str, row: int) -> str:
    return f"{theme.plain(text)} ({row})"


def _row_of(trace: Trace, stream: str, token: str) -> int | None:
    """The row of a token that was chosen; None where there is none of that name in this stream."""
    rows = [_named_row(text, n) for n, text in enumerate(trace.axes(stream)[0].texts)]
    return rows.index(token) if token in rows else None


def sum_controls(trace: Trace) -> Mapping[str, Control]:
    """Which attention, how heads are combined, and whether tokens are joined to words and special tokens shown."""
    return {
        "stream": Choice("Attention", streams(trace, own=True)),
        "way": Choice("Combined by", tuple(WAYS)),
        "words": Toggle("Words instead of tokens"),
        "special": Toggle("Special tokens", True),
    }


is_lens = only(Lens, "ex.lens(model, text) makes")
is_gradient = only(Gradient, "ex.gradient(model, text) makes")
is_head_statistics = only(HeadStatistics, "ex.head_statistics(model, texts) makes")
VIEWS = by_name(
    View("glance", "All heads of all layers", glance, has_attention, lambda trace: head_controls(trace, NO_HEAD)),
    View("enlarged", "One head, large", enlarged, has_attention, head_controls),
    View("together", "Heads combined", together, has_attention, sum_controls),
    View(
        "lens",
        "The logit lens",
        through,
        is_lens,
        lambda record: {"shown": Choice("Probability of", ("its own guess", "the last layer's"))},
    ),
    View(
        "gradient",
        "Gradients beside attention",
        slopes,
        is_gradient,
        lambda record: {"layer": Choice("Layer", tuple(range(len(record.attention))), ordered=True)},
    ),
    View("visibility", "Who can see whom", seen, only(Visibility, "ex.visibility(model, text) makes")),
    View(
        "habits",
        "Patterns of heads",
        habits,
        is_head_statistics,
        lambda record: {"measure": Choice("Measure", tuple(record.measures))},
    ),
)
