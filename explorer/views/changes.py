"""The effect of an edit: on the predictions of a text, on the attention below and above it, and part by part."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Change, Damage
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

MOST = 24  # positions that are shown
WHOLE = {"tickmode": "linear", "dtick": 1, "showgrid": False}


def edits_of(record: Change) -> str:
    """The edits in a few words."""
    return "; ".join(edit.label for edit in record.edits) or "nothing changed"


def predictions(record: Change) -> go.Figure:
    """How much the prediction at each position changed: the KL divergence in bits (0: not at all). The text beside a
    bar is the most probable token before and after, where it changed. The scale is the same for every edit: it reaches beyond the
    bits of a token about which nothing is known (log₂ |V|).

    For a causal model the bar at a token belongs to the prediction of the next token.

    You may conclude that this text's predictions need, or do not need, what was changed. You may not conclude that a part with small
    bars is useless: another part may do the same work, and other texts may need it.
    """
    rows = record.before.source if record.before.target is None else record.before.target
    first, second = record.before.top, record.after.top
    pairs = np.array(
        [[theme.label(a[0]), theme.label(b[0])] for a, b in zip(first.texts, second.texts, strict=True)]
        if first is not None and second is not None
        else [["", ""]] * len(rows)
    )
    other = pairs[:, 0] != pairs[:, 1]
    kept = np.sort(np.argsort(-np.nan_to_num(record.divergence), kind="stable")[:MOST])
    notes = (
        edits_of(record),
        f"the most probable token changed at {int(other.sum())} of {len(rows)} positions",
        f"the {len(kept)} of {len(rows)} positions that changed most" if len(kept) < len(rows) else "",
        theme.unseen_note(rows),
        *record.before.notes,
    )
    names = [theme.labels(rows)[place] for place in kept]
    figure = go.Figure(
        go.Bar(y=list(range(len(kept))), x=record.divergence[kept], orientation="h", customdata=pairs[kept], name="bits",
               text=[f"{a} → {b}" if moved else "" for (a, b), moved in zip(pairs[kept], other[kept], strict=True)], textposition="outside",
               textfont={"size": 13}, constraintext="none", cliponaxis=False,
               hovertemplate="<b>%{y}</b><br>%{x:.3f} bits<br>before: %{customdata[0]}<br>after: %{customdata[1]}<extra></extra>")
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title("How the predictions changed", *notes),
        yaxis=theme.downwards(rows) if len(kept) == len(rows) else theme.named_axis(names, down=True),
        xaxis={"title": "how far the prediction moved (KL, in bits)", "range": [0, 1.2 * _scale(record)]},
        height=22 * len(kept) + 20,
    )


def _scale(record: Change) -> float:
    """The end of the scale, the same for every edit: the bits of a token about which nothing is known, or what is larger."""
    return max(math.log2(record.before.outputs["lm"].shape[-1]), float(np.nanmax(record.divergence)))


def downstream(record: Change, *, stream: str) -> go.Figure:
    """The largest change of any attention weight in each head: rows are layers, columns are heads.

    In layers below the edit nothing can change, because a model computes from the first layer to the last; above it everything may.

    You may conclude which heads now attend elsewhere. You may not conclude that they caused the change of the predictions.
    """
    values = record.downstream(stream)
    figure = go.Figure(
        go.Heatmap(z=values.astype(np.float32), coloraxis="coloraxis", texttemplate="%{z:.2f}", xgap=1, ygap=1, name="largest change",
                   hovertemplate="layer %{y}, head %{x}<br><b>%{z:.4g}</b><extra></extra>")
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title(f"{stream}: how much the attention weights changed", edits_of(record)),
        xaxis={**WHOLE, "title": "head"},
        yaxis={**WHOLE, "title": "layer", "autorange": "reversed"},
        **theme.colours(values, signed=False),
        height=60 + 44 * len(values),
    )


def damages(record: Damage) -> go.Figure:
    """How much the predictions of this text change when one part is ablated (set to zero), in bits: every head, all heads of a layer,
    every sub-layer.

    The effects need not add up: of several heads that do the same work each can be removed, but not all at once.

    You may conclude which part matters most for this text. You may not conclude that the others do nothing, or that this part does
    the work alone: it may only pass on what others need.
    """
    values = np.concatenate([record.heads, record.whole[:, None], record.parts], axis=1)
    names = [*(f"head {n}" for n in range(record.heads.shape[1])), "all heads", *record.names]
    figure = go.Figure(
        go.Heatmap(z=values.astype(np.float32), coloraxis="coloraxis", texttemplate="%{z:.2f}", xgap=1, ygap=1, name="bits",
                   hovertemplate="layer %{y}: %{x}<br><b>%{z:.4g}</b> bits<extra></extra>")
    )  # fmt: skip
    head = np.unravel_index(int(record.heads.argmax()), record.heads.shape)
    layer, part = np.unravel_index(int(values.argmax()), values.shape)
    of_heads = f"; of single heads, head {head[1]} of layer {head[0]} does ({record.heads.max():.2f})"
    note = f"Without {names[part]} of layer {layer} the predictions change most ({values.max():.2f} bits)"
    return figure.update_layout(
        title=theme.title("Each part ablated alone", note + (of_heads if values.max() > record.heads.max() else "") + "."),
        **theme.measured(f"{theme.label(record.model)}, {record.stream}", "mean KL in bits"),
        xaxis=theme.named_axis(names, tickangle=-60),
        yaxis={**WHOLE, "title": "layer", "autorange": "reversed"},
        **theme.colours(values, signed=False),
        height=60 + 44 * len(values),
    )


def stream_choice(record: Change) -> Mapping[str, Control]:
    """Which attention: encoder, decoder or cross."""
    return {"stream": Choice("Attention", tuple(dict.fromkeys(a.stream for a in record.before.attention)))}


is_change = only(Change, "ex.change(model, text, edits) makes")
VIEWS = by_name(
    View("change", "How the predictions changed", predictions, only(Change, "ex.change(model, text, edits) makes")),
    View("downstream", "How the attention changed", downstream, is_change, stream_choice),
    View("damage", "Each part ablated alone", damages, only(Damage, "ex.damage(model, text) makes")),
)
