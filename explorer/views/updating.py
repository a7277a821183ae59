"""One update of the weights, from the loss of one prediction back to the matrices; and that of one pair of word2vec."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import PairUpdate, TokenUpdate
from explorer.records.updates import PROJECTIONS
from explorer.views import theme
from explorer.views.plane import apart
from explorer.views.view import Choice, Control, View, by_name, only

BARS = 8  # tokens whose probabilities are drawn
ROWS = 10  # of the embedding
RATES = (0.03, 0.1, 0.3, 1.0)  # of word2vec's pair
MOVE = "∂L/∂%s"
LONGEST = 0.5  # of where the vectors of the plane are: its longest arrow
ROOM = np.array([1.9, 1.24])  # how much wider the plane is than that
PIXELS = np.array([110.0, 300.0])  # of the plane on a telephone
Drawn = tuple[go.Figure, tuple[str, ...]]  # a picture, and the notes below its title


def token_update(record: TokenUpdate, *, stage: str, head: int, rate: float) -> go.Figure:
    """One prediction and one update, in seven pictures: choose *Next*. Orange and blue are the two signs of a gradient ∂L/∂x: where it is
    positive, a larger x makes the loss larger, so the update makes x smaller.

    **1** The gradient at the scores is p − y: the probability of each token, minus 1 for the right one. **2** Back through the layers: how
    long the gradient at each hidden state is. **3** In one head: at its attention weights A and, through the softmax, at its scores S.
    **4** At its weight matrices, each a sum over positions: W_Q = Σ ∂q xᵀ, and so on. **5** At the token embeddings. **6** The same number
    without the chain rule: one weight is made a little larger and smaller, and the loss computed twice. **7** All weights move by
    −η · gradient, and the loss is computed again, for several learning rates η. The straight line is what the gradient promises for a
    small step; it looks curved because the axis of η is logarithmic.

    You may conclude in which direction this one prediction moves the weights, and how far the promise holds. You may not conclude that the
    model is better after the step: the line *other tokens* shows what it costs elsewhere, which is why training averages over a batch.
    """
    figure, found = STAGES[stage](record, head, rate)
    label = theme.label(record.vocabulary[record.label])
    notes = (
        f"{theme.printable(record.model)} predicts “{label}” with P = {theme.percent(record.probabilities[record.label])}; "
        f"loss −ln P = {record.loss:.3f}",
        *found,
        theme.unseen_note(record.tokens),
    )
    return figure.update_layout(title=theme.title(stage, *notes))


def _scores(record: TokenUpdate, head: int, rate: float) -> Drawn:
    """p, y and p − y of the right token and the most probable others."""
    best = np.argsort(-record.probabilities, kind="stable")[:BARS].tolist()
    shown = [record.label, *(n for n in best if n != record.label)][:BARS]
    names = theme.ticked([theme.label(record.vocabulary[n]) for n in shown], [n == record.label for n in shown])
    kinds = (("p", record.probabilities), ("y", record.one_hot), ("p − y", record.scores_slope))
    figure = go.Figure([
        go.Bar(x=values[shown], y=list(range(len(shown))), orientation="h", name=name, meta=colour, customdata=names,
               hovertemplate=f"%{{customdata}}: {name} = <b>%{{x:.4f}}</b><extra></extra>")
        for colour, (name, values) in enumerate(kinds)
    ])  # fmt: skip
    rest = len(record.vocabulary) - len(shown)
    note = f"the other {rest:,} tokens share {1 - record.probabilities[shown].sum():.3g}" if rest else ""
    figure.update_layout(
        barmode="group", xaxis={"range": [-1.05, 1.05], "zeroline": True, "title": "p: probability, y: target"},
        yaxis=theme.named_axis(names, down=True), height=60 + 44 * len(shown),
    )  # fmt: skip
    return figure, (note,)


def _states(record: TokenUpdate, head: int, rate: float) -> Drawn:
    """The length of ∂L/∂h at every position of every layer."""
    values = record.states_slope
    names = ["input", *(f"layer {n}" for n in range(len(values) - 1))]
    shares = values / values.max(1, keepdims=True).clip(1e-30)
    heat = go.Heatmap(
        z=shares.astype(np.float32), customdata=values, coloraxis="coloraxis", xgap=1, ygap=1, name="length of ∂L/∂h",
        hovertemplate="%{y}, <b>%{x}</b>: <b>%{customdata:.3g}</b><extra></extra>",
    )  # fmt: skip
    figure = go.Figure(heat).update_layout(
        xaxis={**theme.token_axis(record.tokens), "tickangle": -60}, yaxis=theme.named_axis(names, title="after"),
        height=90 + 46 * len(names), **theme.colours(shares, signed=False),
    )  # fmt: skip
    ends = f"{values[-1].max():.2g} after the last layer, {values[0].max():.2g} at the input"
    longest = f"each row is scaled to a maximum of 1; the longest are {ends}"
    return figure, (f"predicted at position {record.row}: after the last layer only that state receives a gradient", longest)


def _head(record: TokenUpdate, head: int, rate: float) -> Drawn:
    """∂L/∂A and ∂L/∂S of one head."""
    figure = make_subplots(1, 2, subplot_titles=(MOVE % "A", MOVE % "S"), horizontal_spacing=0.14)
    names = theme.labels(record.tokens)
    for column, (name, cells) in enumerate(
        (("A", record.weights_slope[head]), ("S", record.masked_scores_slope[head])), start=1
    ):
        top = float(np.abs(cells).max()) or 1.0
        figure.add_heatmap(
            z=(cells / top).astype(np.float32), customdata=cells, coloraxis="coloraxis2", name=MOVE % name,
            **theme.gaps(cells), row=1, col=column, hovertemplate="query %{y}, key %{x}: <b>%{customdata:.3g}</b><extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(**theme.named_axis(names), tickangle=-60)
    figure.update_yaxes(**theme.named_axis(names, down=True))
    figure.update_layout(height=110 + 26 * max(8, len(names)), coloraxis2={"cmin": -1, "cmax": 1, "cmid": 0})
    where = f"{record.stream}, layer {record.layer}, head {head}; each panel is scaled to a maximum of 1"
    return figure, (where, "a row of ∂L/∂S sums to 0")


def _matrices(record: TokenUpdate, head: int, rate: float) -> Drawn:
    """The part of ∂L/∂W that one head has, of each of its four matrices."""
    figure = make_subplots(
        4, 1, subplot_titles=[f"{MOVE % name}{'ᵀ' * (name == 'W_O')}" for name in PROJECTIONS], vertical_spacing=0.06
    )
    for row, name in enumerate(PROJECTIONS, start=1):
        cells = record.of_head(name, head)
        top = float(np.abs(cells).max()) or 1.0
        figure.add_heatmap(
            z=(cells / top).astype(np.float32), customdata=cells, coloraxis="coloraxis2", name=MOVE % name, row=row, col=1,
            hovertemplate="row %{y}, column %{x}: <b>%{customdata:.3g}</b><extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(showgrid=False, visible=False)
    figure.update_yaxes(showgrid=False, visible=False, autorange="reversed")
    lengths = ", ".join(f"{name} {np.sqrt((record.slopes[name] ** 2).sum()):.2g}" for name in PROJECTIONS)
    figure.update_layout(height=560, coloraxis2={"cmin": -1, "cmax": 1, "cmid": 0})
    where = f"{record.stream}, layer {record.layer}, head {head}: a row for each of its dimensions, a column for each of the layer's"
    return figure, (where, f"each panel is scaled to a maximum of 1; lengths of all heads: {lengths}")


def _embedding(record: TokenUpdate, head: int, rate: float) -> Drawn:
    """The rows of ∂L/∂E with the longest gradients."""
    lengths = np.sqrt((record.slopes["E"] ** 2).sum(1))
    rows = np.argsort(-lengths, kind="stable")[:ROWS]
    cells = record.slopes["E"][rows]
    names = [theme.label(record.vocabulary[record.ids[n]]) for n in rows]
    named = theme.ticked(names, [record.ids[n] == record.label for n in rows])
    heat = go.Heatmap(
        z=cells.astype(np.float32), coloraxis="coloraxis2", name="∂L/∂E",
        hovertemplate="%{y}, dimension %{x}: <b>%{z:.3g}</b><extra></extra>",
    )  # fmt: skip
    read = set(record.tokens.ids.tolist())
    apart = sum(int(record.ids[n]) not in read for n in rows)
    note = (
        f"{apart} of these {len(rows)} tokens are not in what is read: their rows move as rows of the output layer"
        if apart
        else ""
    )
    figure = go.Figure(heat).update_layout(
        yaxis=theme.named_axis(named, down=True), xaxis={"showgrid": False, "title": "dimension"}, height=80 + 30 * len(rows),
        **theme.colours(cells, signed=True),
    )  # fmt: skip
    return figure, ("the rows with the longest gradients, of those in the text and the most probable tokens", note)


def _checked(record: TokenUpdate, head: int, rate: float) -> Drawn:
    """The steepest weight of each matrix: its gradient by the chain rule and as a finite difference."""
    names = [*PROJECTIONS, "E"]
    figure = go.Figure()
    for colour, (name, values) in enumerate((("chain rule", record.steepest[:, 1]), ("finite difference", record.differences))):
        figure.add_bar(
            x=values, y=list(range(len(names))), orientation="h", name=name, meta=colour, text=[f"{v:.6g}" for v in values],
            customdata=[f"{names[n]}[{', '.join(map(str, place))}]" for n, place in enumerate(record.places.tolist())],
            hovertemplate=f"%{{customdata}}, {name}: <b>%{{x:.9g}}</b><extra></extra>",
        )  # fmt: skip
    gaps = np.abs(record.steepest[:, 1] - record.differences) / np.abs(record.steepest[:, 1]).clip(1e-12)
    places = [f"{name}[{i}, {j}]" for name, (i, j) in zip(names, record.places.tolist(), strict=True)]
    figure.update_layout(
        barmode="group", yaxis=theme.named_axis(places, down=True), xaxis={"title": "∂L/∂w", "zeroline": True}, height=380
    )
    return figure, (f"the steepest weight of each matrix; the two agree to {gaps.max():.0e} of the gradient",)


def _step(record: TokenUpdate, head: int, rate: float) -> Drawn:
    """The loss after an update with each learning rate, what the gradient promises, and the other tokens of the text."""
    figure, rates = go.Figure(), record.rates[1:]
    promised = record.expected(rates)
    kept = promised > 0
    series = [
        ("this token", rates, record.losses[1:], 0, {}),
        ("promised: L − η |g|²", rates[kept], promised[kept], 6, {"dash": "dot"}),
    ]
    if np.isfinite(record.others).all():
        series.append(("other tokens, mean", rates, record.others[1:], 1, {}))
    for name, x, y, colour, line in series:
        figure.add_scatter(
            x=x, y=y, name=name, meta=colour, mode="lines+markers", line=line,
            hovertemplate=f"η = %{{x:g}}: {name} <b>%{{y:.4f}}</b><extra></extra>",
        )  # fmt: skip
    at = int(np.flatnonzero(record.rates == rate)[0])
    figure.add_hline(y=record.loss, line={"dash": "dash", "width": 1})
    figure.add_vline(x=rate, line={"width": 1})
    weight, slope = record.steepest[0]
    elsewhere = f"; other tokens {record.others[0]:.3f} → {record.others[at]:.3f}" if np.isfinite(record.others[at]) else ""
    figure.update_layout(
        xaxis={"type": "log", "title": "learning rate η", "dtick": 1, "exponentformat": "none"},
        yaxis={"title": "loss (nats)", "range": [0, 2 * max(record.loss, np.nan_to_num(record.others[0]), 0.01)]},
        height=360,
    )
    place, now = ", ".join(map(str, record.places[0])), _number(weight - rate * slope)
    moved = f"W_Q[{place}]: {_number(weight)} − {rate:g} · {_number(slope)} = {now}"
    return figure, (f"η = {rate:g}: this token {record.loss:.3f} → {record.losses[at]:.3f}{elsewhere}", moved)


def pair_update(record: PairUpdate, *, rate: float) -> go.Figure:
    """word2vec's network is one table of vectors and one product. Bars: σ(w·c), the probability that the pair is a real one, before and
    after one update; its target is in brackets: 1 for the real context word, 0 for a negative sample. Right: the same vectors before and
    after, seen in the plane of the centre word w and of its update. Each arrow is one vector that moves: w, its context word c, and the
    negative samples. It is drawn longer than the move is, by the number above the picture; a dot is where the vector was.

    You may conclude that one update turns w toward its context word and away from the negative samples, each by its error σ − y: a pair
    that is already right hardly moves. You may not conclude where the vectors end: the next pair moves them again.
    """
    after = record.moved(rate)
    figure = make_subplots(1, 2, subplot_titles=("σ(w·c) (target)", "the vectors move"), horizontal_spacing=0.14)
    _pair_bars(figure, record, after)
    if (times := _arrows(figure, record, after)) > 1:
        figure.layout.annotations[1].text += f"<br>(arrows {times:,} ×)"
    number = int(np.abs(record.centre_slope).argmax())
    slope = record.centre_slope[number]
    moved = "falls" if after.loss < record.loss else "rises" if after.loss > record.loss else "stays"
    note = (
        f"The loss of “{theme.label(record.word)}” beside “{theme.label(record.words[0])}” {moved}, "
        f"from {record.loss:.3f} to {after.loss:.3f}."
    )
    facts = (
        f"{theme.printable(record.model)}, η = {rate:g}",
        f"w[{number}]: {_number(record.centre[number])} − {rate:g} · {_number(slope)} = {_number(after.centre[number])}; "
        f"∂L/∂w[{number}] by finite difference: {_number(record.difference(number))}",
    )
    title = theme.title("One pair, one update", note)
    return figure.update_layout(title=title, **theme.measured(*facts), barmode="group", height=320)


def _pair_bars(figure: go.Figure, record: PairUpdate, after: PairUpdate) -> None:
    """σ(w·c) of each word before and after."""
    names = [theme.label(word) for word in record.words]
    names = [f"{name} ({label:.0f})" for name, label in zip(names, record.labels, strict=True)]
    for colour, (name, values) in enumerate((("before", record.sigma), ("after", after.sigma))):
        figure.add_bar(
            x=values, y=list(range(len(names))), orientation="h", name=name, meta=colour, customdata=record.errors, row=1, col=1,
            hovertemplate=f"%{{y}} {name}: σ = <b>%{{x:.4f}}</b>; error before σ − y = %{{customdata:.4f}}<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(**theme.named_axis(names, down=True), row=1, col=1)
    figure.update_xaxes(range=[0, 1.02], row=1, col=1)


def _arrows(figure: go.Figure, record: PairUpdate, after: PairUpdate) -> int:
    """Where each vector was and where it moves, in the plane of the centre word and its update; how much longer the arrows are."""
    axes = np.linalg.qr(np.stack((record.centre, record.centre_slope), axis=1))[0]  # [dim, 2]
    axes = axes * np.sign([axes[:, 0] @ record.centre or 1, -(axes[:, 1] @ record.centre_slope) or 1])
    before, then = (np.vstack((each.centre, each.contexts)) @ axes for each in (record, after))
    longest, wide = np.linalg.norm(then - before, axis=1).max(), np.ptp(before, axis=0).max()
    times = max(1, int(float(f"{LONGEST * wide / max(longest, 1e-9):.0e}")))  # one digit, and noughts
    drawn = before + times * (then - before)
    names = [theme.label(f"w {record.word}"), *(theme.label(f"c {word}") for word in record.words)]
    every = np.concatenate((before, drawn))
    spans = np.maximum(1e-6, ROOM * np.ptp(every, axis=0))
    written = [*names[:2], *(name[2:] for name in names[2:]), *[""] * 2 * len(names)]  # nothing is written on an arrow
    way = np.concatenate((before, (before + drawn) / 2, drawn)) * PIXELS / spans
    texts, sides = apart(written, way, [True] * len(way))
    texts = [
        "" if "left" in side else text for text, side in zip(texts, sides, strict=True)
    ]  # there the numbers of the axis are
    for number, name in enumerate(names):
        colour = min(number, 2)
        figure.add_scatter(
            x=[before[number, 0], drawn[number, 0]], y=[before[number, 1], drawn[number, 1]], mode="lines+markers+text", meta=colour,
            marker={"symbol": ["circle", "arrow"], "angleref": "previous", "size": [6, 14]}, text=[texts[number], ""],
            textposition=sides[number], name=name, customdata=np.stack((before[number], then[number])), showlegend=False,
            hovertemplate=f"{name}: %{{customdata[0]:.3f}}, %{{customdata[1]:.3f}}<extra></extra>", row=1, col=2,
        )  # fmt: skip
    for way, update, title in zip(
        (0, 1), (figure.update_xaxes, figure.update_yaxes), ("along w", "along its update"), strict=True
    ):
        middle = (every[:, way].min() + every[:, way].max()) / 2
        update(title_text=title, zeroline=True, range=[middle - spans[way] / 2, middle + spans[way] / 2], row=1, col=2)
    return times


def _number(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


STAGES: dict[str, Callable[[TokenUpdate, int, float], Drawn]] = {
    "1 At the scores: p − y": _scores,
    "2 Back through the layers": _states,
    "3 Inside one head": _head,
    "4 At the weight matrices": _matrices,
    "5 At the embeddings": _embedding,
    "6 The same by finite difference": _checked,
    "7 The update, and the loss after it": _step,
}


def choices(record: TokenUpdate) -> Mapping[str, Control]:
    """Which picture, of which head, after a step of which size."""
    rates = tuple(float(rate) for rate in record.rates[1:])
    return {
        "stage": Choice("Step", tuple(STAGES), ordered=True),
        "head": Choice("Head", tuple(range(record.heads)), ordered=True),
        "rate": Choice("Learning rate η", rates, rates[len(rates) // 2], ordered=True),
    }


is_token_update = only(TokenUpdate, "ex.analysis.token_update(model, text) makes")
is_pair_update = only(PairUpdate, "ex.analysis.pair_update(model, word, near, others) makes")
VIEWS = by_name(
    View("token-update", "One update, seen", token_update, is_token_update, choices),
    View(
        "pair-update",
        "One pair of word2vec, one update",
        pair_update,
        is_pair_update,
        lambda record: {"rate": Choice("Learning rate η", RATES, 0.3, ordered=True)},
    ),
)
