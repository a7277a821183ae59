"""Pictures of training: losses and metrics on new texts, attention heads over time, the learning rate schedule, and the path of
the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Along, Schedules, TrainingStep
from explorer.views import theme
from explorer.views.view import Choice, Control, View, also, by_name, only, only_many

SHARES, LOSSES = "all shares", "losses only"
FEW = 5  # so many lines can be distinguished at once
MOST = 500  # points of a line; more cannot be seen and would make the page heavy
Steps = tuple[TrainingStep, ...]


def training(steps: Steps, *, axis: str, measured: str = LOSSES) -> go.Figure:
    """Above, the loss: thin for each batch, thick for the mean of recent steps. Where a model has two training objectives, the
    optimiser minimises their sum; a line of one of them shows only the batches with a label for it. Points are validation losses, on
    texts that were not trained on.

    Below, metrics on such texts. On a logarithmic axis every factor of ten has the same width: most of what is learned is learned
    early.

    Where the masking rate changes during a training run, line and points are different tasks: the points always hide 15%, and a line that
    falls may only hide less.

    You may conclude when *this* run learned something. You may not conclude that a lower loss is a better model across tokenizers or
    tasks: a loss is nats for *these* tokens and *this* objective, and one run is one seed.
    """
    count = 1 if measured == LOSSES else 2
    figure = make_subplots(count, 1, shared_xaxes=True, vertical_spacing=0.08)
    _losses(figure, steps)
    if count > 1:
        _measured(figure, steps, measured)
        figure.update_yaxes(title_text="share" if measured == SHARES else theme.printable(measured), row=2, col=1)
    figure.update_yaxes(title_text="loss (nats)", row=1, col=1)
    decades = {"dtick": 1} if axis == "log" else {}  # all other ticks would be named “2” and “5”
    figure.update_xaxes(**theme.log_axis(axis) | decades, showticklabels=True, unifiedhovertitle={"text": "step %{x:,}"})
    figure.update_xaxes(title_text="step", row=count, col=1)
    last = steps[-1]
    ends = " and ".join(f"{value:.3f} ({theme.printable(name)})" for name, value in last.losses.items())
    dotted = "; dotted: on new texts" if any("loss" in name for name in _names(steps)) else ""
    return figure.update_layout(
        title=theme.title(f"Training: step {last.step:,}", f"The loss ends at {ends}{dotted}."), **theme.measured(_speed(steps)),
        height=300 if count == 1 else 520, hovermode="x unified",
    )  # fmt: skip


def _losses(figure: go.Figure, steps: Steps) -> None:
    """The loss of each objective, the sum where there are several, and the validation losses."""
    parts = list(steps[-1].losses)
    kept_steps = [step for step in steps if list(step.losses) == parts]
    at = np.array([step.step for step in kept_steps])
    lines = {name: np.array([step.losses[name] for step in kept_steps]) for name in parts}
    if len(parts) > 1:
        lines["sum: " + " + ".join(parts)] = sum(lines.values(), np.zeros(len(at)))
    for number, (name, values) in enumerate(lines.items()):
        counted = (
            values != 0 if len(parts) > 1 else np.ones(len(at), bool)
        )  # a loss of exactly 0 is one that no text was asked for
        x, y, shown, label = at[counted], values[counted], _few(int(counted.sum())), theme.printable(name)
        hover = f"{label}: <b>%{{y:.3f}}</b><extra></extra>"
        thin = {"mode": "lines", "line": {"width": 1}, "opacity": 0.35, "showlegend": False, "hoverinfo": "skip"}
        figure.add_scatter(x=x[shown], y=y[shown], name=f"{label}, each batch", meta=number, **thin, row=1, col=1)
        thick = {"mode": "lines", "line": {"width": 3}, "hovertemplate": hover, "showlegend": True}
        figure.add_scatter(x=x[shown], y=around(x, y)[shown], name=label, meta=number, **thick, row=1, col=1)
    for number, name in enumerate(name for name in _names(steps) if "loss" in name):
        _points(figure, steps, name, (len(lines) + number, 1))


def _measured(figure: go.Figure, steps: Steps, chosen: str) -> None:
    every = [name for name in _names(steps) if "loss" not in name]
    shares = [name for name in every if _is_share(steps, name)]
    alike = [name for name in shares if chosen in shares and _first(name) == _first(chosen)]
    beside = [name for name in every if chosen in name or name in alike]  # also what it must be compared with
    names = shares if chosen == SHARES else sorted(beside, key=lambda name: name != chosen)
    for number, name in enumerate(names, start=1 + max(line.meta for line in figure.data)):
        _points(figure, steps, name, (number, 2))


def _points(figure: go.Figure, steps: Steps, name: str, place: tuple[int, int]) -> None:
    """What was measured under one name; `place` is its colour and its panel."""
    points = [(step.step, step.metrics[name]) for step in steps if name in step.metrics]
    label = theme.printable(name)
    hover = f"{label}: <b>%{{y:.3f}}</b><extra></extra>"
    look = {"mode": "lines+markers", "line": {"width": 2, "dash": "dot"}, "marker": {"size": 7}, "showlegend": True}
    x, y = np.array(points, np.float64).T
    figure.add_scatter(x=x, y=y, name=label, meta=place[0], hovertemplate=hover, **look, row=place[1], col=1)


def around(at: np.ndarray, values: np.ndarray) -> np.ndarray:
    """At each step the mean of the last tenth of all steps so far: no later step counts."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    first = np.searchsorted(at, at * 0.9)
    last = np.arange(len(at)) + 1
    return (sums[last] - sums[first]) / (last - first)


def _few(count: int) -> np.ndarray:
    """Which of many points are drawn: more of the early ones."""
    if count <= MOST:
        return np.arange(count)
    places = np.concatenate([np.geomspace(1, count, MOST // 2), np.linspace(1, count, MOST // 2)])
    return np.unique(places.round().astype(int)) - 1


def _names(steps: Steps) -> list[str]:
    """Everything that was measured, in the order in which it first came, without what is no number."""
    every = {name: None for step in steps for name in step.metrics}
    return [name for name in every if any(np.isfinite(step.metrics.get(name, np.nan)) for step in steps)]


def _first(name: str) -> str:
    return name.replace(",", " ").split()[0]


def _is_share(steps: Steps, name: str) -> bool:
    if any(unit in name for unit in ("bits", "perplexity")):  # small ones are no shares either
        return False
    return all(0 <= step.metrics[name] <= 1 for step in steps if np.isfinite(step.metrics.get(name, np.nan)))


def _speed(steps: Steps) -> str:
    speeds = [step.speed for step in steps if np.isfinite(step.speed)]
    return f"about {np.median(speeds):,.0f} tokens a second" if speeds else ""


def probes(steps: Steps, *, probe: str) -> go.Figure:
    """What each attention head does over training: a row for each head, a column for each step at which it was measured.

    A cell is how strongly a head shows the named pattern, on average over many texts. Look for a row that becomes strong: when a head
    begins to attend to the previous token, or to the token that followed the same token earlier (induction), the loss often falls.

    You may conclude when a head began to do this. You may not conclude that the model *needs* this head for it: for that one must
    ablate the head. Nor that with another seed the same head would do this.
    """
    measured = [step for step in steps if probe in step.probes]
    values = np.stack([np.asarray(step.probes[probe], np.float32) for step in measured])  # [step, layer, head]
    layers, heads = values.shape[1:]
    rows = [f"layer {layer} head {head}" for layer in range(layers) for head in range(heads)]
    signed = bool(np.nanmin(values) < 0)
    heat = go.Heatmap(
        z=values.reshape(len(measured), -1).T,
        coloraxis="coloraxis2" if signed else "coloraxis",
        xgap=1,
        ygap=1,
        hoverongaps=False,
        name=theme.printable(probe),
        hovertemplate="%{y}, step %{x}<br><b>%{z:.3f}</b><extra></extra>",
    )
    last = np.unravel_index(int(np.nanargmax(values[-1])), (layers, heads))
    notes = (f"largest at step {measured[-1].step:,}: layer {last[0]}, head {last[1]}, {values[-1][last]:.2f}",)
    figure = go.Figure(heat)
    figure.update_xaxes(theme.named_axis([f"{step.step:,}" for step in measured], tickangle=-60, title="step"))
    figure.update_yaxes(theme.named_axis(rows, down=True))
    return figure.update_layout(
        title=theme.title(f"What the heads do: {theme.printable(probe)}", *notes),
        height=26 * max(len(rows), 6),
        **theme.colours(values, signed),
    )


def schedule(record: Schedules, *, step: int) -> go.Figure:
    """The learning rate at every step as a share of its maximum, for four schedules. All begin small (warm-up): the first gradients
    come from random weights, and a large step along them does harm. The thick line is the schedule of this run.

    BERT's falls in a straight line, the first Transformer's with one over the square root of the step, many newer models' along a
    cosine.

    You may conclude how the learning rate of this run changes. You may not conclude which schedule is best: that depends on the
    maximum rate, and on the number of steps.
    """
    figure, place = go.Figure(), int(np.searchsorted(record.at, step))
    for number, (name, shares) in enumerate(zip(record.names, record.shares, strict=True)):
        own = name == record.chosen
        hover = f"{name}, step %{{x}}: <b>%{{y:.3f}}</b><extra></extra>"
        line = {"width": 5 if own else 2, "dash": "solid" if own else "dot"}
        figure.add_scatter(x=record.at, y=shares, mode="lines", name=name, meta=number, line=line, hovertemplate=hover)
    own_place = record.names.index(record.chosen)
    now = float(record.shares[own_place, place])
    hover = f"step {step}: <b>{now:.3f}</b><extra></extra>"
    figure.add_scatter(
        x=[step], y=[now], mode="markers", marker={"size": 16}, name=f"step {step}", meta=own_place, hovertemplate=hover
    )
    notes = (f"at step {step:,}: {now:.1%} of the maximum rate ({record.chosen})",)
    return figure.update_layout(
        title=theme.title("Learning rate", *notes),
        xaxis={"title": "step"},
        yaxis={"title": "share of the maximum rate", "range": [0, 1.05]},
        height=230,
    )


def along(record: Along, *, axis: str) -> go.Figure:
    """The loss on new texts, for weights on the straight line from a random initialisation (0) to the trained weights θ̂ (1). Points are
    snapshots of the training run: each at the point of the line that is nearest to it.

    Where the points are below the line, training took a path on which the loss is lower than on the straight line. Where the curve is
    flat near 1, small steps along this line change the loss little.

    You may conclude how the loss changes on this one line. You may not conclude that the loss landscape looks like that in other
    directions: there are as many of them as weights, and a line shows one.
    """
    figure = go.Figure()
    hover = "at %{x:.3g} of the line: <b>%{y:.3f}</b><extra></extra>"
    line = {"mode": "lines+markers", "line": {"width": 3}, "marker": {"size": 6}, "hovertemplate": hover}
    figure.add_scatter(x=record.share, y=record.loss, name="on the straight line", meta=0, **line)
    if len(record.went):
        steps, places, losses = record.went.T
        far = np.stack([steps, record.apart], axis=1)
        hover = "step %{customdata[0]:.0f}: <b>%{y:.3f}</b><br>%{customdata[1]:.2f} away from the line<extra></extra>"
        marks = {"mode": "lines+markers", "marker": {"size": 11, "symbol": "diamond"}, "line": {"width": 1, "dash": "dot"}}
        figure.add_scatter(
            x=places, y=losses, customdata=far, name="snapshots of the training", meta=1, hovertemplate=hover, **marks
        )
    first, last = (float(record.loss[np.argmin(np.abs(record.share - place))]) for place in (0.0, 1.0))
    notes = (
        f"{first:.2f} at the start, {last:.2f} at the end",
        f"{theme.printable(record.task)}, mean of {record.pieces:,} predicted tokens",
    )
    return figure.update_layout(
        title=theme.title(f"From a random initialisation to {theme.printable(record.model)}", *notes),
        xaxis={"title": "position on the line"},
        yaxis={"title": "loss (nats)"} | theme.log_axis(axis),
        height=270,
    )


is_training = only_many(TrainingStep, "the steps of a training run, tuple(ex.fit(…)) or ex.training.steps_of(folder)")


has_probes = also(
    is_training, lambda steps: _probed(steps), "in this run the heads were not measured. Take a run that kept probes."
)


is_schedules = only(Schedules, "ex.training.lr_schedules(…) makes")


is_along = only(Along, "ex.training.along(…) makes")


def _probed(steps: Sequence[Any]) -> tuple[str, ...]:
    return tuple({name: None for step in steps for name in step.probes})


def panels(steps: Steps) -> Mapping[str, Control]:
    """Which axis, and which metric is shown below the loss."""
    axis = Choice("Steps", ("log", "even"))
    every = [name for name in _names(steps) if "loss" not in name]
    several = [SHARES] if sum(_is_share(steps, name) for name in every) > 1 else []
    options = (LOSSES, *several, *every) if len(every) <= FEW else (LOSSES, *every, *several)
    return {"axis": axis, "measured": Choice("On new texts", options)} if every else {"axis": axis}


VIEWS = by_name(
    View("training", "Training", training, is_training, panels),
    View("probes", "What the heads do", probes, has_probes, lambda steps: {"probe": Choice("Probe", _probed(steps))}),
    View(
        "schedule",
        "Learning rate",
        schedule,
        is_schedules,
        lambda record: {"step": Choice("Step", tuple(int(step) for step in record.at), record.now, ordered=True)},
    ),
    View("along", "Along the line", along, is_along, lambda record: {"axis": Choice("Loss axis", ("log", "even"))}),
)
