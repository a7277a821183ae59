"""Sentence embeddings: how similar some are, how well each method ranks pairs, and the pairs by their grade."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Likeness, Ranked
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

LONGEST = 16  # letters of a sentence on an axis; the hover text holds the whole


def likeness(record: Likeness, *, way: str) -> go.Figure:
    """The cosine similarity of every two of your sentences by one method, from −1 (opposite) through 0 (a right angle) to 1 (the same
    direction). The matrix is symmetric, and on the diagonal is each sentence with itself. Change the method and look at which two are most
    similar, not at how large the numbers are: the hidden states of a Transformer often share a direction, and then all cosines are large.

    You may conclude which sentences this method would find first for another one. You may not conclude that they mean the same: a
    mean of word vectors does not say who did what to whom. And the cosines of two methods cannot be compared with each other.
    """
    row = record.ways.index(way)
    cosines, count = record.cosines[row], len(record.texts)
    names = [f"{n} {_short(text)}" for n, text in enumerate(record.texts, 1)]
    hover = [
        [f"{theme.printable(row_text)}<br>{theme.printable(other)}" for other in record.texts] for row_text in record.texts
    ]
    digits = 2 if count <= 8 else 1
    texts = [["–" if np.isnan(value) else f"{value:.{digits}f}" for value in line] for line in cosines]
    figure = go.Figure(
        go.Heatmap(
            z=cosines, text=texts, texttemplate="%{text}", coloraxis="coloraxis2", customdata=hover, xgap=2, ygap=2, name="cosine",
            hovertemplate="%{customdata}<br>cosine <b>%{z:.4f}</b><extra></extra>",
        )
    )  # fmt: skip
    notes = (theme.printable(way), _nearest(cosines), _strange(record.unseen[row]))
    return figure.update_layout(
        title=theme.title("How similar your sentences are", *notes), coloraxis2={"cmin": -1, "cmax": 1, "cmid": 0, "showscale": False},
        xaxis=theme.named_axis([str(n) for n in range(1, count + 1)], side="top"),
        yaxis=theme.named_axis(names, down=True, tickfont={"size": 13}),
        height=40 + 44 * max(3, count),
    )  # fmt: skip


def _short(text: str) -> str:
    """A sentence, short enough for an axis."""
    return theme.printable(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")


def _nearest(cosines: np.ndarray) -> str:
    """Which two different sentences are most similar."""
    apart = np.where(np.eye(len(cosines), dtype=bool) | np.isnan(cosines), -np.inf, cosines)
    if not np.isfinite(apart).any():
        return "no two sentences with a word that it has a vector for"
    first, other = np.unravel_index(int(apart.argmax()), apart.shape)
    return f"most similar: {first + 1} and {other + 1}, cosine {apart.max():.3f}"


def _strange(unseen: np.ndarray) -> str:
    """Which sentences have tokens that were never seen in training."""
    odd = [f"{n} ({share:.0%})" for n, share in enumerate(unseen, 1) if share > 0]
    return f"{theme.UNSEEN} tokens never seen in training in: {', '.join(odd)}; that part is noise" if odd else ""


def scores(record: Ranked, *, kind: str) -> go.Figure:
    """How well the cosines of each method rank pairs of new sentences by how similar their meaning is: Spearman's rank correlation
    with the gold grades, 1 for the same order, 0 for no relation. Bars are means over the seeds, lines the 95% interval. *Shared
    words* is a baseline without vectors: the share of words that occur in both sentences. It is strong here, since a grade counts how
    many parts of an event differ, and a part is a word or two.

    You may conclude which method ranks these pairs better where the intervals do not overlap. You may not conclude that it does so for
    other texts: the method that was trained on grades was trained on the same kind of pairs, the others on none of them. Nor that an
    interval says how much another pre-training run of BERT would change: there was only one.
    """
    at = record.kinds.index(kind)
    order = np.argsort(-record.intervals[at, :, 0], kind="stable")
    mean, low, high = record.intervals[at, order].T
    rows = np.arange(len(order))
    names = [theme.printable(record.ways[n]).replace(", ", ",<br>") for n in order]
    bar = go.Bar(
        x=mean, y=rows, orientation="h", meta=0, customdata=[theme.printable(record.ways[n]) for n in order], showlegend=False,
        error_x={"array": np.nan_to_num(high - mean), "arrayminus": np.nan_to_num(mean - low), "thickness": 2, "width": 5},
        hovertemplate="%{customdata}: <b>%{x:.3f}</b><extra></extra>",
    )  # fmt: skip
    others = [n for n in range(len(record.ways)) if record.ways[n] != record.best]
    behind = [theme.printable(record.ways[n]) for n in others if not record.gains[at, n, 1] > 0]
    notes = (
        theme.printable(record.note),
        f"{theme.printable(record.best)}, seed by seed, is above every other method with 95% confidence"
        if not behind
        else f"not above with 95% confidence: {', '.join(behind)}",
    )
    return go.Figure(bar).update_layout(
        title=theme.title(f"New sentences, {theme.printable(kind)}", *notes), height=52 * len(rows),
        xaxis={"title": "rank correlation", "range": [min(0.0, float(mean.min()) - 0.1), 1.02],},
        yaxis=theme.named_axis(names, down=True, tickfont={"size": 13}),
    )  # fmt: skip


def grades(record: Ranked, *, way: str) -> go.Figure:
    """Each dot is a pair of new sentences: its gold grade, from 0 (two unrelated events) to 5 (the same event in other words), and
    its cosine by this method. The line joins the means. A good method rises from left to right, and its dots of different grades
    overlap little.

    You may conclude which grades a method confuses. You may not conclude that a method with large cosines is a good one: only the
    order counts, so shifting or scaling all cosines would change nothing.
    """
    cosines = record.cosines[record.ways.index(way)]
    steps = np.unique(record.grades)
    spread = np.concatenate([np.linspace(-0.3, 0.3, int((record.grades == grade).sum())) for grade in steps])
    order = np.argsort(record.grades, kind="stable")
    dots = go.Scatter(
        x=record.grades[order] + spread, y=cosines[order], mode="markers", name="a pair", meta=0,
        marker={"size": 6, "opacity": 0.55}, customdata=record.grades[order],
        hovertemplate="grade %{customdata:.0f}: <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    means = [float(np.nanmean(cosines[record.grades == grade])) for grade in steps]
    line = go.Scatter(
        x=steps, y=means, mode="lines+markers", name="mean of a grade", meta=1, line={"width": 3}, marker={"size": 10},
        hovertemplate="grade %{x:.0f}, mean <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    at = record.ways.index(way)
    notes = (theme.printable(way), f"{len(cosines)} pairs of the first seed; rank correlation {record.scores[0, at, 0]:.3f}")
    return go.Figure([dots, line]).update_layout(
        title=theme.title("Cosine by grade", *notes), height=290,
        xaxis={"title": "gold grade", "tickmode": "array", "tickvals": steps.tolist()},
        yaxis={"title": {"text": "cosine" if "shared words" not in way else "share of words in both"}},
    )  # fmt: skip


def ways_of(record: Likeness | Ranked) -> Mapping[str, Control]:
    """Which method."""
    return {"way": Choice("Method", record.ways, record.ways[-1])}


def kinds_of(record: Ranked) -> Mapping[str, Control]:
    """Which new sentences."""
    return {"kind": Choice("New sentences with", record.kinds)}


MADE, MEASURED = "ex.training.likeness(texts, models) makes", "ex.result('sentences') returns"
VIEWS = by_name(
    View("sentence-likeness", "How similar your sentences are", likeness, only(Likeness, MADE), ways_of),
    View("sentence-ways", "Sentence embeddings compared", scores, only(Ranked, MEASURED), kinds_of),
    View("sentence-grades", "Cosine by grade", grades, only(Ranked, MEASURED), ways_of),
)
