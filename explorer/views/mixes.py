"""How tasks mix the layers of ELMo: the layer weights during training, the score of each layer alone, and sliders to mix by hand."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Bench, Mixes
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, by_name, only

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])  # of the triangle: h₀, h₁, h₂
PARTS = 20  # a slider moves in so many steps
SEEN, STRIP = 64, 200  # so many dimensions of a vector are drawn, in a strip of so many pixels
ASKS = {  # what each task asks, in two or three words
    "last letter": "of the word", "part of speech": "noun or verb?", "entities": "whose name?", "roles": "who did what?",
    "word sense": "which meaning?", "sentiment": "good or bad?", "topic": "about what?", "entailment": "does it follow?",
}  # fmt: skip


def shares(record: Mixes, *, step: int) -> go.Figure:
    """sⱼ of every task: the softmax weight of each layer in the mix that the task reads, after this many steps. Bars are means over
    all runs, error bars reach from the lowest run to the highest. Before training, all weights are equal. Tasks are ordered by how
    high in the stack they read at the end of training, Σ j·sⱼ. Point at a bar for γ, which scales the whole mix.

    You may conclude how much of each layer these classifiers used. You may not conclude that a layer with a large weight is the
    useful one: look at the score of each layer alone. And the weights can be compared only because every layer was normalised to the
    same scale first.
    """
    at, order = list(record.steps).index(step), np.argsort(record.heights.mean(1), kind="stable")
    weights = record.shares[order, :, at]  # [task, run, layer]
    named = [f"{theme.printable(record.tasks[n])}<br>{ASKS.get(record.tasks[n], '')}" for n in order]
    scales = [f"{record.gammas[n, :, at].mean():.2f}" for n in order]
    figure = go.Figure()
    for layer in range(weights.shape[-1]):
        values = weights[..., layer]
        mean = values.mean(1)
        spread = {"array": values.max(1) - mean, "arrayminus": mean - values.min(1), "thickness": 1.5, "width": 3}
        hover = f"%{{x}}<br>s{theme.below(layer)} = <b>%{{y:.3f}}</b>, γ = %{{customdata}}<extra></extra>"
        figure.add_bar(
            x=named, y=mean, error_y=spread, name=_layer(layer), hovertemplate=hover, meta=layer, customdata=scales,
        )  # fmt: skip
    layers = ", ".join(_layer(n).partition(": ")[2].removeprefix("from ") for n in range(weights.shape[-1]))
    notes = (f"Bars from the left: {layers}. Thin lines: from the lowest run to the highest. {_reading(record, at)}",)
    figure = _dressed(figure, "The weight of each layer, by task", notes, "weight of the layer, sⱼ", (0, 1.02))
    return figure.update_layout(**theme.measured(f"after {step} steps", record.note))


def _reading(record: Mixes, at: int) -> str:
    """Which task reads lowest in the stack of layers at one step, and which highest."""
    weights = record.shares[:, :, at].mean(1)  # [task, layer]
    heights = weights @ np.arange(weights.shape[-1])
    if np.ptp(weights) < 1e-6:
        return "At this step every layer has the same weight."
    low, high = (theme.printable(record.tasks[int(place)]) for place in (heights.argmin(), heights.argmax()))
    return f"“{low}” reads the lowest layers, “{high}” the highest."


def scores(record: Mixes) -> go.Figure:
    """The score of the mix and of each layer alone on every task, on new texts: the mean over the biLMs with its 95% interval. The
    last layer alone is what one would use without a mix. The cross is the baseline that always predicts the most frequent label.

    You may conclude which layer is better for which task, where intervals do not overlap. You may not conclude that a mix is always
    the best: where it is below a single layer, its weights did not measure which layer is useful. Nor that the interval would be as
    narrow for other biLMs: there were few.
    """
    order = np.argsort(record.heights.mean(1), kind="stable")
    named = [f"{theme.printable(record.tasks[n])}<br>({record.metrics[n]})" for n in order]
    figure = go.Figure()
    for way in range(len(record.ways)):
        mean, low, high = record.intervals[order, way].T
        bars = {"array": np.nan_to_num(high - mean), "arrayminus": np.nan_to_num(mean - low), "thickness": 1.5, "width": 3}
        hover = f"%{{x}}<br>{_way(record, way)}: <b>%{{y:.3f}}</b><extra></extra>"
        figure.add_bar(x=named, y=mean, error_y=bars, name=_way(record, way), hovertemplate=hover, meta=(way - 1) % 8)
    figure.add_scatter(
        x=named, y=record.blind[order], mode="markers", name="most frequent label", marker={"symbol": "x", "size": 10}, meta=6,
        hovertemplate="%{x}<br>most frequent label: <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    better = [theme.printable(record.tasks[n]) for n in range(len(record.tasks)) if record.gains[n, -1, 1] > 0]
    worse = [theme.printable(record.tasks[n]) for n in range(len(record.tasks)) if (record.gains[n, 1:, 2] < 0).any()]
    notes = (
        f"mix above the last layer alone with 95% confidence: {', '.join(better) or 'no task'}",
        f"below some single layer: {', '.join(worse) or 'no task'}",
    )
    return _dressed(figure, "The mix beside each layer alone", notes, "score on new texts", (0, 1.02))


def triangle(record: Mixes, *, step: int) -> go.Figure:
    """Every point of the triangle is a mix of three layers: a corner is one layer alone, the centre gives all layers the same weight. A
    line is the path of one task (the mean over all runs) from the centre to its weights at this step; the dots around its end are the
    individual runs.

    You may conclude that tasks with separate dots use different layers in every run. You may not conclude that near a corner
    the other layers are useless: they may hold the same information.
    """
    at = list(record.steps).index(step)
    figure = go.Figure(
        go.Scatter(
            x=CORNERS[[0, 1, 2, 0], 0], y=CORNERS[[0, 1, 2, 0], 1], mode="lines", meta=6, showlegend=False, hoverinfo="skip"
        )
    )
    for n, task in enumerate(record.tasks):
        way = record.shares[n, :, : at + 1].mean(0) @ CORNERS  # [step, 2]
        ends = record.shares[n, :, at]
        gap = np.full((len(ends), 2), np.nan)
        path = np.vstack((way, np.stack((gap, ends @ CORNERS), axis=1).reshape(-1, 2)))  # every dot is separate
        hovers = [f"step {s}" for s in record.steps[: at + 1]]
        for (b, h), row in zip(record.runs, ends, strict=True):
            hovers += ["", f"biLM {b}, classifier {h}: s = {', '.join(f'{x:.2f}' for x in row)}"]
        sizes = [0] * len(way) + [0, 9] * len(ends)
        figure.add_scatter(
            x=path[:, 0], y=path[:, 1], mode="lines+markers", name=theme.printable(task), marker={"size": sizes},
            line={"width": 2}, text=hovers, hovertemplate=f"{theme.printable(task)}<br>%{{text}}<extra></extra>", meta=n,
        )  # fmt: skip
    for layer, (x, y) in enumerate(CORNERS):
        figure.add_annotation(x=x, y=y, text=f"h{theme.below(layer)} alone", showarrow=False, yshift=14 if layer == 2 else -14)
    figure = _dressed(figure, "The path of each task", (_reading(record, at),), "", (-0.12, 1.0))
    figure.update_layout(**theme.measured(f"after {step} steps", record.note))
    figure.update_xaxes(visible=False, range=[-0.15, 1.15])
    figure.update_yaxes(visible=False)
    return figure.update_layout(height=320)


def bench(record: Bench, *, example: int, **weights: int) -> go.Figure:
    """Set the sⱼ yourself: the values of the sliders are divided by their sum. At the top are the first dimensions of one new
    example's vector, blue above 0 and brown below: in every layer, and in your mix, Σ sⱼ·hⱼ (γ would only scale it). Below, the
    left bars are your weights beside those that the task learned; the right bars are the accuracy on new texts: with your weights,
    with the learned ones, and with every layer alone. A linear classifier is fitted again for each setting (by ridge regression), so
    what changes is the mix, not how well a classifier was trained.

    You may conclude how much the weights matter for this task. You may not conclude that the best setting here is the best on other
    texts: it was chosen on these. Nor what a single dimension means: training gives it no fixed meaning.
    """
    layers = record.train.shape[1]
    mine = _divided([weights[f"s{layer}"] for layer in range(layers)])
    learned = record.learned.mean(0)
    figure = go.Figure()
    for number, (label, weights_of) in enumerate((("your weights", mine), ("learned weights", learned))):
        hover = f"{label}, %{{x}}: <b>%{{y:.2f}}</b><extra></extra>"
        figure.add_bar(
            x=[f"s{theme.below(layer)}" for layer in range(layers)], y=weights_of, name=label, meta=number, hovertemplate=hover
        )
    answers = record.answers(mine)
    names = ("yours", "learned", *(f"h{theme.below(layer)} alone" for layer in range(layers)))
    accuracies = dict(zip(names, (float((answers == record.asked).mean()), *record.worth), strict=True))
    right, predicted = record.classes[record.asked[example]], record.classes[answers[example]]
    figure.add_bar(
        x=list(accuracies), y=list(accuracies.values()), name="accuracy", meta=2, text=[f"{value:.2f}" for value in accuracies.values()],
        textposition="outside", textangle=0, cliponaxis=False, constraintext="none", textfont={"size": 13},
        hovertemplate="%{x}: <b>%{y:.3f}</b> right<extra></extra>",
    )  # fmt: skip
    notes = (
        f"Your mix is right on {accuracies['yours']:.1%} of new examples, the learned one on {accuracies['learned']:.1%}.",
        f"Example {example} is “{theme.printable(right)}”; your mix predicts “{theme.printable(predicted)}”.",
    )
    facts = (
        f"always the most frequent label: {record.blind:.1%} right",
        f"{len(record.gold)} training examples, {len(record.asked)} new ones",
    )
    figure = _dressed(figure, f"Mix the layers by hand: {theme.printable(record.task)}", notes, "weight, accuracy", (0, 1.02))
    figure.update_layout(**theme.measured(*facts))
    return _with_vectors(figure, record.test[example].astype(np.float64), mine)


def place(record: Bench, **weights: int) -> go.Figure:
    """Every point of the triangle is a mix of three layers: a corner is one layer alone, the centre gives all layers the same weight. The
    ring is your mix; a cross is what the task learned, one for each run.

    You may conclude how far your mix is from the learned ones. You may not conclude that a point near them is as good: compare the
    accuracy.
    """
    layers = record.train.shape[1]
    mine = _divided([weights[f"s{layer}"] for layer in range(layers)])
    grid = np.array([(a, b, PARTS - a - b) for a in range(PARTS + 1) for b in range(PARTS + 1 - a)])
    x, y = (grid / PARTS @ CORNERS).T
    hovers = [", ".join(f"s{theme.below(n)} = {value / PARTS:.2f}" for n, value in enumerate(row)) for row in grid]
    figure = go.Figure()
    figure.add_scatter(
        x=x, y=y, mode="markers", name="a mix to click", meta=6, text=hovers, hovertemplate="%{text}<extra></extra>",
        customdata=[".".join(map(str, row)) for row in grid], marker={"size": 8, "opacity": 0.45},
        selected={"marker": {"opacity": 0.45}}, unselected={"marker": {"opacity": 0.45}},
    )  # fmt: skip
    for name, mixes, symbol, size, colour in (
        ("learned, each run", record.learned, "x-thin-open", 10, 1), ("your mix", mine[None], "circle-open", 18, 0),
    ):  # fmt: skip
        across, up = (mixes @ CORNERS).T
        figure.add_scatter(
            x=across, y=up, mode="markers", name=name, meta=colour, marker={"symbol": symbol, "size": size, "line": {"width": 3}},
            text=[", ".join(f"s{theme.below(n)} = {value:.2f}" for n, value in enumerate(row)) for row in mixes],
            hovertemplate=f"{name}: %{{text}}<extra></extra>",
        )  # fmt: skip
    for layer, (across, up) in enumerate(CORNERS):
        figure.add_annotation(
            x=across, y=up, text=f"h{theme.below(layer)} alone", showarrow=False, yshift=18 if layer == 2 else -18
        )
    figure = _dressed(figure, "Your mix in the triangle", (), "", (-0.12, 1.0))
    figure.update_xaxes(visible=False, range=[-0.15, 1.15])
    figure.update_yaxes(visible=False)
    return figure.update_layout(height=310)


def _divided(given: list[int]) -> np.ndarray:
    """Weights that sum to 1; the same for all layers where none is given any."""
    shares = np.array(given, np.float64)
    return shares / shares.sum() if shares.sum() else np.full(len(shares), 1 / len(shares))


def _with_vectors(figure: go.Figure, layers: np.ndarray, shares: np.ndarray) -> go.Figure:
    """The same figure below a strip with the first dimensions of each layer's vector [layer, dim] and of their mix."""
    rows = np.vstack((layers, shares @ layers))[:, :SEEN]
    names = [*(f"h{theme.below(layer)}" for layer in range(len(layers))), "<b>mix</b>"]
    figure.add_heatmap(
        z=rows, y=names, xaxis="x2", yaxis="y2", coloraxis="coloraxis2", xgap=1, ygap=2, name="vectors",
        hovertemplate="%{y}, dimension %{x}: <b>%{z:.3f}</b><extra></extra>",
    )  # fmt: skip
    bare = {"showticklabels": False, "ticks": ""}
    return figure.update_layout(
        height=figure.layout.height + STRIP, yaxis={"domain": [0, 0.6]}, xaxis={"anchor": "y"},
        xaxis2={"anchor": "y2", "title": f"dimensions 0 to {rows.shape[1] - 1} of {layers.shape[1]}", **bare},
        yaxis2={"domain": [0.72, 1], "autorange": "reversed"},
        coloraxis2={**theme.colours(layers[:, :SEEN], signed=True)["coloraxis2"], "showscale": False},  # type: ignore[dict-item]
    )  # fmt: skip


def _layer(layer: int) -> str:
    return f"s{theme.below(0)}: from letters" if layer == 0 else f"s{theme.below(layer)}: LSTM layer {layer}"


def _way(record: Mixes, way: int) -> str:
    name = re.sub(r"^layer (\d+)$", lambda match: f"h{theme.below(int(match[1]))}", record.ways[way])
    return f"{name} (the last)" if way == len(record.ways) - 1 else name


def _dressed(figure: go.Figure, title: str, notes: tuple[str, ...], up: str, span: tuple[float, float]) -> go.Figure:
    return figure.update_layout(
        title=theme.title(title, *notes), barmode="group", height=250,
        xaxis={}, yaxis={"title": {"text": up, "standoff": 12}, "range": list(span)},
    )  # fmt: skip


def steps(record: Mixes) -> Mapping[str, Control]:
    """After how many steps."""
    step_numbers = tuple(int(step) for step in record.steps)
    return {"step": Choice("After step", step_numbers, step_numbers[-1], ordered=True)}


def sliders(record: Bench) -> Mapping[str, Control]:
    """One slider for each layer, and one for the example whose vector is shown."""
    weights = {
        f"s{layer}": Range(f"Weight s{theme.below(layer)}", 0, PARTS, PARTS // 2) for layer in range(record.train.shape[1])
    }
    return {**weights, "example": Range("New example", 0, len(record.asked) - 1, 0)}


def three_sliders(record: Bench) -> Mapping[str, Control]:
    """One slider for each layer."""
    return {name: control for name, control in sliders(record).items() if name != "example"}


is_mixes = only(Mixes, "ex.result('mixes') returns")


def has_three(record: object) -> str:
    """Empty where there are three layers to mix."""
    if not isinstance(record, Mixes):
        return is_mixes(record)
    layers = record.shares.shape[-1]
    return "" if layers == 3 else f"a triangle has three corners, but there are {layers} layers to mix."


is_bench = only(Bench, "ex.result('mixes', 'sentiment') returns")


def is_bench_of_three(record: object) -> str:
    """Empty where there are three layers to mix by hand."""
    if not isinstance(record, Bench):
        return is_bench(record)
    layers = record.train.shape[1]
    return "" if layers == 3 else f"a triangle has three corners, but there are {layers} layers to mix."


VIEWS = by_name(
    View("mix-shares", "The weight of each layer, by task", shares, is_mixes, steps),
    View("mix-triangle", "The path of each task", triangle, has_three, steps),
    View("mix-scores", "The mix beside each layer alone", scores, is_mixes),
    View("mix-bench", "Mix the layers by hand", bench, is_bench, sliders),
    View("mix-place", "Your mix in the triangle", place, is_bench_of_three, three_sliders),
)
