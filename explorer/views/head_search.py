"""Heads that find a hidden word, and what it costs to switch them off."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.records import HeadSearch
from explorer.views import theme
from explorer.views.view import View, by_name, only

ROW = 92


def row_labels(record: HeadSearch) -> list[str]:
    """What each row asks, of how many questions, and the two heads."""
    named = [" and ".join(f"{layer}.{head}" for layer, head in heads) for heads in record.heads]
    return [
        f"{theme.printable(name)}<br>heads {heads} · {count:.0f} questions"
        for name, heads, count in zip(record.phenomena, named, record.questions, strict=True)
    ]


def heads_that_find(record: HeadSearch) -> go.Figure:
    """One word of a text is hidden; it also occurs elsewhere in the text, among others of its kind. Two heads were chosen on one half of
    the questions (*3.2* is head 2 of layer 3, both counted from 0). Each row shows the other half: how often the **better head** of
    the two gives the right word more weight than every other candidate (the line ends where its 95% interval does), how often the
    **best rule** without a model finds it (*the nearest*, *the first* …), and how often the **model** itself prefers it: intact,
    with both heads switched off, and (short lines) with two other heads switched off, drawn at random.

    You may conclude that a head finds the word where its interval lies to the right of the rule, and that the model depends on both heads
    where switching them off costs more than nearly all other pairs do.
    You may not conclude that a head which finds the word is why the model is right: where other pairs cost as much, the work is shared.
    """
    rows = np.arange(len(record.phenomena))
    best = record.kept.max(axis=1)
    figure = go.Figure()
    others = np.repeat(rows, record.others.shape[1])
    dots = (
        ("the better head", best, rows - 0.26, "diamond", 1, best - record.lowest),
        ("the best rule", record.best_rule, rows - 0.26, "x", 3, None),
        ("the model", record.intact, rows + 0.06, "circle", 0, None),
        ("without both heads", record.silenced, rows + 0.06, "circle-open", 0, None),
        ("without two others", record.others.reshape(-1), others + 0.28, "line-ns-open", 2, None),
    )
    for name, share, place, sign, tone, below in dots:
        figure.add_scatter(
            x=share, y=place, mode="markers", name=name, meta=tone, marker={"symbol": sign, "size": 13, "line": {"width": 2}},
            error_x=None if below is None else {"array": np.zeros(len(rows)), "arrayminus": below, "thickness": 2, "width": 5},
            hovertemplate=f"{name}: <b>%{{x:.1%}}</b><extra></extra>",
        )  # fmt: skip
    return figure.update_layout(
        title=theme.title(f"Heads of {theme.printable(record.model)} that find a hidden word"), height=ROW * len(rows),
        xaxis={"title": "right", "range": [0, 1.02], "tickformat": ".0%"},
        yaxis=theme.named_axis(row_labels(record), down=True, tickfont={"size": 13}),
    )  # fmt: skip


is_head_search = only(HeadSearch, "ex.result('heads-bert') returns")
VIEWS = by_name(View("heads-that-find", "Heads that find a hidden word", heads_that_find, is_head_search))
