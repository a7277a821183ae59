"""Generation step by step: the attention of each step, and what is computed and what comes from the cache."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Attention, Generation, Tokens
from explorer.views import theme
from explorer.views.attention import high, place, place_number, remarks
from explorer.views.view import Choice, Control, Range, Toggle, View, by_name, only

COMPUTED, REUSED = 1.0, 0.35
LOW = 21  # pixels of a row, so that a text and its source fit into a window


def growing(record: Generation, *, layer: str, head: int, step: int) -> go.Figure:
    """Each step adds one row to the attention of this head: that of the token that was just generated. Step 0 reads the prompt, all of
    its rows at once; each later row attends to everything before it (or, in cross-attention, to the source). Rows of later steps are
    grey. Nothing above the new row changes: that is why it need not be computed again.

    In cross-attention the new row is the position from which the next token is predicted. Follow the largest weight as the text
    grows.

    You may conclude what this head attended to when each token was predicted. You may not conclude that this token was predicted
    *because* of it: other heads and layers contribute too.
    """
    attention = record.trace.attention[place_number(record.trace, layer)]
    rows, columns = record.trace.axes(attention.stream)
    done = _done(record, attention, step)
    weights = np.where(attention.allowed, attention.weights[head], np.nan).astype(np.float32)
    weights[done:] = np.nan
    text = record.steps[step].texts[_chosen(record, step)] if _chosen(record, step) >= 0 else ""
    last, key = theme.labels(rows)[done - 1], theme.labels(columns)[int(np.nan_to_num(weights[done - 1]).argmax())]
    writes = f" and writes “{theme.label(text)}”" if text else ""
    notes = (
        f"token {step} of {len(record.rows) - 1}: the framed row, “{last}”, reads “{key}” most{writes}; grey: not written yet",
        *remarks(attention, rows, columns),
    )
    figure = go.Figure(
        go.Heatmap(
            z=weights, coloraxis="coloraxis3", **theme.gaps(weights), hoverongaps=False, name="weights",
            hovertemplate="<b>%{y}</b> → <b>%{x}</b><br><b>%{z:.4g}</b><extra></extra>",
        )
    )  # fmt: skip
    figure.add_scatter(
        x=[-0.5, len(columns) - 0.5, len(columns) - 0.5, -0.5, -0.5], y=[done - 1.5, done - 1.5, done - 0.5, done - 0.5, done - 1.5],
        mode="lines", line={"width": 2}, meta=3, name="the new row", hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title(f"{layer}, head {head}, as the text grows", *notes),
        **theme.token_axes(rows, columns),
        **theme.colours_of_weights(),
        height=min(high(len(rows)), LOW * len(rows)),
    )


def _done(record: Generation, attention: Attention, step: int) -> int:
    """How many rows there are after a step; the encoder reads its whole input before the first."""
    rows = attention.allowed.shape[0]
    if attention.stream == "encoder" or step + 1 >= len(record.rows):
        return rows
    return record.rows[step + 1]


def _chosen(record: Generation, step: int) -> int:
    """Which candidate of this step the final text went on with; −1 where it is not among those recorded."""
    wanted = int(record.steps[-1].ids[step])
    return next((n for n, piece in enumerate(record.steps[step].pieces) if int(piece) == wanted), -1)


def cache(record: Generation, *, cached: bool) -> go.Figure:
    """One row for each step, one column for each position. Cells at the strong end of the scale are positions that the model reads in
    this step: it computes their query, key and value in every layer. Cells of medium colour are positions whose keys and values are
    in the cache from an earlier step: they are attended to, but not computed again. Grey positions do not exist yet. An encoder reads
    its source once, in step 0, with or without a cache; its keys and values for cross-attention do not change.

    Switch the cache off to see what would be computed without it: all tokens of the generated text, at every step. The text is the same.

    You may conclude how many positions are computed with and without a cache. You may not conclude that the time falls by the same
    factor: attending to the cache costs time as well, and the cache needs memory.
    """
    source = None if record.trace.target is None else record.trace.source
    rows = record.trace.axes("decoder")[0]
    shown = np.concatenate([_source_part(record, source), _own_part(record, len(rows), cached)], axis=1)
    cached_count, uncached = _places(record, source, True), _places(record, source, False)
    notes = (
        f"positions computed: {cached_count} with a cache, {uncached} without ({uncached / cached_count:.1f} times as many)",
        *(() if source is None else ("the source is left of the line, the target right of it",)),
        theme.unseen_note(rows) or ("" if source is None else theme.unseen_note(source)),
    )
    names = [*([] if source is None else theme.labels(source)), *theme.labels(rows)]
    figure = go.Figure(_cells(shown))
    if source is not None:
        figure.add_trace(_border(len(source) - 0.5, len(record.rows)))
    return figure.update_layout(
        title=theme.title("What is computed, and what is reused", *notes),
        xaxis={
            **theme.named_axis(names, side="top", tickangle=-60, uirevision=theme.mark_of(names)),
            "tickfont": theme.token_axis(rows)["tickfont"],
        },
        yaxis=theme.named_axis([str(n) for n in range(len(record.rows))], down=True, title="step"),
        coloraxis={"cmin": 0, "cmax": 1, "showscale": False},
        height=high(len(record.rows)),
    )


def _cells(shown: np.ndarray) -> go.Heatmap:
    """A cell for every position at every step."""
    return go.Heatmap(
        z=shown, coloraxis="coloraxis", **theme.gaps(shown), hoverongaps=False, name="computed or reused",
        customdata=np.where(shown == COMPUTED, "computed in this step", "from the cache"),
        hovertemplate="step %{y}: <b>%{x}</b> %{customdata}<extra></extra>",
    )  # fmt: skip


def _border(edge: float, steps: int) -> go.Scatter:
    """The line between source and target."""
    return go.Scatter(
        x=[edge, edge], y=[-0.5, steps - 0.5], mode="lines", line={"width": 3}, meta=1, hoverinfo="skip", showlegend=False,
        name="source | target",
    )  # fmt: skip


def _own_part(record: Generation, count: int, cached: bool) -> np.ndarray:
    """[step, position] of the generated text: computed, reused or not there yet."""
    shown = np.full((len(record.rows), count), np.nan)
    ends = [*record.rows[1:], count]
    for step, (begin, end) in enumerate(zip(record.rows, ends, strict=True)):
        shown[step, :end] = REUSED if cached else COMPUTED
        shown[step, begin:end] = COMPUTED
    return shown


def _source_part(record: Generation, source: Tokens | None) -> np.ndarray:
    """[step, position] of the source, which is read once; empty where there is none."""
    shown = np.full((len(record.rows), 0 if source is None else len(source)), REUSED)
    shown[0] = COMPUTED
    return shown


def _places(record: Generation, source: Tokens | None, cached: bool) -> int:
    """How many positions are computed in all."""
    both = (_source_part(record, source), _own_part(record, len(record.trace.axes("decoder")[0]), cached))
    return int(sum((part == COMPUTED).sum() for part in both))


def where(record: Generation) -> Mapping[str, Control]:
    """Which layer and head, and up to which step."""
    attention = record.trace.attention
    named = tuple(place(layer_attention) for layer_attention in attention)
    start = next((name for name in reversed(named) if name.startswith("cross")), named[0])
    last = len(record.rows) - 1
    return {
        "layer": Choice("Layer", named, start),
        "head": Range("Head", 0, attention[0].heads - 1),
        "step": Range("Written token", 0, last, last),
    }


def with_or_without(record: Generation) -> Mapping[str, Control]:
    """With a cache or without one."""
    return {"cached": Toggle("Cache keys and values", True)}


is_generation = only(Generation, "ex.decoding.watch(model, text) makes")


VIEWS = by_name(
    View("growing", "Attention as the text grows", growing, is_generation, where),
    View("cache", "What is computed, and what is reused", cache, is_generation, with_or_without),
)
