"""A small corpus before and after an edit: the co-occurrence counts that GloVe would learn from, and the ratios computed from
them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Edited
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

TABLES = ("now", "before", "change")


def counts(record: Edited, *, table: str) -> go.Figure:
    """X, the co-occurrence matrix that GloVe learns from: how often the word of the column occurs within five positions of the word
    of the row, where each time counts 1/distance. So a row is already a vector of its word: one number for each context word. Add a
    sentence, and the cells of all pairs of words in it change; *change* shows only the difference.

    You may conclude what these sentences say about a word. You may not conclude anything about the language: the counts of so few
    sentences are mostly coincidence.
    """
    before, now = record.table
    values = {"now": now, "before": before, "change": now - before}[table]
    names = [theme.label(word) for word in (*record.pair, *record.words)]
    texts = [
        ["" if value == 0 else f"{value:.2g}" if table != "change" else f"{value:+.2g}" for value in row] for row in values
    ]
    axis = "coloraxis2" if table == "change" else "coloraxis"
    figure = go.Figure(
        go.Heatmap(
            z=values, x=np.arange(len(names)), y=np.arange(len(names)), text=texts, texttemplate="%{text}", coloraxis=axis, xgap=1, ygap=1,
            customdata=[[f"{row}, near it {column}" for column in names] for row in names], name=table,
            hovertemplate=f"%{{customdata}}<br>{table}: <b>%{{z:.3f}}</b><extra></extra>",
        )
    )  # fmt: skip
    notes = (_summary(record), f"cells that changed: {int((np.abs(now - before) > 1e-9).sum())} of {now.size}")
    colours = theme.colours(values if table == "change" else record.table, signed=table == "change")
    colours[axis] = {**colours[axis], "showscale": False}  # type: ignore[dict-item]
    return figure.update_layout(
        title=theme.title(f"Counts near a word: {table}", *notes), height=50 + 30 * len(names),
        xaxis=theme.named_axis(names, side="top", tickangle=-60, tickfont={"size": 14}),
        yaxis=theme.named_axis(names, down=True, tickfont={"size": 14}),
        **colours,
    )  # fmt: skip


def ratios(record: Edited) -> go.Figure:
    """For each word k the probability that it occurs near the first and near the second word, P(k | a) and P(k | b): its count
    divided by the sum of the word's row in X. Striped bars are the values before the edit. Beside the name of k is the ratio P(k | a)
    / P(k | b), which differences of GloVe vectors learn. It is large for words related to the first word, small for words related to
    the second, and in between for words related to both; a word that occurs near neither has none (–).

    You may conclude how one more sentence changes a ratio. You may not conclude that a ratio of 0 or ∞ means *never*: it only did not
    occur in these few sentences.
    """
    a, b = map(theme.label, record.pair)
    rows, words, bars = np.arange(len(record.words)), [theme.label(word) for word in record.words], []
    for number, name in enumerate((a, b)):
        for at, when, shape in ((0, "before", "/"), (1, "now", "")):
            bars.append(
                go.Bar(
                    x=record.chances[at, number], y=rows, orientation="h", name=f"P(k | {name}), {when}", meta=number,
                    marker={"pattern": {"shape": shape}, "opacity": 1 if at else 0.55},
                    customdata=[*zip(words, map(theme.percent, record.chances[at, number]), strict=True)],
                    hovertemplate=f"P(%{{customdata[0]}} | {name}), {when}: <b>%{{customdata[1]}}</b><extra></extra>",
                )
            )  # fmt: skip
    was, is_now = record.ratios
    names = [
        f"{word}  <b>{_ratio(new)}</b>" + ("" if _ratio(new) == _ratio(old) else f" <i>was {_ratio(old)}</i>")
        for word, old, new in zip(words, was, is_now, strict=True)
    ]
    before, now = record.alike
    notes = (_summary(record), f"cosine of the rows of {a} and {b}: {before:.2f} before, {now:.2f} now")
    return go.Figure(bars).update_layout(
        title=theme.title(f"P(k | {a}) / P(k | {b})", *notes), barmode="group", height=46 * max(2, len(rows)),
        xaxis={"title": "probability near the word", "tickformat": ".0%", "rangemode": "tozero"},
        yaxis=theme.named_axis(names, down=True),
    )  # fmt: skip


def _ratio(value: float) -> str:
    return "–" if np.isnan(value) else "∞" if np.isinf(value) else f"{value:.2g}"


def _summary(record: Edited) -> str:
    before, now = record.texts
    return f"{now} sentences now, {before} before" if now != before else f"{now} sentences, as many as before"


def tables(record: Edited) -> Mapping[str, Control]:
    """Which table."""
    return {"table": Choice("Table", TABLES)}


MAKER = "ex.analysis.edit_corpus(before, now, a, b) counts"
VIEWS = by_name(
    View("corpus-counts", "Counts near a word", counts, only(Edited, MAKER), tables),
    View("corpus-ratios", "Ratios before and after", ratios, only(Edited, MAKER)),
)
