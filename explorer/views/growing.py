"""A text that grows: the attention of each step, and what is computed and what lies in the cache."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Attention, Generation, Tokens
from explorer.views import theme
from explorer.views.attention import frame, place, place_number, remarks
from explorer.views.view import Choice, Control, Range, Toggle, View, by_name

COMPUTED, REUSED = 1.0, 0.35


def growing(record: Generation, *, layer: str, head: int, step: int) -> go.Figure:
    """The attention of one head while a text is written. Step 0 reads the prompt, all of its rows at once; each later step reads the
    piece that was just written and adds a single row, which looks at everything before it (or, in the cross stream, at the source).
    Rows that are not there yet are grey. Nothing above the new row changes: that is why it need not be computed again.

    In the cross stream the new row is the state from which the next piece is predicted. Follow the dark cell as the text grows.

    You may conclude where this head looked when each piece was about to be written. You may not conclude that it looked there *because*
    of the piece that came out: other heads and layers speak too.
    """
    attention = record.trace.attention[place_number(record.trace, layer)]
    rows, columns = record.trace.axes(attention.stream)
    done = _done(record, attention, step)
    weights = np.where(attention.allowed, attention.weights[head], np.nan).astype(np.float32)
    weights[done:] = np.nan
    text = record.steps[step].texts[_chosen(record, step)] if _chosen(record, step) >= 0 else ""
    notes = (
        f"step {step} of {len(record.rows) - 1}: {done} of {len(rows)} rows so far"
        + (f"; then comes {theme.label(text)}" if text else ""),
        *remarks(attention, rows, columns),
    )
    figure = go.Figure(
        go.Heatmap(
            z=weights, coloraxis="coloraxis", **theme.gaps(weights), hoverongaps=False, name="weights",
            hovertemplate="<b>%{y}</b> → <b>%{x}</b><br><b>%{z:.4g}</b><extra></extra>",
        )
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title(f"{layer}, head {head}, as the text grows", *notes),
        xaxis={**theme.token_axis(columns), "side": "top", "tickangle": -60},
        yaxis={**theme.token_axis(rows), "range": [len(rows) - 0.5, -0.5]},
        coloraxis={"cmin": 0, "cmax": max(float(np.nanmax(attention.weights[head])), 1e-6)},
        **frame(len(rows), columns, notes),
    )


def _done(record: Generation, attention: Attention, step: int) -> int:
    """How many rows there are after a step; the encoder reads all of its own before the first."""
    rows = attention.allowed.shape[0]
    if attention.stream == "encoder" or step + 1 >= len(record.rows):
        return rows
    return record.rows[step + 1]


def _chosen(record: Generation, step: int) -> int:
    """Which candidate of this step the final text went on with; −1 where it is not among those recorded."""
    wanted = int(record.steps[-1].ids[step])
    return next((n for n, piece in enumerate(record.steps[step].pieces) if int(piece) == wanted), -1)


def cache(record: Generation, *, cached: bool) -> go.Figure:
    """One row for each step, one column for each place. Dark cells are places that the model reads in this step: it makes their query,
    key and value in every layer. Pale cells are places whose keys and values lie in the cache from an earlier step: they are looked at,
    but not computed again. Grey places do not exist yet. An encoder reads its source once, in step 0; its keys and values for
    cross-attention stay as they are.

    Switch the cache off to see what would be computed without it: everything, at every step. The text comes out the same.

    You may conclude how many places each way computes. You may not conclude that the time falls by the same factor: looking at the
    cache costs time as well, and it has to be kept in memory.
    """
    source = None if record.trace.target is None else record.trace.source
    rows = record.trace.axes("decoder")[0]
    shown = np.concatenate([_source_part(record, source, cached), _own_part(record, len(rows), cached)], axis=1)
    kept, anew = _places(record, source, True), _places(record, source, False)
    notes = (
        f"places computed: {kept} with a cache, {anew} without ({anew / kept:.1f} times as many)",
        *(() if source is None else ("left of the line the source, right of it the target",)),
        theme.unseen_note(rows) or ("" if source is None else theme.unseen_note(source)),
    )
    names = [*([] if source is None else theme.labels(source)), *theme.labels(rows)]
    figure = go.Figure(_cells(shown))
    if source is not None:
        figure.add_trace(_border(len(source) - 0.5, len(record.rows)))
    places = {"tickvals": list(range(len(names))), "ticktext": names, "range": [-0.5, len(names) - 0.5]}
    return figure.update_layout(
        title=theme.title("What is computed, and what is reused", *notes),
        xaxis={**theme.token_axis(rows), **places, "side": "top", "tickangle": -60},
        yaxis=_step_axis(len(record.rows)),
        coloraxis={"cmin": 0, "cmax": 1, "showscale": False},
        **frame(len(record.rows), rows, notes),
    )


def _cells(shown: np.ndarray) -> go.Heatmap:
    """A cell for every place at every step."""
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


def _step_axis(steps: int) -> dict[str, object]:
    """One row for each step, from the top."""
    numbers = list(range(steps))
    return {
        "title": {"text": "step"}, "tickmode": "array", "tickvals": numbers, "ticktext": [str(n) for n in numbers],
        "range": [steps - 0.5, -0.5], "showgrid": False, "automargin": True,
    }  # fmt: skip


def _own_part(record: Generation, count: int, cached: bool) -> np.ndarray:
    """[step, place] of the text that grows: computed, reused or not there yet."""
    shown = np.full((len(record.rows), count), np.nan)
    ends = [*record.rows[1:], count]
    for step, (begin, end) in enumerate(zip(record.rows, ends, strict=True)):
        shown[step, :end] = REUSED if cached else COMPUTED
        shown[step, begin:end] = COMPUTED
    return shown


def _source_part(record: Generation, source: Tokens | None, cached: bool) -> np.ndarray:
    """[step, place] of the source; nothing where there is none."""
    shown = np.full((len(record.rows), 0 if source is None else len(source)), REUSED if cached else COMPUTED)
    shown[0] = COMPUTED
    return shown


def _places(record: Generation, source: Tokens | None, cached: bool) -> int:
    """How many places are computed in all."""
    both = (_source_part(record, source, cached), _own_part(record, len(record.trace.axes("decoder")[0]), cached))
    return int(sum((part == COMPUTED).sum() for part in both))


def where(record: Generation) -> Mapping[str, Control]:
    """Which layer and head, and up to which step."""
    attention = record.trace.attention
    named = tuple(place(one) for one in attention)
    start = next((name for name in named if name.startswith("cross")), named[0])
    last = len(record.rows) - 1
    return {
        "layer": Choice("Layer", named, start),
        "head": Range("Head", 0, attention[0].heads - 1),
        "step": Range("Step", 0, last, last),
    }


def with_or_without(record: Generation) -> Mapping[str, Control]:
    """With a cache or without one."""
    return {"cached": Toggle("Keys and values are kept", True)}


def is_generation(record: object) -> str:
    """Empty for a text that was watched while it was written."""
    if isinstance(record, Generation):
        return ""
    return f"it draws what explorer.generating.watching.watch(model, text) makes; this is a {type(record).__name__}."


VIEWS = by_name(
    View("growing", "Attention as the text grows", growing, where, is_generation),
    View("cache", "What is computed, and what is reused", cache, with_or_without, is_generation),
)
