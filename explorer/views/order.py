"""What a model notices when the order of the tokens changes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Shuffle
from explorer.views import theme
from explorer.views.attention import high
from explorer.views.view import Choice, Control, Range, View, by_name, only

ROUNDING = 1e-4  # of a state's length: a smaller change is one of the arithmetic
WAYS = {"with": "with positions", "without": "without positions"}


def order(record: Shuffle) -> go.Figure:
    """Each cell: how much the hidden state of a token changed when the tokens of the text were shuffled, relative to its length.

    Rows are layers, columns are tokens in the order of the text (the shuffled states are sorted back first). Above with positions,
    below without. The states of an encoder without positions change only by rounding: it cannot use the order. In a decoder only the
    last token can be compared (it keeps its position and sees the same tokens, shuffled): without positions its state after the first
    layer is the same, but not after the second, because by then each earlier token has seen different tokens.

    You may conclude whether this model can distinguish the two orders. You may not conclude that it uses the order well.
    """
    height = 60 + 30 * len(record.moved["with"])
    figure = make_subplots(2, 1, subplot_titles=tuple(WAYS.values()), vertical_spacing=0.22, shared_xaxes=True)
    top = max(float(np.nanmax(values)) for values in record.moved.values())
    for number, (name, way) in enumerate(WAYS.items()):
        values = record.moved[name]
        heat = go.Heatmap(
            z=values.astype(np.float32), coloraxis="coloraxis", hoverongaps=False, **theme.gaps(values), name=way,
            text=[[_short(value) for value in row] for row in values],
            texttemplate="%{text}" if len(record.tokens) <= 16 else None, textfont={"size": 12},
            hovertemplate="%{y}, <b>%{x}</b><br>changed by <b>%{z:.2g}</b> of its length<extra></extra>",
        )  # fmt: skip
        figure.add_trace(heat, row=number + 1, col=1)
    states = ["input embeddings", *(f"after layer {n}" for n in range(len(record.moved["with"]) - 1))]
    figure.update_xaxes(**theme.token_axis(record.tokens), tickangle=-60)
    figure.update_yaxes(theme.named_axis(states, down=True))
    without = np.nanmax(record.moved["without"])
    said = f"{without:.1g}" if without > ROUNDING else f"≈ 0 ({without:.0e}: rounding)"
    notes = (
        f"largest change: {top:.2g} with positions, {said} without",
        _new_order(record),
        theme.unseen_note(record.tokens),
    )
    colours = {"coloraxis": {"cmin": 0, "cmax": top}}
    heading = theme.title(f"Another order: {theme.printable(record.model)}, {record.family}", *notes)
    return figure.update_layout(title=heading, height=2 * height + 40, **colours)


def followed(record: Shuffle, *, positions: str, layer: int, head: int) -> go.Figure:
    """The attention of one head on the original text (left) and on the shuffled text (right), sorted back so that the tokens line up.

    Without positions the two pictures of an encoder are the same: attention follows the tokens wherever they are. With positions they
    differ, because attention also depends on the position. In a decoder the causal mask also changes which tokens are visible to
    which.

    You may conclude how much this head attends by content and how much by position, in this text. You may not conclude that it
    does so in other texts: this is one shuffle.
    """
    kept = "with" if positions == WAYS["with"] else "without"
    both = record.weights[kept][:, layer, head]
    titles = ("original order", "shuffled, sorted back")
    figure = make_subplots(1, 2, subplot_titles=titles, horizontal_spacing=0.02, shared_yaxes=True)
    for number, weights in enumerate(both):
        heat = go.Heatmap(
            z=weights, coloraxis="coloraxis", **theme.gaps(weights), name=titles[number],
            hovertemplate="<b>%{y}</b> → <b>%{x}</b> <b>%{z:.4g}</b><extra></extra>",
        )  # fmt: skip
        figure.add_trace(heat, row=1, col=number + 1)
    count = len(record.tokens)
    figure.update_xaxes(**theme.token_axis(record.tokens), tickangle=-60)
    figure.update_yaxes(**theme.downwards(record.tokens))
    gap = float(np.abs(both[1] - both[0]).max())
    notes = (f"layer {layer}, head {head} · largest difference {gap:.2g}", theme.unseen_note(record.tokens))
    colours = {"coloraxis": {"cmin": 0, "cmax": float(both.max())}}
    heading = theme.title(f"Attention of {theme.printable(record.model)} {positions}", *notes)
    return figure.update_layout(title=heading, height=high(count, 10), **colours)


def _short(value: float) -> str:
    """A number with one digit that fits into a cell: 0.9, 1e-6; nothing where there is none."""
    if not np.isfinite(value):
        return ""
    return f"{value:.0e}".replace("e-0", "e-") if 0 < abs(value) < 1e-3 else f"{value:.1g}"


def _new_order(record: Shuffle) -> str:
    words = " ".join(theme.label(record.tokens.texts[i]) for i in record.order[:14])
    return f"read as: {words}{' …' if len(record.order) > 14 else ''}"


def follow_choices(record: Shuffle) -> Mapping[str, Control]:
    """With or without positions, which layer, which head."""
    _, layers, heads, *_ = record.weights["with"].shape
    return {
        "positions": Choice("Positions", tuple(WAYS.values()), WAYS["without"]),
        "layer": Range("Layer", 0, layers - 1),
        "head": Range("Head", 0, heads - 1),
    }


is_shuffle = only(Shuffle, "ex.shuffle(model, text) makes")


VIEWS = by_name(
    View("order", "The same tokens in another order", order, is_shuffle),
    View("order-attention", "Attention in another order", followed, is_shuffle, follow_choices),
)
