"""Fine-tuning up close: what is read for each task, and several ways to fine-tune side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import FinetuneWays, TaskInputs
from explorer.views import theme
from explorer.views.strips import FIRST, NEW, PLAIN, SECOND, Box, Strip, drawn, wrapped
from explorer.views.view import Choice, Control, View, also, by_name, only

SMOOTH = 0.85  # of the running mean of a loss


def inputs(record: TaskInputs, *, task: str) -> go.Figure:
    """One example of a task, as the tokens that this model reads: the two blues are its first and its second text, white tokens are
    special ones, and the output layer reads the orange ones. GPT puts every task into one row: [START] the text [EXTRACT], or, for two
    texts, [START] a [DELIM] b [EXTRACT]; the three special tokens are new and learned in fine-tuning. BERT writes [CLS] a [SEP] b [SEP].
    Only the last states of the orange tokens go into the new output layer; every other state matters only through them.

    You may conclude what the model is given, and where its answer is read. You may not conclude that the output layer alone solves
    the task: the state that it reads has gathered the text through all layers.
    """
    rows = [n for n, name in enumerate(record.tasks) if name == task]
    strips: list[Strip] = []
    for n in rows:
        read = set(record.reads[n].tolist())
        boxes = [_box(record, n, place, place in read) for place in range(len(record.tokens[n]))]
        strips += wrapped(f"{theme.printable(task)}: {len(boxes)} tokens", boxes)
    gold = theme.printable(record.answers[rows[0]])
    note = f"The output layer, which reads the orange tokens, gives {record.outputs[rows[0]]}; the gold answer is “{gold}”."
    figure = drawn(strips, f"The input for {theme.printable(task)}", (note,))
    return figure.update_layout(**theme.measured(theme.printable(record.model)))


def _box(record: TaskInputs, row: int, place: int, read: bool) -> Box:
    part = int(record.parts[row][place])
    text = record.tokens[row][place]
    tone = NEW if read else PLAIN if part < 0 else (FIRST, SECOND)[part]
    where = "special token" if part < 0 else ("first text", "second text")[part]
    return Box(
        text, tone, f"<b>{theme.label(text)}</b><br>position {place}, {where}" + (", read by the output layer" if read else "")
    )


def ways(record: FinetuneWays) -> go.Figure:
    """A bar is the score on new texts after fine-tuning in this way, on the same labels; beside it is how many weights changed.
    *full* trains every weight, *last-1* the last layer and the output layer, *lora* low-rank matrices beside frozen ones, *frozen*
    only the output layer; *scratch* has the same shape but starts from random weights, so it has learned from these labels only.
    The dotted line is the score of always giving the most frequent answer.

    You may conclude how well each method did here, with these labels. You may not conclude which method is better: this is one seed, and
    another draw of labels can reverse the order. The recorded curves by number of labels have five seeds and intervals.
    """
    order = range(len(record.ways))
    names = [theme.printable(record.ways[n]) for n in order]
    share = [
        f"{record.moved[n]:,} of {record.weights[n]:,} weights changed ({record.moved[n] / record.weights[n]:.1%})"
        for n in order
    ]
    shown = [f"{record.scores[n]:.2f} · {_short(record.moved[n])} changed" for n in order]
    figure = go.Figure(
        go.Bar(
            x=record.scores, y=names, orientation="h", name="score on new texts", meta=0, text=shown, textposition="auto",
            insidetextanchor="start", textangle=0, cliponaxis=False, customdata=share,
            hovertemplate="%{y}: <b>%{x:.3f}</b><br>%{customdata}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_scatter(
        x=[record.blind] * 2, y=[names[0], names[-1]], mode="lines", name="most frequent answer", meta=6, line={"dash": "dot", "width": 3},
        hovertemplate="most frequent answer: <b>%{x:.3f}</b><extra></extra>",
    )  # fmt: skip
    return _with_title(figure, record, "Ways to fine-tune", 46 * len(names), record.metric, reverse=True)


def losses(record: FinetuneWays, *, part: str) -> go.Figure:
    """The loss of every step, as a running mean. *Task* is L2, −log P of the right label; *next token* is L1, which a decoder minimises
    as well where λ is above 0: L3 = L2 + λ·L1.

    You may conclude how fast each method fits the labels that it is shown. You may not conclude that the method with the lowest loss is
    best on new texts: a model from scratch can memorise a hundred texts.
    """
    curves = record.loss if part == TASK else record.lm_loss
    figure = go.Figure()
    steps = np.arange(1, curves.shape[1] + 1)
    for n, way in enumerate(record.ways):
        if not np.isnan(curves[n]).all():
            name = theme.printable(way)
            figure.add_scatter(
                x=steps, y=_running(curves[n]), mode="lines", name=name, meta=n, line={"width": 3},
                hovertemplate=f"{name}, step %{{x}}: <b>%{{y:.3f}}</b><extra></extra>",
            )  # fmt: skip
    return _with_title(figure, record, f"Loss in fine-tuning: {part}", 330, "step", up="loss, nats")


def transitions(record: FinetuneWays, *, way: str) -> go.Figure:
    """What a conditional random field learned about neighbouring tags. A cell is the score A of a pair: the tag of the row, then the tag of
    the column. The first row is the beginning of a text (b), the last column its end (e). All scores are 0 before training. Of two tag
    sequences whose other scores are equal, the one with a pair of score a is e^a times as probable as the one with a pair of score 0.

    You may conclude which pairs these labelled texts raised (blue) and which they lowered (brown). You may not conclude that the
    scores decide an answer: they are added to the scores of the words, and after a short training run they are small. Nor that a pair
    with a low score is wrong: it may only be rare in these texts.
    """
    table = record.transitions[way]
    tags = [theme.printable(tag) for tag in record.tags]
    rows, columns = ["begin", *tags], [*tags, "end"]
    i, j = np.unravel_index(int(np.nanargmax(np.abs(table))), table.shape)
    most = float(table[i, j])
    notes = (
        theme.printable(f"{record.model}, {way}: {record.note}"),
        f"largest in size: {rows[i]}, then {columns[j]}: {f'{most:+.3f}'.replace('-', '−')}, e to it {np.exp(most):.2f}",
    )
    figure = go.Figure(
        go.Heatmap(
            z=table.astype(np.float32), coloraxis="coloraxis2", hoverongaps=False, name="A", **theme.gaps(table),
            hovertemplate="%{y}, then %{x}: <b>%{z:.4f}</b><extra></extra>",
        )
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title("Which tag follows which", *notes), height=40 + 40 * len(rows),
        xaxis=theme.named_axis(columns, title="next tag", tickangle=-40),
        yaxis=theme.named_axis(rows, down=True, title="tag"),
        **theme.colours(table, signed=True),
    )  # fmt: skip


TASK, NEXT = "task", "next token"


def _running(values: np.ndarray) -> np.ndarray:
    """An exponential running mean that begins at the first value."""
    means, now = [], float(values[0])
    for value in values:
        now = SMOOTH * now + (1 - SMOOTH) * float(value)
        means.append(now)
    return np.array(means)


def _short(count: int) -> str:
    """A number of weights in few letters."""
    return f"{count / 1e6:.1f} M" if count >= 1e6 else f"{count / 1e3:.1f} k" if count >= 1e3 else str(count)


def _with_title(  # noqa: PLR0913  what differs between the two
    figure: go.Figure, record: FinetuneWays, title: str, high: int, across: str, *, up: str = "", reverse: bool = False
) -> go.Figure:
    notes = (theme.printable(f"{record.model}, {record.task}: {record.note}"),)
    return figure.update_layout(
        title=theme.title(title, *notes), height=high,
        xaxis={"title": across},
        yaxis={"title": up, **({"autorange": "reversed"} if reverse else {})},
    )  # fmt: skip


def tasks(record: TaskInputs) -> Mapping[str, Control]:
    """Which task."""
    return {"task": Choice("Task", tuple(dict.fromkeys(record.tasks)))}


def parts(record: FinetuneWays) -> Mapping[str, Control]:
    """Which part of the loss."""
    return {"part": Choice("Part of the loss", (TASK,) if np.isnan(record.lm_loss).all() else (TASK, NEXT))}


def chains(record: FinetuneWays) -> Mapping[str, Control]:
    """Which way, where several have a conditional random field."""
    return {"way": Choice("Way", tuple(record.transitions))}


OF_WAYS = only(FinetuneWays, "ex.training.compare_ways returns")
has_chain = also(
    OF_WAYS,
    lambda record: record.transitions,
    "none of these ways has a conditional random field. Give one head='crf', for entities.",
)
VIEWS = by_name(
    View("task-inputs", "What is read for each task", inputs, only(TaskInputs, "ex.training.task_inputs returns"), tasks),
    View("finetune-ways", "Ways to fine-tune", ways, OF_WAYS),
    View("finetune-losses", "Loss in fine-tuning", losses, OF_WAYS, parts),
    View("tag-transitions", "Which tag follows which", transitions, has_chain, chains),
)
