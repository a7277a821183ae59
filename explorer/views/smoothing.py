"""A smoothed target beside the one-hot one, and the loss with either."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import SmoothedTargets
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, by_name, only

AMOUNTS = (0.0, 0.01, 0.1, 0.2, 0.5)
PUBLISHED = 0.1  # of the first Transformer
BARS = 7


def smoothing(record: SmoothedTargets, *, number: int, epsilon: float) -> go.Figure:
    """Left, one prediction: the one-hot target gives the right token 1 and all others 0; the smoothed target gives it 1 − ε and shares ε
    equally among all tokens of the vocabulary. Beside them the model's probability. The axis is logarithmic, and a target of 0 has no bar.

    Right, the loss for every probability of the right token when the others share the rest equally. With a one-hot target the loss falls
    until the probability is 1; with a smoothed one it is smallest before that and then rises. The points are this prediction.

    You may conclude that smoothing punishes being too certain, and how much. You may not conclude that
    the smaller of two losses with different ε is the better: the smallest possible loss is the entropy of the target, which is 0 only
    without smoothing.
    """
    figure = make_subplots(1, 2, subplot_titles=("target and prediction", "loss"), horizontal_spacing=0.16)
    _bars(figure, record, number, epsilon)
    _curves(figure, record, number, epsilon)
    plain, smooth = (float(record.loss(amount)[number]) for amount in (0.0, epsilon))
    place, size = int(record.rows[number]), record.logp.shape[1]
    own = theme.label(record.texts[record.right[number]])
    notes = (
        f"{theme.printable(record.model)}, position {place}: the right token is “{own}”, ε = {epsilon:g}, |V| = {size:,}",
        f"loss {plain:.3f} with the one-hot target, {smooth:.3f} with the smoothed one, which is at least {record.least(epsilon):.3f}",
        f"mean of {len(record)} predictions: {record.loss(0.0).mean():.3f} and {record.loss(epsilon).mean():.3f}",
        theme.unseen_note(record.tokens),
    )
    return figure.update_layout(
        title=theme.title("A smoothed target", *notes), barmode="group", height=350,
    )  # fmt: skip


def _bars(figure: go.Figure, record: SmoothedTargets, number: int, epsilon: float) -> None:
    """The right token, then those that the model finds most probable."""
    logp, right = record.logp[number].astype(np.float64), int(record.right[number])
    best = [right, *(int(n) for n in np.argsort(-logp, kind="stable")[:BARS] if n != right)]
    names = [theme.label(record.texts[n]) for n in best]
    distributions = (
        ("one-hot", record.target(number, 0.0)),
        ("smoothed", record.target(number, epsilon)),
        ("model", np.exp(logp)),
    )
    for colour, (name, shares) in enumerate(distributions):
        x = [float(shares[n]) if shares[n] > 0 else None for n in best]
        figure.add_bar(
            x=x, y=list(range(len(best))), orientation="h", name=name, meta=colour,
            customdata=[*zip(names, map(theme.percent, shares[best]), strict=True)],
            hovertemplate=f"%{{customdata[0]}}: {name} <b>%{{customdata[1]}}</b><extra></extra>", row=1, col=1,
        )  # fmt: skip
    ticks = theme.named_axis(names, down=True)
    figure.update_yaxes(**ticks, row=1, col=1)
    low = 0.5 * min(float(share) for _, shares in distributions for share in shares[best] if share > 0)
    figure.update_xaxes(
        type="log",
        range=[float(np.log10(max(low, 1e-12))), 0.1],
        title_text="probability",
        dtick=1,
        exponentformat="none",
        row=1,
        col=1,
    )


def _curves(figure: go.Figure, record: SmoothedTargets, number: int, epsilon: float) -> None:
    """The loss by the probability of the right token, the others sharing the rest equally; and this prediction."""
    size = record.logp.shape[1]
    at = np.concatenate([np.linspace(0.01, 0.99, 99), 1 - np.geomspace(0.01, 1e-6, 30)[1:]])
    rest = (1 - at) / max(1, size - 1)
    own = float(np.exp(record.logp[number, record.right[number]]))
    for colour, (name, amount) in enumerate((("one-hot", 0.0), ("smoothed", epsilon))):
        each = amount / size
        loss = -(1 - amount + each) * np.log(at) - each * (size - 1) * np.log(rest)
        hover = f"{name}: loss <b>%{{y:.3f}}</b> at P = %{{customdata}}<extra></extra>"
        figure.add_scatter(
            x=at,
            y=loss,
            mode="lines",
            name=f"loss, {name}",
            meta=colour,
            customdata=[*map(theme.percent, at)],
            hovertemplate=hover,
            showlegend=False,
            row=1,
            col=2,
        )
        figure.add_scatter(
            x=[own], y=[float(record.loss(amount)[number])], mode="markers", name=f"this prediction, {name}", meta=colour,
            marker={"size": 13, "symbol": ("circle", "diamond")[colour]}, hovertemplate=hover, showlegend=False, row=1, col=2,
            customdata=[theme.percent(own)],
        )  # fmt: skip
    figure.update_xaxes(title_text="P of the right token", range=[-0.02, 1.03], row=1, col=2)
    figure.update_yaxes(title_text="loss (nats)", rangemode="tozero", row=1, col=2)


def choices(record: SmoothedTargets) -> Mapping[str, Control]:
    """Which prediction, and how much is taken from the right token."""
    return {
        "number": Range("Prediction", 0, len(record) - 1, len(record) // 2),
        "epsilon": Choice("Smoothing ε", AMOUNTS, PUBLISHED, ordered=True),
    }


is_smoothed_targets = only(SmoothedTargets, "ex.analysis.smoothed_targets(model, text) makes")
VIEWS = by_name(View("smoothed-targets", "A smoothed target", smoothing, is_smoothed_targets, choices))
