"""Inside a fine-tuned model: its table of spans, what fine-tuning changed, probes of its layers, and its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.records import Answers, LayerProbes, SpanTable, TaskChange
from explorer.views import theme
from explorer.views.view import Choice, Control, View, also, by_name, only, other

WHOLE = {"tickmode": "linear", "dtick": 1, "showgrid": False}
PARTS = {"probability": "P", "whole score": "s + e + g + b", "start s_i": "s", "end e_j": "e", "summary g_ij": "g"}


def spans(record: SpanTable, *, shows: str, label: str) -> go.Figure:
    """Every span of the text: the row is its first token i, the column its last token j. Its score is the sum of s_i (how well
    token i begins an answer, the same along a row), e_j (how well token j ends one, the same along a column) and g_ij (for what is in
    the span). A text of T tokens has T(T + 1)/2 spans with i ≤ j (single tokens included; the slide's T(T − 1)/2 leaves them out),
    fewer where a span may not be longer than a limit. Grey cells are not spans.

    You may conclude which span the model prefers, and through which part. You may not conclude that a part alone would decide so: the
    three were trained together, and a constant added to one and subtracted from another changes no sum.
    """
    n = record.classes.index(label)
    cells = np.where(record.legal, _part(record, shows)[..., n], np.nan)
    i, j, best = record.best
    texts = [theme.printable(text) for text in record.tokens.texts[i : j + 1]]
    over = "over all spans" if record.one_answer else "over the classes of each span"
    notes = (
        f"{record.count} spans; softmax {over}",
        f"likeliest: “{' '.join(texts)}” ({theme.printable(best)}), P = {theme.percent(record.chances[i, j, record.classes.index(best)])}",
    )
    signed = shows != "probability"
    figure = go.Figure(
        go.Heatmap(
            z=cells.astype(np.float32), coloraxis="coloraxis2" if signed else "coloraxis", hoverongaps=False, name=PARTS[shows],
            hovertemplate=f"<b>%{{y}}</b> … <b>%{{x}}</b><br>{PARTS[shows]} = <b>%{{z:.4g}}</b><extra></extra>", **theme.gaps(cells),
        )
    )  # fmt: skip
    summed = np.stack([np.where(record.legal, _part(record, part)[..., n], np.nan) for part in PARTS if part != "probability"])
    below = (
        theme.colours(summed, signed=True) if signed else theme.colours(cells, signed=False)
    )  # a sum and its parts have one scale
    return figure.update_layout(
        title=theme.title(f"Spans: {shows}" + ("" if record.one_answer else f", class {theme.printable(label)}"), *notes),
        **theme.token_axes(record.tokens, record.tokens),
        height=max(220, 30 * len(record.tokens)), **below,
    )  # fmt: skip


def _part(record: SpanTable, shows: str) -> np.ndarray:
    """What is drawn of every span [token, token, class]."""
    if shows == "probability":
        return record.chances
    if shows == "summary g_ij":
        return record.inside
    parts = {"start s_i": record.start[:, None], "end e_j": record.end[None]}
    return np.broadcast_to(parts[shows], record.inside.shape) if shows in parts else record.scores


def before_after(record: TaskChange, *, stream: str, layer: int, head: int, shows: str) -> go.Figure:
    """The attention of one head on the same tokens before and after fine-tuning, or the difference (blue: more after, brown: less).
    Each row attends to the columns; rows before and after sum to 1, so rows of the difference sum to 0. Before and after share one scale.

    You may conclude where this head attends differently now, in this text. You may not conclude that the task needs it: most heads
    move a little with whatever is trained.
    """
    rows, columns = record.before.axes(stream)
    values = {
        "before": record.before.at(stream, layer).weights[head],
        "after": record.after.at(stream, layer).weights[head],
        "difference": record.weights(stream, layer, head),
    }[shows]
    signed = shows == "difference"
    moved = float(np.abs(record.weights(stream, layer, head)).max())
    notes = (_summary(record), f"{stream}; largest change of a weight in this head: {moved:.3f}", theme.unseen_note(columns))
    figure = go.Figure(
        go.Heatmap(
            z=values.astype(np.float32), coloraxis="coloraxis2" if signed else "coloraxis3", name=shows,
            hovertemplate="<b>%{y}</b> → <b>%{x}</b><br>%{z:.4f}<extra></extra>", **theme.gaps(values),
        )
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title(f"Layer {layer}, head {head}: {shows}", *notes),
        **theme.token_axes(rows, columns),
        height=max(220, 30 * len(rows)),
        **(theme.colours(values, signed=True) if signed else theme.colours_of_weights()),
    )  # fmt: skip


def moved(record: TaskChange, *, stream: str) -> go.Figure:
    """How far fine-tuning moved the state of each token, after each layer, as a share of its length before: 0 is no change, 1 a
    change as long as the state itself. After 0 layers it is the input.

    You may conclude in which layers, and at which tokens, fine-tuning changed most: in a frozen model no state changes. You
    may not conclude that a layer that changed more matters more: its states also change with those of the layers below.
    """
    values = record.moved(stream)
    rows, _ = record.before.axes(stream)
    notes = (_summary(record), theme.unseen_note(rows))
    figure = go.Figure(
        go.Heatmap(
            z=values.astype(np.float32), coloraxis="coloraxis", name="moved", **theme.gaps(values),
            hovertemplate="after %{y} layers, <b>%{x}</b><br>moved by <b>%{z:.3f}</b> of its length<extra></extra>",
        )
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title("How far each state moved", *notes),
        xaxis={**theme.token_axis(rows), "tickangle": -60}, yaxis={**WHOLE, "title": theme.DEPTH, "autorange": "reversed"},
        height=60 + 40 * len(values), **theme.colours(values, signed=False),
    )  # fmt: skip


def _summary(record: TaskChange) -> str:
    """What both models say to the text."""
    if not record.labels:
        return f"fine-tuned for {theme.printable(record.task)}"
    answers = [
        "no output layer yet"
        if np.isnan(row).any()
        else f"{theme.printable(record.labels[int(row.argmax())])} ({row.max():.2f})"
        for row in record.chances
    ]
    return f"{theme.printable(record.task)}: before {answers[0]}, after {answers[1]}"


def probes(record: LayerProbes | Sequence[LayerProbes] | TaskChange) -> go.Figure:
    """What a linear classifier reads off the states of a frozen model: the score on new texts, after each layer. After 0 layers
    it is the input. Several lines are several models, or one before and after fine-tuning. The dashed line is the score of always giving
    the most frequent answer.

    You may conclude that a layer holds what the task asks, in a form that one linear layer can read. You may not conclude that the
    model uses it, nor that a layer with a low score lacks it: it may hold it in another form.
    """
    all_probes = _probes_of(record)
    figure = go.Figure()
    before = isinstance(record, TaskChange)
    for n, probe in enumerate(all_probes):
        name = ("before", "after")[n] if before else theme.printable(probe.model)
        figure.add_scatter(
            x=np.arange(len(probe.scores)), y=probe.scores, mode="lines+markers", name=name, meta=n, marker={"size": 9},
            line={"width": 3}, hovertemplate=f"{name}, after %{{x}} layers: <b>%{{y:.3f}}</b><extra></extra>",
        )  # fmt: skip
    deepest = max(len(probe.scores) for probe in all_probes) - 1
    figure.add_scatter(
        x=[0, deepest], y=[all_probes[0].blind] * 2, mode="lines", name="most frequent answer", meta=6, line={"width": 2, "dash": "dash"},
        hovertemplate="most frequent answer: <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    notes = (
        theme.printable(all_probes[0].task),
        f"{all_probes[0].counts[0]} examples to learn from, {all_probes[0].counts[1]} new ones",
    )
    return figure.update_layout(
        title=theme.title("Layer probes", *notes), height=220,
        xaxis={**WHOLE, "title": theme.DEPTH}, yaxis={"title": all_probes[0].metric},
    )  # fmt: skip


def _probes_of(record: object) -> tuple[LayerProbes, ...]:
    if isinstance(record, TaskChange):
        return record.probes
    return (record,) if isinstance(record, LayerProbes) else tuple(record) if isinstance(record, Sequence) else ()


def confusion(record: Answers) -> go.Figure:
    """How often each answer was given to texts of each label: rows are the labels, columns the answers. Right answers are on the diagonal.
    Numbers and colours are shares of each row, so that a rare label can be read as well; a pointer reads how many texts they are.

    You may conclude which labels this model confuses. You may not conclude anything from a single cell of a few texts: look at
    how many there are.
    """
    counts = record.confusion
    shares = counts / np.maximum(1, counts.sum(1, keepdims=True))
    names = [theme.printable(label) for label in record.labels]
    notes = (
        theme.printable(record.task),
        f"{theme.printable(record.metric)} {record.score:.3f}; {int(record.right.sum())} of {len(record.gold)} answers right",
    )
    figure = go.Figure(
        go.Heatmap(
            z=shares, x=names, y=names, text=[[theme.percent(share) for share in row] for row in shares], texttemplate="%{text}",
            customdata=counts, coloraxis="coloraxis", xgap=1, ygap=1, name="confusion",
            hovertemplate="label %{y}, answer %{x}: <b>%{text}</b> of the label, %{customdata} texts<extra></extra>",
        )
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title("Label and answer", *notes),
        xaxis={"title": "answer", "tickangle": -45},
        yaxis={"title": "label", "autorange": "reversed"},
        height=50 + 42 * len(names), **theme.colours(shares, signed=False),
        coloraxis_colorbar={"title": "share of<br>the label", "tickformat": ".0%"},
    )  # fmt: skip


def slices(record: Answers) -> go.Figure:
    """The share of right answers in parts of the texts: by label, by length, and with words that pre-training did not have. The number
    behind a bar is how many answers it has. The dashed line is the share over all.

    You may conclude where this model is weaker, if a part has many answers. You may not conclude why: parts overlap, and long texts
    may also be those with new words.
    """
    names = list(record.slices)
    pairs = [record.share(name) for name in names]
    labels = [theme.printable(name) for name in names]
    whole = float(record.right.mean())
    figure = go.Figure(
        go.Bar(
            x=[share for share, _ in pairs], y=labels, orientation="h", name="share right", meta=0,
            text=[f"{share:.2f} of {many}" for share, many in pairs], textposition="auto",
            hovertemplate="%{y}: <b>%{x:.3f}</b> right<extra></extra>",
        )
    )  # fmt: skip
    figure.add_scatter(
        x=[whole, whole], y=[labels[0], labels[-1]], mode="lines", name="all", meta=1, line={"width": 2, "dash": "dash"},
        hovertemplate="all: <b>%{x:.3f}</b><extra></extra>",
    )  # fmt: skip
    notes = (theme.printable(record.task), f"{len(record.gold)} answers, {whole:.3f} of them right")
    return figure.update_layout(
        title=theme.title("Right answers by part", *notes), height=36 * len(names),
        xaxis={"title": "share of right answers", "range": [0, 1.02]}, yaxis={"autorange": "reversed"},
    )  # fmt: skip


def of_spans(record: SpanTable) -> Mapping[str, Control]:
    """Which part of the score, and of which class."""
    shown = tuple(PARTS) if record.inside.any() else tuple(part for part in PARTS if not part.startswith("summary"))
    classes = record.classes if record.one_answer else (*record.classes[1:], record.classes[0])
    return {"shows": Choice("Show", shown), "label": Choice("Class", classes, record.best[2])}


def of_head(record: TaskChange) -> Mapping[str, Control]:
    """Which head, before or after."""
    attention = record.before.attention
    layers, heads = tuple(dict.fromkeys(layer.layer for layer in attention)), min(layer.heads for layer in attention)
    return {
        "stream": Choice("Attention", tuple(dict.fromkeys(layer.stream for layer in attention))),
        "layer": Choice("Layer", layers, layers[-1], ordered=True),
        "head": Choice("Head", tuple(range(heads)), ordered=True),
        "shows": Choice("Show", ("difference", "before", "after")),
    }


def of_stream(record: TaskChange) -> Mapping[str, Control]:
    """The states of which stack."""
    return {"stream": Choice("States", tuple(record.before.hidden))}


def has_probes(record: object) -> str:
    """Empty where there are probes of at least one model."""
    all_probes = _probes_of(record)
    if all_probes and all(isinstance(probe, LayerProbes) for probe in all_probes):
        return ""
    return other("what ex.training.probe_layers makes, or ex.training.before_after with probes=…", record)


CHANGED, ANSWERED = only(TaskChange, "ex.training.before_after makes"), only(Answers, "ex.training.answers makes")
has_heads = also(CHANGED, lambda record: record.before.attention, "this model has no attention whose change could be drawn.")
has_classes = also(
    ANSWERED, lambda record: record.labels, "the answers of this task are not classes, so none is taken for another."
)
VIEWS = by_name(
    View("span-table", "Table of spans", spans, only(SpanTable, "ex.analysis.span_table makes"), of_spans),
    View("before-after", "Attention before and after", before_after, has_heads, of_head),
    View("states-moved", "How far each state moved", moved, CHANGED, of_stream),
    View("layer-probes", "Layer probes", probes, has_probes),
    View("confusion", "Which label got which answer", confusion, has_classes),
    View("slices", "Right answers by part", slices, ANSWERED),
)
