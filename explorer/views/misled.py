"""Sentence embeddings where shared words mislead."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Nearer
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

GUESSING = 0.5


def nearer(record: Nearer, *, kind: str) -> go.Figure:
    """Each question has a sentence, the same event in another form, and another event that shares more words with it. A bar is the
    share of questions in which a method puts the same event nearer (the larger cosine): the mean over the seeds, with its 95%
    interval. The dotted line is guessing. *Shared words* compares without vectors and is wrong every time, because only such questions
    are asked. word2vec's mean is the same vector for the same words in any order.

    You may conclude which method sees more than shared words here, where intervals do not overlap each other or the line.
    You may not conclude that it understands sentences: the method that was trained on such pairs learned these two kinds of questions,
    made by a program, and other kinds may mislead it.
    """
    at = record.kinds.index(kind)
    mean, low, high = record.intervals[at].T
    rows = np.arange(len(record.ways))
    names = [theme.printable(way).replace(", ", ",<br>") for way in record.ways]
    bar = go.Bar(
        x=mean, y=rows, orientation="h", meta=0, customdata=[theme.printable(way) for way in record.ways], showlegend=False,
        error_x={"array": np.nan_to_num(high - mean), "arrayminus": np.nan_to_num(mean - low), "thickness": 2, "width": 5},
        hovertemplate="%{customdata}: <b>%{x:.1%}</b><extra></extra>",
    )  # fmt: skip
    text, same, another = (theme.printable(example) for example in record.examples[at])
    notes = (f"such as: {text}", f"the same event: {same}", f"another event: {another}", theme.printable(record.note))
    figure = go.Figure(bar)
    figure.add_vline(x=GUESSING, line_dash="dot", line_width=2)
    return figure.update_layout(
        title=theme.title(f"Which is nearer: {theme.printable(kind)}", *notes), height=52 * len(rows),
        xaxis={"title": "same event nearer", "range": [0, 1.02], "tickformat": ".0%"},
        yaxis=theme.named_axis(names, down=True, tickfont={"size": 13}),
    )  # fmt: skip


def kinds_of(record: Nearer) -> Mapping[str, Control]:
    """Which questions."""
    return {"kind": Choice("Questions", record.kinds)}


VIEWS = by_name(
    View("sentence-traps", "Where shared words mislead", nearer, only(Nearer, "ex.result('misled') returns"), kinds_of)
)
