"""Several training runs in one picture."""

from __future__ import annotations

from collections.abc import Mapping

import plotly.graph_objects as go

from explorer.records import RunsBeside
from explorer.views import theme
from explorer.views.training import around
from explorer.views.view import Choice, Control, View, by_name, only

LOSS, HELD_OUT = "training loss", "held-out loss"
FEW = 4  # names of settings in the title; the page lists all


def runs(record: RunsBeside, *, shows: str, axis: str) -> go.Figure:
    """The same quantity of several training runs, by step. *Training loss* is the sum of all training objectives, each point a mean over
    the last tenth of the steps so far; everything else was measured on texts that were not trained on.

    You may conclude which run had the lower value at a step, under its own settings. Where exactly one setting differs you may suspect
    it. You may not conclude that it is the cause: each is one run with one seed, so train both again with other seeds. You may not
    compare losses of different training objectives, masking rates or tokenizers.
    """
    figure = go.Figure()
    ends: dict[str, float] = {}
    facts: list[str] = []
    for number, (name, steps) in enumerate(zip(record.names, record.steps, strict=True)):
        at, values = record.line(number, "" if shows == LOSS else shows)
        if not len(at):
            continue
        drawn = around(at, values) if shows == LOSS else values
        label = theme.printable(name)
        figure.add_scatter(
            x=at, y=drawn, mode="lines" if shows == LOSS else "lines+markers", name=label, meta=number, showlegend=True,
            line={"width": 3, "dash": ("solid", "dash", "dot", "dashdot")[number % 4]},
            hovertemplate=f"{label}, step %{{x}}: <b>%{{y:.4f}}</b><extra></extra>",
        )  # fmt: skip
        ends[f"“{label}”"] = float(drawn[-1])
        facts.append(f"{label}: {drawn[-1]:.3f} at step {steps[-1].step:,}")
    few = ", ".join(record.settings[:FEW]) + (f" and {len(record.settings) - FEW} more" if len(record.settings) > FEW else "")
    notes = (ended(ends), theme.printable(f"They differ in {few}." if record.settings else "They differ in no setting."))
    return figure.update_layout(
        title=theme.title(f"Runs side by side: {theme.printable(shows)}", *notes), **theme.measured(*facts), height=310,
        xaxis={**theme.log_axis(axis), "title": "step"},
        yaxis={"title": {"text": "loss (nats)" if "loss" in shows else theme.printable(shows)}},
    )  # fmt: skip


def ended(ends: Mapping[str, float]) -> str:
    """Which of several lines ends lowest, and which highest; those that are written alike end alike.

    >>> ended({"a": 4.356, "b": 4.350}), ended({"a": 1.0, "b": 1.0004})
    ('b ends lower (4.350) than a (4.356).', 'All end at 1.000.')
    >>> ended({"a": 2.0, "b": 1.0, "c": 3.0}), ended({"a": 2.0}), ended({})
    ('b ends lowest (1.000), c highest (3.000).', 'a ends at 2.000.', '')
    """
    written = {name: f"{value:.3f}" for name, value in ends.items() if value == value}
    if len(written) < 2:
        return "".join(f"{name} ends at {value}." for name, value in written.items())
    low, high = min(written, key=lambda name: ends[name]), max(written, key=lambda name: ends[name])
    if written[low] == written[high]:
        return f"All end at {written[low]}."
    if len(written) == 2:
        return f"{low} ends lower ({written[low]}) than {high} ({written[high]})."
    return f"{low} ends lowest ({written[low]}), {high} highest ({written[high]})."


def measured(record: RunsBeside) -> tuple[str, ...]:
    """What can be shown: the training loss, and all that several of the runs measured on new texts."""
    often: dict[str, int] = {}
    for number in range(len(record.names)):
        for name in record.metrics(number):
            often[name] = often.get(name, 0) + 1
    return (LOSS, *(name for name, count in often.items() if count > 1))


def choices(record: RunsBeside) -> Mapping[str, Control]:
    """What is shown, over which axis."""
    offered = measured(record)
    return {
        "shows": Choice("Shown", offered, HELD_OUT if HELD_OUT in offered else LOSS),
        "axis": Choice("Steps", ("log", "linear")),
    }


VIEWS = by_name(View("runs", "Runs side by side", runs, only(RunsBeside, "ex.training.compare_runs(runs) makes"), choices))
