"""What fine-tuning was worth: scores by the number of labels with bands, all tasks beside each other, and MiniGLUE's table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import LabelCurves, TaskTable
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

BLIND = 6  # the grey among the colours
FIRST = "pre-trained"
ROW = 46  # pixels for each row of a table


def labels(record: LabelCurves, *, task: str) -> go.Figure:
    """Compare a solid line with the dotted one of its colour: the distance is what pre-training gains, in the score on
    new texts. Solid lines began from pre-trained weights, dotted ones with the same architecture from scratch; both
    learned from the same labelled texts. A line is the mean over the seeds, its band the 95% interval of this mean. The
    grey line is the score of always giving the most frequent answer.

    You may conclude that pre-training helped where bands do not overlap: the same labels were worth more. You may not conclude that
    it helps with every task: in the tasks called *new words* the labels cannot teach what the test asks about, in others they can.
    """
    row, counts = record.tasks.index(task), record.counts
    figure = go.Figure()
    models = list(dict.fromkeys(_model(way) for way in record.ways))
    for n, way in enumerate(record.ways):
        mean, low, high = record.intervals[row, n].T
        colour, name = models.index(_model(way)), theme.printable(way)
        figure.add_scatter(
            x=[*counts, *counts[::-1]], y=[*np.where(np.isnan(high), mean, high), *np.where(np.isnan(low), mean, low)[::-1]],
            fill="toself", mode="lines", line={"width": 0}, opacity=0.5, meta=colour, showlegend=False, hoverinfo="skip", name=f"band {n}",
        )  # fmt: skip
        figure.add_scatter(
            x=counts, y=mean, mode="lines+markers", name=name, meta=colour, customdata=np.stack((low, high), axis=-1),
            line={"width": 3, "dash": "solid" if FIRST in way else "dot"}, marker={"size": 8},
            hovertemplate=f"{name}<br>%{{x}} labels: <b>%{{y:.3f}}</b> (%{{customdata[0]:.3f}} to %{{customdata[1]:.3f}})<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=counts, y=np.full(len(counts), record.blind[row]), mode="lines", name="most frequent answer", meta=BLIND,
        line={"width": 2, "dash": "dash"}, hovertemplate="most frequent answer: <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    ticks = {"tickmode": "array", "tickvals": counts, "ticktext": [str(count) for count in counts]}
    return figure.update_layout(
        title=theme.title("Score by number of labels", _most_labels(record, row)), **theme.measured(record.note), height=280,
        xaxis={"title": "labelled texts", "type": "log", **ticks},
        yaxis={"title": record.metrics[row]},
    )  # fmt: skip


def _most_labels(record: LabelCurves, row: int) -> str:
    """Which way is best and which worst at one task with the most labels."""
    means = record.intervals[row, :, -1, 0]
    best, worst = (f"“{theme.printable(record.ways[int(at)])}”" for at in (np.nanargmax(means), np.nanargmin(means)))
    span = f"{best} scores highest ({np.nanmax(means):.2f}), {worst} lowest ({np.nanmin(means):.2f})"
    return f"With {record.counts[-1]} labels, {span}."


def gains(record: LabelCurves, *, model: str, count: int) -> go.Figure:
    """One model with so many labelled texts on every task: pre-trained (filled) and from scratch (open), each the mean over the seeds
    with its 95% interval. The cross is the score of always giving the most frequent answer.

    You may conclude that pre-training helped on a task where the intervals do not overlap. You may not conclude anything from the
    order of the tasks, whose scores are measured by different metrics; nor that a task without a gain has no use for pre-training:
    the model is tiny.
    """
    place = list(record.counts).index(count)
    rows = [f"{theme.printable(task)}<br>({record.metrics[n]})" for n, task in enumerate(record.tasks)]
    mine = [n for n, way in enumerate(record.ways) if _model(way) == model]
    figure = go.Figure()
    for n in mine:
        mean, low, high = record.intervals[:, n, place].T
        filled = FIRST in record.ways[n]
        figure.add_scatter(
            x=mean, y=rows, mode="markers", name=theme.printable(record.ways[n]), meta=0 if filled else 1,
            marker={"size": 12, "symbol": "circle" if filled else "circle-open", "line": {"width": 2}},
            error_x={"array": np.nan_to_num(high - mean), "arrayminus": np.nan_to_num(mean - low), "thickness": 2, "width": 5},
            hovertemplate="%{y}: <b>%{x:.3f}</b><extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=record.blind, y=rows, mode="markers", name="most frequent answer", marker={"symbol": "x", "size": 9}, meta=BLIND,
        hovertemplate="most frequent answer: <b>%{x:.3f}</b><extra></extra>",
    )  # fmt: skip
    clear = _apart(record, mine, place)
    notes = (
        f"{theme.printable(model)}, {count} labelled texts; intervals apart on {len(clear)} of {len(rows)} tasks",
        record.note,
    )
    return figure.update_layout(
        title=theme.title("Pre-trained, from scratch", *notes), height=ROW * len(rows),
        xaxis={"title": "score on new texts"}, yaxis={"autorange": "reversed"},
    )  # fmt: skip


def _apart(record: LabelCurves, mine: list[int], place: int) -> list[str]:
    """The tasks on which one way of a model lies above the other, intervals apart."""
    if len(mine) < 2:
        return []
    a, b = (record.intervals[:, n, place] for n in sorted(mine, key=lambda n: FIRST not in record.ways[n])[:2])
    return [task for n, task in enumerate(record.tasks) if a[n, 1] > b[n, 2]]


def glue(record: TaskTable, *, task: str) -> go.Figure:
    """Every system on one task: the mean over the seeds with its 95% interval; or its mean over all tasks, which has no interval.
    Systems are in the order of the lectures' table, each above the same architecture from scratch. The grey line is the score
    of always giving the most frequent answer.

    You may conclude that one system is better on this task where intervals do not overlap. You may not conclude that the order is
    that of the lectures: their models were about eighty times larger or more, with up to two thousand times as many labels.
    """
    rows = [theme.printable(system) for system in record.systems]
    whole = task == EVERY
    scores = record.scores.mean(1) if whole else record.scores[:, record.tasks.index(task)]  # [system, seed]
    means = scores.mean(-1)
    spans = np.full((len(rows), 2), np.nan) if whole else record.intervals[:, record.tasks.index(task), 1:]
    bars = {
        "array": np.nan_to_num(spans[:, 1] - means),
        "arrayminus": np.nan_to_num(means - spans[:, 0]),
        "thickness": 2,
        "width": 5,
    }
    figure = go.Figure(
        go.Scatter(
            x=means, y=rows, mode="markers", error_x=None if whole else bars, marker={"size": 12}, meta=0, name="mean over seeds",
            hovertemplate="%{y}: <b>%{x:.3f}</b><extra></extra>",
        )
    )  # fmt: skip
    if not whole:
        level = float(record.blind[record.tasks.index(task)])
        figure.add_scatter(
            x=[level, level], y=[rows[0], rows[-1]], mode="lines", meta=BLIND, name="most frequent answer",
            line={"width": 2, "dash": "dash"}, hovertemplate="most frequent answer: <b>%{x:.3f}</b><extra></extra>",
        )  # fmt: skip
    metric = "mean of all metrics" if whole else record.metrics[record.tasks.index(task)]
    notes = (theme.printable(task), record.note)
    return figure.update_layout(
        title=theme.title("MiniGLUE", *notes), height=36 * len(rows),
        xaxis={"title": metric}, yaxis={"autorange": "reversed"},
    )  # fmt: skip


EVERY = "all tasks"


def _model(way: str) -> str:
    """The model of a way, such as BERT of "BERT, pre-trained"."""
    return way.partition(", ")[0]


def by_task(record: LabelCurves) -> Mapping[str, Control]:
    """Which task."""
    return {"task": Choice("Task", record.tasks)}


def by_model(record: LabelCurves) -> Mapping[str, Control]:
    """Which model, with how many labels."""
    counts = tuple(int(count) for count in record.counts)
    models = tuple(dict.fromkeys(_model(way) for way in record.ways))
    return {"model": Choice("Model", models), "count": Choice("Labelled texts", counts, counts[len(counts) // 2], ordered=True)}


def by_column(record: TaskTable) -> Mapping[str, Control]:
    """Which task, or all."""
    return {"task": Choice("Task", (EVERY, *record.tasks))}


VIEWS = by_name(
    View("labels", "Score by number of labels", labels, only(LabelCurves, "ex.result('labels') returns"), by_task),
    View("label-gains", "Pre-trained and from scratch", gains, only(LabelCurves, "ex.result('labels') returns"), by_model),
    View("miniglue", "MiniGLUE", glue, only(TaskTable, "ex.result('miniglue') returns"), by_column),
)
