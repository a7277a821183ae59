"""Prompting: the answer to one prompt, and how answers change with the form of the prompt."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Curve, Curves, Prompted, PromptScores
from explorer.views import theme
from explorer.views.curves import error_bars, furthest, heights
from explorer.views.view import Choice, Control, View, by_name, only, other

NAMED = 12  # so many forms have their names beside the picture; more are only numbered
SHOTS = "solved examples"  # what such curves have across


def answer(record: Prompted, *, text: int = 0) -> go.Figure:
    """Each bar is an answer: the probability of its word after the prompt, as a share of all the answers' words. Such a
    word is called a *verbaliser*. With content-free texts there are two more bars: what the model prefers when the text
    says nothing, and the calibrated probability, the first divided by that.

    You may conclude which verbaliser this model finds more probable here. You may not conclude that it can do the task:
    another template or verbaliser may reverse the answer. Nor that the model finds the word probable at all: only the
    verbalisers compete.
    """
    meant = [
        f"<br>means {theme.label(label)}" * (label != word) for label, word in zip(record.labels, record.words, strict=True)
    ]
    names = [f"“{theme.label(word)}”{more}" for word, more in zip(record.words, meant, strict=True)]
    rows = {"after the prompt": record.probabilities[text]}
    if len(record.free):
        rows |= {"calibrated": record.calibrated[text], "after a text that says nothing": record.prior}
    figure = go.Figure()
    for number, (label, values) in enumerate(rows.items()):
        figure.add_bar(
            orientation="h", y=np.arange(len(names)), x=values, name=label, customdata=names, meta=(0, 1, 6)[number],
            text=[theme.percent(value) for value in values], textposition="outside", textangle=0, cliponaxis=False,
            hovertemplate=f"{label}, %{{customdata}}: <b>%{{text}}</b><extra></extra>",
        )  # fmt: skip
    logs = ", ".join(f"“{theme.label(word)}” {value:.2f}" for word, value in zip(record.words, record.logp[text], strict=True))
    facts = (f"log P of the verbaliser: {logs}", f"{theme.printable(record.model)}, {len(record.shots)} shots")
    return figure.update_layout(
        title=theme.title("The answer to this prompt", _answered(record, text)), **theme.measured(*facts), barmode="group",
        **theme.lanes(names), height=(26 + 16 * len(rows)) * len(names),
    )  # fmt: skip


def _answered(record: Prompted, text: int) -> str:
    """Which verbaliser is most probable after the prompt, and whether calibration changes that."""
    first = int(record.probabilities[text].argmax())
    said = f"“{theme.label(record.words[first])}” is the most probable of these words ({theme.percent(record.probabilities[text, first])})"
    if not len(record.free):
        return f"{said}."
    then = int(record.calibrated[text].argmax())
    still = "it still is" if then == first else f"“{theme.label(record.words[then])}” is"
    return f"{said}; calibrated (divided by what it prefers anyway), {still}."


def forms(record: PromptScores) -> go.Figure:
    """Every row asks about the same texts in a different form: another template, or the same shots in another order. A dot is the share of
    right answers, a circle the same after calibration; the vertical line is the share that always giving the most frequent label
    gets right. Rows are sorted by the dots.

    You may conclude how much the form decides, with nothing else changed. You may not conclude that the best form is the best on other
    texts: it was found on these, and choosing it took labelled texts.
    """
    order = np.argsort(record.accuracy[:, 0], kind="stable")
    named, rows = len(order) <= NAMED, np.arange(len(order))
    texts = [theme.printable(record.forms[n]) for n in order]
    lean = [
        ", ".join(f"{theme.label(name)} {x:.0%}" for name, x in zip(record.labels, record.share[n], strict=True)) for n in order
    ]
    figure = go.Figure()
    for way, (label, symbol) in enumerate((("as answered", "circle"), ("calibrated", "circle-open"))):
        figure.add_scatter(
            x=record.accuracy[order, way], y=rows, mode="markers", name=label, meta=way,
            marker={"size": 12 if named else 7, "symbol": symbol, "line": {"width": 2}},
            customdata=list(zip(texts, lean, strict=True)),
            hovertemplate=f"%{{customdata[0]}}<br>{label}: <b>%{{x:.1%}}</b> right<br>it answers %{{customdata[1]}}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[record.blind] * 2, y=[-0.5, len(order) - 0.5], mode="lines", name="always one label", meta=6, line={"dash": "dot"},
        hoverinfo="skip",
    )  # fmt: skip
    low, high = record.accuracy[:, 0].min(), record.accuracy[:, 0].max()
    note = f"The form alone moves the right answers from {low:.0%} to {high:.0%}."
    names = [_folded(text) for text in texts] if named else []
    return figure.update_layout(
        title=theme.title(theme.printable(record.title), note), **theme.measured(f"{len(order)} forms", record.note),
        height=64 * len(order) if named else 420,
        xaxis={"title": "right answers", "tickformat": ".0%"},
        yaxis={
            "tickmode": "array", "tickvals": list(rows) if named else [], "ticktext": names, "range": [-0.6, len(order) - 0.4],
            "showgrid": named, "title": {"text": "" if named else "orders, sorted"},
        },
    )  # fmt: skip


def _folded(text: str, wide: int = 22) -> str:
    """A form on short lines, at most three, so that the picture keeps its place on a telephone."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= wide:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "<br>".join(lines[:3])


def shots(record: Curves) -> go.Figure:
    """A picture for each model: how many answers are right after so many solved examples. Bars are 95% intervals of the mean; they stand a
    little beside each other. The numbers below are those that were measured, one as far from the next as another: the steps between
    them grow to the right.

    You may conclude that dots differ where their bars do not overlap. You may not conclude that what was measured on small models
    also holds for larger ones, or for other texts.
    """
    split = [line.label.rsplit(", ", 1) for line in record.lines]  # who answers, and how it was told what to do
    ways = list(dict.fromkeys(way for _, way in split))
    models: dict[str, list[int]] = {}
    for n, (who, _) in enumerate(split):
        models.setdefault(who.split(" (")[0], []).append(n)
    panels = list(models.values())
    counts = [sorted({count for n in panel for count in record.lines[n].x.tolist()}) for panel in panels]
    figure = make_subplots(
        1, len(panels), shared_yaxes=True, horizontal_spacing=0.03, column_widths=[1 + len(each) for each in counts],
        subplot_titles=[theme.printable(split[panel[0]][0]).replace(" (", "<br>(") for panel in panels],
    )  # fmt: skip
    named: set[str] = set()
    for column, (panel, known) in enumerate(zip(panels, counts, strict=True), start=1):
        for n in panel:
            way = split[n][1]
            figure.add_trace(_by_shots(record.lines[n], way, ways.index(way), first=way not in named), row=1, col=column)
            named.add(way)
        figure.update_xaxes(type="category", categoryarray=[f"{count:g}" for count in known], tickangle=0, row=1, col=column)
    figure.update_xaxes(title=record.across, col=1 + len(panels) // 2, row=1)
    low, high = heights(record)
    figure.update_yaxes(range=[low - 0.03, high + 0.03])
    figure.update_yaxes(title=record.up, row=1, col=1)
    title = theme.title(record.title, furthest(record))
    return figure.update_layout(title=title, **theme.measured(record.note), height=280, scattermode="group", scattergap=0.6)


def _by_shots(line: Curve, way: str, colour: int, *, first: bool) -> go.Scatter:
    """The dots of one model told in one way, with their intervals; only the first of its colour is in the legend."""
    return go.Scatter(
        x=[f"{count:g}" for count in line.x], y=line.y, mode="lines+markers", name=theme.printable(way), meta=colour, showlegend=first,
        legendgroup=str(colour), line={"width": 2}, marker={"size": 8}, offsetgroup=str(colour),
        hovertemplate=f"{theme.printable(line.label)}, %{{x}} examples: <b>%{{y:.2f}}</b><extra></extra>", **error_bars(line),
    )  # fmt: skip


def which(record: Prompted) -> Mapping[str, Control]:
    """Which text, where there are several."""
    if len(record.texts) == 1:
        return {}
    return {"text": Choice("Text", tuple(range(len(record.texts))), 0)}


def is_by_shots(record: object) -> str:
    """Empty for curves over the number of solved examples."""
    fitting = isinstance(record, Curves) and record.across == SHOTS
    return (
        ""
        if fitting
        else other("curves by the number of solved examples, for example ex.result('prompting', 'ending')", record)
    )


is_prompt_scores = only(PromptScores, "ex.analysis.prompt_templates measures")
VIEWS = by_name(
    View("prompt-answer", "The answer to a prompt", answer, only(Prompted, "ex.prompt returns"), which),
    View("prompt-forms", "The same question in other forms", forms, is_prompt_scores),
    View("prompt-shots", "More and more solved examples", shots, is_by_shots),
)
