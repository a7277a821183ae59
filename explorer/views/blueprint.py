"""The architecture of a model as a diagram, and its input as a sum of embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.records import Blueprint, Part, Trace
from explorer.views import theme
from explorer.views.attention import is_trace
from explorer.views.view import Choice, Control, View, also, by_name, only

STEP = 40  # pixels for each row of boxes
TONES = {"attention": -0.3, "cross-attention": -0.55, "feed-forward": 0.3, "norm": 0.1, "sum": 0.16, "head": 0.05}
CHOSEN = 0.9
LINE = 6  # the grey among the colours
REPEATED = ("attention", "cross-attention", "feed-forward")
BESIDE = ("norm before ", "norm after ")  # the norm of a sub-layer


def diagram(record: Blueprint, *, block: str) -> go.Figure:
    """The architecture from the input at the bottom to the output at the top. Each box names a part and its number of parameters.

    A frame holds the parts that are repeated in each layer; its number says how many layers there are, and the numbers in its boxes count
    all of them. The arcs to the right of the boxes are the residual connections: the input of a sub-layer bypasses it and is added to its
    output. The line from the encoder to the decoder shows what cross-attention attends to. Choose a part, or click it, for its formula, the
    shapes of its input and output, and its weights. The parameters are counted in the PyTorch module itself.

    You may conclude where the parameters of a model are. You may not conclude where its knowledge is, nor what it costs to run: an
    embedding table is large but costs almost nothing, since only the rows of the tokens in the text are read.
    """
    placed = layout(record)
    chosen = record.part(block)
    notes = (f"{record.total:,} parameters in all", f"{chosen.title}: {chosen.counted:,} ({chosen.counted / record.total:.1%})")
    top = max(row for _, row in placed.values()) + 1
    columns = max(column for column, _ in placed.values()) + 1
    figure = go.Figure(
        [_boxes(record, placed, block), *_frames(record, placed), *_residual(record, placed), *_crossing(record, placed)]
    )
    heads = {part.stream: placed[part.title][0] for part in record.parts if part.stream != "head"}
    return figure.update_layout(
        title=theme.title(f"{theme.label(record.model)}, {record.family}: architecture", *notes),
        xaxis={"visible": False, "range": [-0.68, columns - 0.32], "fixedrange": True},
        yaxis={"visible": False, "range": [-1.1, top], "fixedrange": True},
        annotations=[
            {"x": column, "y": -0.75, "text": f"<b>{name}</b>", "showarrow": False, "font": {"size": 16}} for name, column in heads.items()
        ],
        showlegend=False, height=STEP * (top + 1), barmode="overlay",
    )  # fmt: skip


def layout(record: Blueprint) -> dict[str, tuple[int, float]]:
    """The column and the row (from below) of each block, by title. In pre-norm models the norm is below its block."""
    placed: dict[str, tuple[int, float]] = {}
    streams = list(dict.fromkeys(part.stream for part in record.parts if part.stream != "head"))
    for column, stream in enumerate(streams):
        row = 0.0
        for part in ordered([part for part in record.parts if part.stream == stream], record.place):
            row += 0.35 if part.name in ("attention", "last norm", "mask decoder") or opens(part, record.place) else 0.0
            placed[part.title] = (column, row)
            row += 1
    height = max(row for column, row in placed.values() if column == len(streams) - 1)
    for number, part in enumerate(part for part in record.parts if part.stream == "head"):
        placed[part.title] = (len(streams) - 1, height + 1.45 + number)
    return placed


def opens(part: Part, place: str) -> bool:
    """Whether a frame begins below this block."""
    return place == "pre" and part.name == "norm before attention"


def ordered(parts: Sequence[Part], place: str) -> list[Part]:
    """The blocks in the order in which they are computed: in pre-norm models the norm comes before its block."""
    in_order = list(parts)
    for n in range(1, len(in_order)):
        if place == "pre" and in_order[n].name == f"norm before {in_order[n - 1].name}":
            in_order[n - 1], in_order[n] = in_order[n], in_order[n - 1]
    return in_order


def _boxes(record: Blueprint, placed: Mapping[str, tuple[int, float]], block: str) -> go.Bar:
    """All blocks, in the order of the record, so that a click can be traced to its block."""
    tones = [CHOSEN if part.title == block else TONES[part.kind] for part in record.parts]
    return go.Bar(
        x=[placed[part.title][0] for part in record.parts], base=[placed[part.title][1] - 0.43 for part in record.parts],
        y=[0.86] * len(record.parts), width=0.82, customdata=tones, name=theme.BOXES, textangle=0, constraintext="none",
        text=[f"{shown(part, record.place)}<br><b>{part.counted:,}</b>{_tied(part)}" for part in record.parts], textposition="inside",
        insidetextanchor="middle", textfont={"size": 13}, marker={"line": {"width": 1}},
        hovertext=[f"<b>{part.title}</b><br>{part.given} → {part.made}<br>{part.written}" for part in record.parts],
        hovertemplate="%{hovertext}<extra></extra>",
    )  # fmt: skip


def _tied(part: Part) -> str:
    """Beside the number of an output layer that has no weights but those of the embeddings."""
    return " (shared)" if part.kind == "head" and not part.counted else ""


def repeated(part: Part) -> bool:
    """Whether every layer has this block: a sub-layer, or its norm."""
    return part.name.removeprefix(BESIDE[0]).removeprefix(BESIDE[1]) in REPEATED


def shown(part: Part, place: str) -> str:
    """The name in a box. Where the norm comes after the sum the paper calls it “add & norm”."""
    if part.name.startswith(BESIDE):
        return "add & norm" if place == "post" else "norm"
    return f"{part.name}, add" if place != "post" and part.name in REPEATED else part.name


def _frames(record: Blueprint, placed: Mapping[str, tuple[int, float]]) -> list[go.Scatter]:
    """A frame around the repeated blocks, with the number of layers."""
    traces = []
    for stream in dict.fromkeys(part.stream for part in record.parts if part.stream != "head"):
        inside = [part for part in record.parts if part.stream == stream and repeated(part)]
        rows = [placed[part.title][1] for part in inside]
        column = placed[inside[0].title][0]
        left, right, low, high = column - 0.49, column + 0.49, min(rows) - 0.55, max(rows) + 0.55
        count = inside[0].times
        traces.append(
            go.Scatter(
                x=[left, right, right, left, left], y=[low, low, high, high, low], mode="lines", meta=LINE, line={"width": 1.5},
                hovertemplate=f"{count} layers like this<extra></extra>", name=f"{stream} layers",
            )
        )  # fmt: skip
        times = f"<b>×{count}</b>"
        at, away, text = (left, "left", f"{times}\u2002") if column == 0 else (right, "right", f"\u2002{times}")
        label = go.Scatter(
            x=[at], y=[(low + high) / 2], mode="text", text=[text], textposition=f"middle {away}", textfont={"size": 15},
            hoverinfo="skip", name="layers", meta=LINE,
        )  # fmt: skip
        traces.append(label)
    return traces


def _residual(record: Blueprint, placed: Mapping[str, tuple[int, float]]) -> list[go.Scatter]:
    """An arc around each sub-layer with its norm, from below both to where its input is added."""
    arcs = []
    for part in (part for part in record.parts if part.name in REPEATED):
        norms = [
            placed[other.title]
            for other in record.parts
            if other.stream == part.stream and other.name in (f"{side}{part.name}" for side in BESIDE)
        ]
        column, row = placed[part.title]
        low, high = min([row, *(at for _, at in norms)]), max([row, *(at for _, at in norms)])
        x = column + np.array([0, 0.455, 0.455, 0.41])
        arcs.append(
            go.Scatter(
                x=x, y=[low - 0.5, low - 0.5, high + 0.25, high + 0.25], mode="lines+markers", meta=LINE, line={"width": 2},
                marker={"size": [0, 0, 0, 8], "symbol": "arrow-left"}, name="residual connection",
                hovertemplate=f"{part.name}: its input is added to its output<extra></extra>",
            )
        )  # fmt: skip
    return arcs


def _crossing(record: Blueprint, placed: Mapping[str, tuple[int, float]]) -> list[go.Scatter]:
    """From the top of the encoder to every cross-attention."""
    if "decoder: cross-attention" not in placed or record.family != "encoder-decoder":
        return []
    column, row = placed["decoder: cross-attention"]
    top = max(at for side, at in placed.values() if side == column - 1) + 0.75
    between = column - 0.5
    return [
        go.Scatter(x=[column - 1, column - 1, between, between, column - 0.45], y=[top - 0.3, top, top, row, row], mode="lines+markers",
                   marker={"size": [0, 0, 0, 0, 9]}, line={"width": 3}, meta=1, name="memory",
                   hovertemplate="the encoder's last hidden states<extra></extra>")
    ]  # fmt: skip


def summed(trace: Trace, *, side: str, word: int) -> go.Figure:
    """The input of the first layer is a sum of embeddings: one for the token, one for its position, often one for its segment.

    The lowest row is the sum. In some models a norm follows before the first layer; in some no position embedding is added, because
    positions come in later (as a bias on the scores, or by rotating queries and keys). Point at a cell of the sum for its operands.

    You may conclude how large the token and the position embedding are in this sum. You may not conclude what a single dimension
    means: every layer reads all dimensions at once, and training is free to rotate them.
    """
    first = "source " if side == "source" and trace.target is not None else ""
    parts = {
        name: trace.embeddings[first + name] for name in ("token", "position", "segment") if first + name in trace.embeddings
    }
    total = trace.embeddings[f"{first}sum"]
    tokens = trace.source if side == "source" or trace.target is None else trace.target
    place = min(word, len(tokens) - 1)
    names = [*parts, "sum"]
    values = np.stack([*(_rows(vectors)[place] for vectors in parts.values()), _rows(total)[place]]).astype(np.float64)
    gap = float(np.abs(values[:-1].sum(0) - values[-1]).max())
    operands = np.array([[" + ".join(f"{value:.3f}" for value in values[:-1, n])] for n in range(values.shape[1])])[:, 0]
    hover = np.array([[""] * values.shape[1]] * (len(names) - 1) + [[f"{operand} = " for operand in operands]])
    heat = go.Heatmap(
        z=values.astype(np.float32), customdata=hover, coloraxis="coloraxis2", xgap=0, ygap=3, name="sum",
        hovertemplate="%{y}, dimension %{x}<br>%{customdata}<b>%{z:.4f}</b><extra></extra>",
    )  # fmt: skip
    lengths = ", ".join(f"{name} {np.linalg.norm(row):.2f}" for name, row in zip(names, values, strict=True))
    notes = (f"norms: {lengths}", f"largest difference from the model's own sum: {gap:.0e}", theme.unseen_note(tokens))
    return go.Figure(heat).update_layout(
        title=theme.title(f"“{theme.label(tokens.texts[place])}” (position {place}) at the input", *notes),
        xaxis={"title": "dimension", "showgrid": False},
        yaxis=theme.named_axis(names, down=True),
        **theme.colours(values, signed=True), height=58 * len(names),
    )  # fmt: skip


def _rows(values: np.ndarray) -> np.ndarray:
    """Vectors by position; one that is the same for every text may have an extra first axis."""
    return values.reshape(-1, values.shape[-1])


def sum_choices(trace: Trace) -> Mapping[str, Control]:
    """Which text, and which position in it."""
    sides = ("source",) if trace.target is None else ("source", "target")
    count = max(len(trace.source), 0 if trace.target is None else len(trace.target))
    return {"side": Choice("Text", sides), "word": Choice("Position", tuple(range(count)), min(1, count - 1), ordered=True)}


has_sum = also(
    is_trace, lambda trace: {"sum", "token"} <= set(trace.embeddings), "this trace does not hold the parts of the input."
)


is_blueprint = only(Blueprint, "ex.analysis.blueprint(model, text) makes")
VIEWS = by_name(
    View(
        "blueprint",
        "The architecture of a model",
        diagram,
        is_blueprint,
        lambda record: {"block": Choice("Part", tuple(part.title for part in record.parts))},
    ),
    View("input-sum", "The input as a sum", summed, has_sum, sum_choices),
)
