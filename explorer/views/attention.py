"""Pictures of attention: which token attends to which, at every stage from scores to weights."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import STAGES, Attention, Tokens, Trace
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, also, by_name, only

TITLES = {
    "scores": "q·k",
    "scaled": "q·k ÷ √dₖ",
    "capped": "kept below a cap",
    "biased": "plus position bias",
    "masked": "forbidden = −∞",
    "weights": "softmax",
}


def matrix(trace: Trace, *, layer: str, head: int, stage: str) -> go.Figure:
    """The attention of one head: one row for each query, one column for each key.

    Read it row by row: the token on the left (the query) attends to the tokens above (the keys). In the last stage the weights of a
    row sum to 1. Grey cells are forbidden by the mask. Point at a cell for its formula with its numbers.

    You may conclude how this head distributes its attention in this text. You may not conclude that a large weight is *why* the model
    answers as it does: the values, the other heads and the layers above also decide.
    """
    attention = trace.attention[place_number(trace, layer)]
    rows, columns = trace.axes(attention.stream)
    values = attention.stage(stage, head)
    shown = np.where(np.isfinite(values) & attention.allowed, values, np.nan) if stage in ("masked", "weights") else values
    signed = stage != "weights"
    notes = (f"{_what(attention, stage)} · each row attends to the columns", *remarks(attention, rows, columns), *trace.notes)
    notes = (*notes, habit(attention, head, rows))
    figure = go.Figure(
        go.Heatmap(
            z=shown.astype(np.float32),
            coloraxis="coloraxis2" if signed else "coloraxis3",
            customdata=operands_of(attention, head, stage),
            hovertemplate=formula_of(attention, stage),
            hoverongaps=False,
            **theme.gaps(shown),
            name=stage,
        )
    )
    return figure.update_layout(
        title=theme.title(f"{layer}, head {head}: {stage}", *notes),
        **theme.token_axes(rows, columns),
        **stage_colours(attention, head, stage),
        height=high(len(rows)),
    )


def heads(trace: Trace, *, layer: str) -> go.Figure:
    """Each small matrix holds the attention weights of one head: rows are queries, columns keys.

    Both are in the order of the text; all matrices share one colour scale, from 0 to 1. Point at a cell for the two
    tokens and the weight. Look for patterns: a diagonal (each token attends to itself), a line beside it (to its neighbour), a full
    column (all attend to one position).

    You may conclude that the heads distribute their attention differently. You may not conclude what a head is *for*: one text is one
    case, and a pattern seen here may be a coincidence.
    """
    attention = trace.attention[place_number(trace, layer)]
    rows, columns = trace.axes(attention.stream)
    across = 2 if attention.heads <= 4 else 4
    down = math.ceil(attention.heads / across)
    names = [f"head {head}" for head in range(attention.heads)]
    figure = make_subplots(down, across, subplot_titles=names, horizontal_spacing=0.03, vertical_spacing=0.25 / down / 2)
    for head in range(attention.heads):
        shown = np.where(attention.allowed, attention.weights[head], np.nan).astype(np.float32)
        hover = f"head {head}: <b>%{{y}}</b> → <b>%{{x}}</b><br><b>%{{z:.4g}}</b><extra></extra>"
        heat = go.Heatmap(z=shown, coloraxis="coloraxis3", hovertemplate=hover, hoverongaps=False, name=f"head {head}")
        figure.add_trace(heat, row=head // across + 1, col=head % across + 1)
    quiet = {"showticklabels": False, "automargin": False, "ticks": "", "showline": True, "mirror": True}
    figure.update_xaxes(**{**theme.token_axis(columns), **quiet})
    figure.update_yaxes(**{**theme.token_axis(rows), **quiet, "range": [len(rows) - 0.5, -0.5]})
    notes = ("each row attends to the columns", *remarks(attention, rows, columns))
    title = theme.title(f"{layer}: all {attention.heads} heads", *notes)
    return figure.update_layout(title=title, height=250 * down, **theme.colours_of_weights())


def high(rows: int, least: int = 8) -> int:
    """How many pixels a matrix with so many rows of tokens is high."""
    return min(1000, 27 * max(rows, least))


def remarks(attention: Attention, rows: Tokens, columns: Tokens) -> tuple[str, str]:
    """What a reader of the picture needs to know: what was edited, and which tokens the model never saw in training."""
    edited = "; ".join(edit.label for edit in attention.edited)
    return f"edited: {edited}" if edited else "", theme.unseen_note(rows) or theme.unseen_note(columns)


def habit(attention: Attention, head: int, rows: Tokens) -> str:
    """A warning where most attention goes to one position, or is almost uniform; empty for other heads."""
    weights, seen = attention.weights[head].astype(np.float64), attention.allowed.sum(axis=1)
    free = seen > 2  # rows with more than two keys
    if free.sum() < 3 or attention.stream == "cross":
        return ""
    key = int(weights[free].mean(axis=0).argmax())
    if weights[free].mean(axis=0)[key] > 0.6:
        return f"attention sink: on average {weights[free].mean(axis=0)[key]:.0%} of the weight is on position {key}"
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(axis=1)
    return "the attention of this head is almost uniform" if (entropy[free] / np.log(seen[free])).mean() > 0.98 else ""


def _what(attention: Attention, stage: str) -> str:
    """A stage in a few words; the factor is the one that was used."""
    width = 0 if attention.q is None else attention.q.shape[-1]
    divided = width and abs(attention.scale - width**-0.5) < 1e-6
    return f"q·k × {attention.scale:.3g}" if stage == "scaled" and not divided else TITLES[stage]


def place(attention: Attention) -> str:
    """Which attention this is, in words: its stream and its layer."""
    return f"{attention.stream} layer {attention.layer}"


def place_number(trace: Trace, layer: str) -> int:
    """The index of the attention with this name."""
    return [place(attention) for attention in trace.attention].index(layer)


def choices(trace: Trace) -> Mapping[str, Control]:
    """Which layer, which head, which stage."""
    first = trace.attention[0]
    absent = {"capped": first.softcap is None, "biased": first.bias is None}
    stages = tuple(stage for stage in STAGES[:6] if not absent.get(stage))
    return {
        "layer": Choice("Layer", tuple(place(attention) for attention in trace.attention)),
        "head": Range("Head", 0, first.heads - 1),
        "stage": Choice("Stage", stages if first.q is not None else ("weights",), "weights"),
    }


is_trace = only(Trace, "ex.trace(model, text) makes")
has_attention = also(
    is_trace, lambda trace: trace.attention, "this trace holds no attention. Trace with the layers that you want to see."
)


def stage_colours(attention: Attention, head: int, stage: str) -> dict[str, object]:
    """One scale for q·k, ÷√dₖ, bias and mask of a head, so that dividing is seen; and one for all weights."""
    if stage == "weights" or attention.q is None:
        return theme.colours_of_weights()
    return theme.colours(np.stack([attention.stage(name, head) for name in ("scores", "biased")]), signed=True)


def operands_of(attention: Attention, head: int, stage: str) -> np.ndarray:
    """The operands of each cell's formula: the stage before and, for the weights, the sum of the row."""
    before = {"scaled": "scores", "capped": "scaled", "biased": "scaled", "masked": "biased", "weights": "masked"}.get(stage)
    if before is None or attention.q is None:
        return np.zeros((*attention.allowed.shape, 1), np.float32)
    first = attention.stage(before, head)
    first = np.where(np.isfinite(first), first, 0)  # forbidden cells have no formula
    if stage == "biased" and attention.bias is not None:
        return np.stack([first, attention.bias[head]], axis=-1).astype(np.float32)
    if stage != "weights":
        return first[..., None].astype(np.float32)
    # In 64 bits, because e to the power of 90 is too large for 32.
    total = np.where(attention.allowed, np.exp(first.astype(np.float64)), 0).sum(axis=1, keepdims=True)
    return np.stack([first, np.broadcast_to(total, first.shape)], axis=-1)


def formula_of(attention: Attention, stage: str) -> str:
    """The hover text of a cell: its formula with its operands, as `operands_of` gives them."""
    pair = "<b>%{y}</b> → <b>%{x}</b><br>"
    value = "<b>%{z:.4g}</b><extra></extra>"
    if attention.q is None:
        return pair + value
    body = {
        "scores": f"q · k, a sum over {attention.q.shape[-1]} products = ",
        "scaled": f"%{{customdata[0]:.4g}} × {attention.scale:.4g} = ",
        "capped": f"{attention.softcap} · tanh(%{{customdata[0]:.4g}} / {attention.softcap}) = ",
        "biased": "%{customdata[0]:.4g} + %{customdata[1]:.4g} = " if attention.bias is not None else "no bias is added: ",
        "masked": "allowed by the mask, unchanged: ",
        "weights": "exp(%{customdata[0]:.4g}) / %{customdata[1]:.4g} = ",
    }
    return pair + body[stage] + value


def layer_choice(trace: Trace) -> Mapping[str, Control]:
    """Which layer."""
    return {"layer": choices(trace)["layer"]}


VIEWS = by_name(
    View("attention", "One head, stage by stage", matrix, has_attention, choices),
    View("heads", "All heads of a layer", heads, has_attention, layer_choice),
)
