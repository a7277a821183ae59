"""Attention without parameters, and one head under both masks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Trace
from explorer.views import theme
from explorer.views.attention import choices, has_attention, high, is_trace, place_number, remarks
from explorer.views.view import Choice, Control, Toggle, View, also, by_name

STAGES = {"x·x": "how similar two vectors are", "softmax": "the weights of each row", "Σ α x": "the new vectors"}


def simple(trace: Trace, *, stage: str, causal: bool) -> go.Figure:
    """Attention without weight matrices: the embeddings are queries, keys and values at once.

    The score of two tokens is the dot product of their vectors, a softmax turns each row into weights, and each token's new vector is
    the weighted sum of all vectors. With *causal mask* a token sees only itself and the tokens before it.

    You may conclude what attention does with unchanged vectors: mostly, tokens attend to themselves and to similar tokens.
    You may not conclude what a trained head does: its W_Q and W_K let a token attend to tokens unlike itself.
    """
    stream = next(iter(trace.hidden))
    x = trace.hidden[stream][0].astype(np.float64)  # [position, dim]
    tokens = trace.axes(stream)[0]
    seen = np.tril(np.ones((len(x), len(x)), bool)) if causal else np.ones((len(x), len(x)), bool)
    scores = np.where(seen, x @ x.T, np.nan)
    weights = shares(scores)
    drawn = {"x·x": scores, "softmax": weights, "Σ α x": np.nan_to_num(weights) @ x}[stage]
    hover = {
        "x·x": f"<b>%{{y}}</b> · <b>%{{x}}</b>, a sum of {x.shape[1]} products = ",
        "softmax": "<b>%{y}</b> → <b>%{x}</b> exp(%{customdata:.4g}) / the sum of its row = ",
        "Σ α x": "<b>%{y}</b>, dimension %{x}, the weighted sum of that dimension over all tokens =  ",
    }[stage]
    heat = go.Heatmap(
        z=drawn.astype(np.float32), customdata=np.nan_to_num(scores).astype(np.float32) if stage == "softmax" else None,
        coloraxis="coloraxis" if stage == "softmax" else "coloraxis2", hovertemplate=hover + "<b>%{z:.4g}</b><extra></extra>",
        hoverongaps=False, **theme.gaps(drawn), name=stage,
    )  # fmt: skip
    notes = (f"{stage}: {STAGES[stage]}", theme.unseen_note(tokens))
    figure = go.Figure(heat)
    named = stage != "Σ α x"
    features = {"title": "dimension", "showgrid": False, "tickangle": 0, "side": "top"}
    return figure.update_layout(
        title=theme.title("Attention without parameters", *notes),
        xaxis={**theme.token_axis(tokens), "side": "top", "tickangle": -60} if named else features,
        yaxis=theme.downwards(tokens),
        **theme.colours(drawn, signed=stage != "softmax"),
        height=high(len(tokens)),
    )


def shares(scores: np.ndarray) -> np.ndarray:
    """The softmax of each row of scores; NaN is masked and stays NaN."""
    powers = np.exp(scores - np.nanmax(scores, axis=1, keepdims=True))
    return powers / np.nansum(powers, axis=1, keepdims=True)


def masks(trace: Trace, *, stage: str, layer: str, head: int) -> go.Figure:
    """The same queries and keys of one head: left, every token sees every token; right, no token sees the ones after it.

    The scores below the diagonal are the same numbers; the causal mask sets those above it to −∞ (grey). After the softmax the rows
    differ, because each row sums to 1 over fewer tokens; only the last row is the same.

    You may conclude what the mask does to given queries and keys. You may not conclude that a model works well with the other mask:
    its queries and keys were trained with its own.
    """
    attention = trace.attention[place_number(trace, layer)]
    rows, columns = trace.axes(attention.stream)
    scaled = attention.stage("biased", head).astype(np.float64)
    names = ("no mask", "causal mask")
    figure = make_subplots(1, 2, subplot_titles=names, horizontal_spacing=0.02, shared_yaxes=True)
    full = np.ones(scaled.shape, bool)
    for number, seen in enumerate((full, np.tril(full))):
        scores = np.where(seen, scaled, np.nan)
        heat = go.Heatmap(
            z=(scores if stage == "scores" else shares(scores)).astype(np.float32), text=_printed(seen),
            texttemplate="%{text}" if len(rows) <= 9 else None, textfont={"size": 12},
            coloraxis="coloraxis2" if stage == "scores" else "coloraxis", hoverongaps=False, **theme.gaps(scores), name=names[number],
            hovertemplate="<b>%{y}</b> → <b>%{x}</b><br>%{text}: <b>%{z:.4g}</b><extra></extra>",
        )  # fmt: skip
        figure.add_trace(heat, row=1, col=number + 1)
    shades = (
        "blue: above 0, orange: below; grey: forbidden, −∞"
        if stage == "scores"
        else "strong: near 1, blank: 0; grey: forbidden, 0"
    )
    notes = (f"{layer}, head {head} · rows read columns · {shades}", *remarks(attention, rows, columns))
    figure.update_xaxes(**theme.token_axis(columns), tickangle=-60, side="bottom")
    figure.update_yaxes(**theme.downwards(rows))
    colours = theme.colours(scaled if stage == "scores" else np.ones(1), signed=stage == "scores")
    return figure.update_layout(
        title=theme.title("The same q and k under both masks", *notes), height=high(len(rows), 10), **colours
    )


def _printed(seen: np.ndarray) -> np.ndarray:
    """The cells as the lecture prints them: q₂·k₁, or −∞."""
    cells = [
        [f"q<sub>{i + 1}</sub>·k<sub>{j + 1}</sub>" if ok else "−∞" for j, ok in enumerate(line)] for i, line in enumerate(seen)
    ]
    return np.array(cells)


def simple_choices(trace: Trace) -> Mapping[str, Control]:
    """Which stage, and whether there is a causal mask."""
    causal = trace.family == "decoder"
    return {"stage": Choice("Stage", tuple(STAGES)), "causal": Toggle("Causal mask", causal)}


def mask_choices(trace: Trace) -> Mapping[str, Control]:
    """Which layer and head, and which stage."""
    offered = choices(trace)
    layers = tuple(name for name in offered["layer"].options if not name.startswith("cross"))  # type: ignore[union-attr]
    return {"stage": Choice("Stage", ("scores", "weights")), "layer": Choice("Layer", layers), "head": offered["head"]}


has_states = also(is_trace, lambda trace: trace.hidden, "this trace holds no states.")


has_scores = also(
    has_attention,
    lambda trace: trace.attention[0].q is not None,
    "this model gives only its attention weights, not its queries and keys.",
)


VIEWS = by_name(
    View("simple", "Attention without parameters", simple, has_states, simple_choices),
    View("masks", "One head under both masks", masks, has_scores, mask_choices),
)
