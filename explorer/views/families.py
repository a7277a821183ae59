"""The same weights under other masks: what is visible, what is attended to, and the loss of the text."""

from __future__ import annotations

from collections.abc import Mapping
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import HeldLosses, Tokens, Trace, UnderMasks
from explorer.records.families import MASKS, OWN
from explorer.views import theme
from explorer.views.attention import place
from explorer.views.view import Choice, Control, Range, View, by_name, only

EVERY, LATER = "every position", "the second half"
BARS = 230  # pixels for the bars below the two matrices
TONES = 33  # colours of a weight


def under(record: UnderMasks, *, mask: str, layer: str, head: int) -> go.Figure:
    """Left: which token may attend to which (the mask); right: the attention weights of one head under it. The model's weights are the
    same under every mask.

    Below: the loss of each token (−log P, in nats: the higher, the worse) under the model's own mask and under the chosen one. A
    decoder predicts the next token, an encoder the token that is masked. Rows attend to columns; grey cells are masked out.

    You may conclude that weights fit only the mask that they were trained with: change it, and every row mixes hidden states of a
    kind that it never saw in training. You may not conclude that another mask is worse in general: a model that is trained with it
    can be as good.
    """
    trace = record.traces[mask]
    attention = next(a for a in trace.attention if place(a) == layer)
    rows, columns = trace.axes(attention.stream)
    titles = (f"mask: {mask}", "attention weights", "loss of each token")
    side, names = 24 * max(len(rows), 8), 7 * max(len(theme.label(text)) for text in columns.texts) + 60
    heights = [side, BARS]
    figure = make_subplots(
        2, 2, specs=[[{}, {}], [{"colspan": 2}, None]], subplot_titles=titles, shared_yaxes=True, horizontal_spacing=0.03,
        row_heights=heights, vertical_spacing=names / (side + BARS + names),
    )  # fmt: skip
    figure.add_trace(_seen(attention.allowed), row=1, col=1)
    figure.add_trace(_looked(attention.weights[head], attention.allowed), row=1, col=2)
    for number, name in enumerate(dict.fromkeys((OWN, mask))):
        figure.add_trace(_bar(record, name, number), row=2, col=1)
    notes = (*(_mean(record, name) for name in dict.fromkeys((OWN, mask))), f"{layer}, head {head}", theme.unseen_note(rows))
    for number in (1, 2):
        figure.update_xaxes(**theme.token_axis(columns), tickangle=-60, row=1, col=number)
        figure.update_yaxes(**theme.downwards(rows), row=1, col=number)
    figure.update_yaxes(showticklabels=False, row=1, col=2)
    figure.update_xaxes(**theme.token_axis(record.wanted), tickangle=-60, row=2, col=1)
    figure.update_yaxes(title="nats", rangemode="tozero", row=2, col=1)
    return figure.update_layout(
        title=theme.title(f"{theme.label(record.model)} under the mask “{mask}”", *notes),
        coloraxis={"cmin": 0, "cmax": 1, "showscale": False}, coloraxis2={"cmin": -1, "cmax": 1, "showscale": False},
        height=side + BARS + names, barmode="group",
    )  # fmt: skip


def _seen(allowed: np.ndarray) -> go.Heatmap:
    """The mask as a picture."""
    shown = np.where(allowed, 0.7, np.nan).astype(np.float32)
    return go.Heatmap(
        z=shown, coloraxis="coloraxis2", hoverongaps=False, **theme.gaps(shown), name="mask",
        hovertemplate="<b>%{y}</b> may attend to <b>%{x}</b><extra></extra>",
    )  # fmt: skip


def _looked(weights: np.ndarray, allowed: np.ndarray) -> go.Heatmap:
    """The attention weights of one head."""
    shown = np.where(allowed, weights, np.nan).astype(np.float32)
    return go.Heatmap(
        z=shown, coloraxis="coloraxis", hoverongaps=False, **theme.gaps(shown), name="weights",
        hovertemplate="<b>%{y}</b> → <b>%{x}</b><br><b>%{z:.4g}</b><extra></extra>",
    )  # fmt: skip


def _bar(record: UnderMasks, name: str, number: int) -> go.Bar:
    """The loss of every token under one mask."""
    losses = record.losses[MASKS.index(name)]
    return go.Bar(
        x=np.arange(len(losses)), y=losses, name=f"mask: {name}", meta=number, customdata=np.exp(-losses),
        hovertemplate=f"mask: {name}<br><b>%{{x}}</b><br>−log %{{customdata:.3g}} = <b>%{{y:.3f}}</b><extra></extra>",
    )  # fmt: skip


def _means(record: UnderMasks, name: str) -> tuple[float, float]:
    """The mean loss under a mask, and under the model's own."""
    return float(record.losses[MASKS.index(name)].mean()), float(record.losses[MASKS.index(OWN)].mean())


def _mean(record: UnderMasks, name: str) -> str:
    """The mean loss in words."""
    mean, own = _means(record, name)
    called, before = ("its own mask", "") if name == OWN else (f"mask “{name}”", f" instead of {own:.2f}")
    return f"{called}: mean loss {mean:.2f}{before}, perplexity {np.exp(mean):.3g}"


def _moved(record: UnderMasks, name: str) -> str:
    """What a mask does to the mean loss, in a sentence."""
    mean, own = _means(record, name)
    if f"{mean:.2f}" == f"{own:.2f}":
        return f"The mean loss of this text is {own:.2f}"
    return f"The mean loss of this text {'rises' if mean > own else 'falls'} from {own:.2f} to {mean:.2f}"


def mask_frames(record: UnderMasks, mode: str, *, layer: str, head: int) -> dict[str, Any]:
    """Every mask as a frame: the attention weights of one head under it, and beside each row the loss of the token that it predicts."""
    rows, columns = record.traces[OWN].axes(record.stream)
    weights = [_weights(record.traces[mask], layer, head) for mask in MASKS]
    named = {"figure": "masks", "label": "Mask", "unit": "mask", "rows": _texts(rows), "columns": _texts(columns)}
    return named | {
        "frames": [_frame(record, mask, weights) for mask in MASKS],
        "weights": [[[None if np.isnan(w) else round(float(w), 3) for w in row] for row in matrix] for matrix in weights],
        "wanted": _texts(record.wanted),
        "places": _places(record, rows),
        "losses": record.losses.astype(float).round(3).tolist(),
        "colours": theme.sequential_colours(np.linspace(0, 1, TONES), mode),
    }


def _weights(trace: Trace, layer: str, head: int) -> np.ndarray:
    """The attention weights of a head; NaN where the mask hides a token."""
    attention = next(a for a in trace.attention if place(a) == layer)
    return np.where(attention.allowed, attention.weights[head], np.nan)


def _frame(record: UnderMasks, mask: str, weights: list[np.ndarray]) -> dict[str, Any]:
    """A mask in words: the mean loss, and the cells in which it differs from the model's own."""
    hidden = dict(zip(MASKS, (np.isnan(each) for each in weights), strict=True))
    own, now = hidden[OWN], hidden[mask]
    called = next((f", the {name} one" for name in MASKS[1:] if np.array_equal(own, hidden[name])), "")
    under = f"its own mask{called}" if mask == OWN else f"the mask “{mask}”"
    counts = {"more": int((own & ~now).sum()), "fewer": int((now & ~own).sum())}
    changed = ", ".join(f"{count} {which} cells may be read" for which, count in counts.items() if count)
    same = mask != OWN and np.array_equal(own, now)
    notes = (
        _moved(record, mask), "this is its own mask" if same else changed,
        theme.unseen_note(record.traces[OWN].axes(record.stream)[0]),
    )  # fmt: skip
    return {"title": f"{theme.visible(record.model)} under {under}", "notes": [note for note in notes if note], "same": same}


def _texts(tokens: Tokens) -> list[str]:
    return [unescape(theme.label(text)) for text in tokens.texts]


def _places(record: UnderMasks, rows: Tokens) -> list[int]:
    """The row at which each token is predicted: an encoder's own, for the others the one before."""
    own = [n for n, special in enumerate(rows.special) if not special]
    return own if record.family == "encoder" and len(own) == len(record.wanted) else [*range(len(record.wanted))]


def held_out(record: HeldLosses, *, where: str) -> go.Figure:
    """The mean loss of unseen stories under each mask: one dot for each story (in the same order each time), and their mean.

    The dotted line is the loss of a uniform distribution over the vocabulary. Under the mask *prefix* the positions of the first half
    see each other, including the answers, and those of the second half see only what is before them: choose the second half, and no
    position can see its answer under *prefix* or *causal*.

    You may conclude how much these weights depend on their mask, on texts that training did not use. You may not conclude that a model
    trained with the other mask would do badly, nor anything about other models: choose one and look.
    """
    begin = record.prefix if where == LATER else 0
    means = record.means(begin)
    figure = go.Figure()
    for number, (name, values) in enumerate(zip(MASKS, means, strict=True)):
        figure.add_traces(_dots(name, values, number))
    chance = float(np.log(record.vocabulary))
    line = go.Scatter(
        x=[-0.5, len(MASKS) - 0.5], y=[chance] * 2, mode="lines", name=f"uniform: log {record.vocabulary:,} = {chance:.2f}", meta=6,
        line={"dash": "dot", "width": 2}, hovertemplate="<b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    figure.add_trace(line)
    notes = (
        f"{theme.label(record.model)}, {means.shape[1]} new stories, predicted at {where}",
        *(
            f"{name}: {values.mean():.2f}, perplexity {np.exp(values.mean()):.3g}"
            for name, values in zip(MASKS, means, strict=True)
        ),
    )
    return figure.update_layout(
        title=theme.title("Loss on new stories, by mask", *notes),
        xaxis=theme.named_axis(list(MASKS), title="mask"),
        yaxis={"title": "nats per token", "rangemode": "tozero"},
        height=330,
    )


def _dots(name: str, values: np.ndarray, number: int) -> list[go.Scatter]:
    """One dot for each text under one mask, side by side in the same order each time, and their mean."""
    aside = np.linspace(-0.32, 0.32, len(values)) if len(values) > 1 else np.zeros(1)
    same = {"meta": number, "showlegend": False, "hovertemplate": f"{name}: <b>%{{y:.3f}}</b><extra></extra>"}
    dots = {"x": number + aside, "mode": "markers", "marker": {"size": 7, "opacity": 0.6}}
    mean = {"x": [number - 0.4, number + 0.4], "mode": "lines", "line": {"width": 5}}
    return [
        go.Scatter(y=values, name=name, **dots, **same),
        go.Scatter(y=[values.mean()] * 2, name=f"{name}: mean", **mean, **same),
    ]


def under_choices(record: UnderMasks) -> Mapping[str, Control]:
    """Which mask, which layer, which head."""
    own_attention = [a for a in record.traces[OWN].attention if a.stream == record.stream]
    return {
        "mask": Choice("Mask", MASKS),
        "layer": Choice("Layer", tuple(place(a) for a in own_attention)),
        "head": Range("Head", 0, own_attention[0].heads - 1),
    }


is_under_masks = only(UnderMasks, "ex.analysis.under_masks(model, text) makes")
is_held_losses = only(HeldLosses, "ex.analysis.held_losses(model, texts) makes")
VIEWS = by_name(
    View("under-masks", "The same weights under other masks", under, is_under_masks, under_choices, mask_frames),
    View(
        "held-masks",
        "New stories under other masks",
        held_out,
        is_held_losses,
        lambda record: {"where": Choice("Predicted at", (EVERY, LATER))},
    ),
)
