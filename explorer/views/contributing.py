"""The weight of each token beside the length of what it contributes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Contribution, Contributions, Tokens
from explorer.views import theme
from explorer.views.attention import high
from explorer.views.view import Choice, Control, Range, Toggle, View, by_name, only

SHARE, LENGTH = "share of the row", "length"


def contributions(record: Contributions, *, layer: str, head: int, every: bool, shows: str) -> go.Figure:
    """Left, the attention weight α of each token. Right, the length of the vector that it contributes, ‖α·v·W_O‖: the value of the token
    times the head's part of the output matrix, times the weight. *Share of the row* divides by the sum of the row, so that both sides
    sum to 1. The value v holds the bias of W_V; the bias of W_O belongs to no token. *All heads*: left the mean of the weights, right
    the length of the sum of the vectors.

    You may conclude from which tokens the output of this attention is made, by size: a large weight on a token with a small value vector
    contributes little. You may not conclude which token decides the prediction: vectors may cancel each other, and the residual connection
    and later layers also count.
    """
    contribution = record.layers[layers_of(record).index(layer)]
    rows, columns = record.axes(contribution.stream)
    weights, lengths = (
        (contribution.weights.mean(0), contribution.together) if every else (contribution.weights[head], contribution.of(head))
    )
    drawn = shares(lengths) if shows == SHARE else lengths
    figure = make_subplots(1, 2, subplot_titles=_names(every), horizontal_spacing=0.02, shared_yaxes=True)
    operands = np.stack([weights, np.broadcast_to(contribution.handed[head], weights.shape), lengths], -1).astype(np.float32)
    for column, (values, colours) in enumerate(
        ((weights, "coloraxis3"), (drawn, "coloraxis3" if shows == SHARE else "coloraxis"))
    ):
        shown = np.where(contribution.allowed, values, np.nan).astype(np.float32)
        figure.add_trace(
            go.Heatmap(z=shown, coloraxis=colours, customdata=operands, hovertemplate=_hover(every, column, shows), hoverongaps=False,
                       **theme.gaps(shown), name=_names(every)[column]),
            row=1, col=1 + column,
        )  # fmt: skip
    notes = (f"{layer}, {'all heads' if every else f'head {head}'}", _most(weights, lengths, columns), theme.unseen_note(rows))
    figure.update_xaxes(**theme.token_axis(columns), tickangle=-60, side="bottom")
    figure.update_yaxes(**theme.downwards(rows))
    colours_used = theme.colours_of_weights() if shows == SHARE else theme.colours(lengths, signed=False)
    figure.update_layout(title=theme.title("Weight and contribution", *notes), height=high(len(rows), 10), **colours_used)
    if shows == LENGTH:
        figure.update_layout(coloraxis3={"cmin": 0, "cmax": 1, "showscale": False})
    return figure


def _names(every: bool) -> tuple[str, str]:
    return ("mean of α over the heads", "‖Σ α·v·W_O‖ over the heads") if every else ("weight α", "contribution ‖α·v·W_O‖")


def _hover(every: bool, column: int, shows: str) -> str:
    """A cell with its formula; the right one says the length and, where it is drawn, the share."""
    pair = "<b>%{y}</b> → <b>%{x}</b><br>"
    if not column:
        return pair + ("mean " if every else "") + "α = <b>%{z:.4g}</b><extra></extra>"
    formula = "length of the sum over all heads = " if every else "α · ‖v·W_O‖ = %{customdata[0]:.4g} · %{customdata[1]:.4g} = "
    return (
        pair
        + formula
        + "<b>%{customdata[2]:.4g}</b>"
        + ("<br>%{z:.1%} of the row" if shows == SHARE else "")
        + "<extra></extra>"
    )


def shares(lengths: np.ndarray) -> np.ndarray:
    """Each row divided by its sum."""
    total = lengths.sum(-1, keepdims=True)
    return lengths / np.where(total > 0, total, 1)


def _most(weights: np.ndarray, lengths: np.ndarray, columns: Tokens) -> str:
    """What the token with the largest mean weight contributes."""
    key = int(weights.mean(0).argmax())
    return (
        f"“{theme.label(columns.texts[key])}” at position {key} has {weights.mean(0)[key]:.0%} of the weight and "
        f"{shares(lengths).mean(0)[key]:.0%} of the contributions"
    )


def place(contribution: Contribution) -> str:
    """Which attention this is, in words: its stream and its layer."""
    return f"{contribution.stream} layer {contribution.layer}"


def layers_of(record: Contributions) -> list[str]:
    """The layers by name."""
    return [place(contribution) for contribution in record.layers]


def choices(record: Contributions) -> Mapping[str, Control]:
    """Which layer and head, one or all, and in which unit."""
    return {
        "layer": Choice("Layer", tuple(layers_of(record))),
        "head": Range("Head", 0, len(record.layers[0].weights) - 1),
        "every": Toggle("All heads"),
        "shows": Choice("Contribution as", (SHARE, LENGTH)),
    }


is_contributions = only(Contributions, "ex.analysis.contributions(model, text) makes")
VIEWS = by_name(View("contributions", "Weight and contribution", contributions, is_contributions, choices))
