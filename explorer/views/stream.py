"""The residual stream, a norm computed by hand, and which token can see which in each family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Block, Trace, Visibility
from explorer.views import theme
from explorer.views.view import Choice, Control, View, also, by_name, only, only_many

ALL = "the mean of all"
WHOSE = "rows: decoder; columns: source"
FEW = 9  # names of columns in one of several pictures in a row


def named(block: Block) -> str:
    """A sub-layer in words."""
    return f"{block.stream} {block.layer}: {block.part}"


def stream(trace: Trace, *, side: str, word: str) -> go.Figure:
    """The length of a token's vector before each sub-layer, and of the vector that the sub-layer adds to it.

    From left to right, the sub-layers in the order of computation. In post-norm models (the first Transformer, BERT, GPT, BART) layer
    normalisation rescales every sum before the next sub-layer; in pre-norm models (GPT-2, LLaMA, T5) nothing rescales the stream, and
    it mostly grows.

    You may conclude how much each sub-layer adds, compared with its input. You may not conclude that a long vector matters: it may
    have a direction that no later layer reads, and where it only makes the stream longer the next layer normalisation removes it.
    """
    blocks = [block for block in trace.blocks if block.stream == side]
    rows = trace.axes(side)[0]
    at = min(words(trace).index(word), len(rows)) - 1
    came, added = (
        np.array([_length(getattr(block, part), at) for block in blocks], dtype=np.float64) for part in ("given", "out")
    )
    share = np.array([_length(block.total, at) for block in blocks])
    figure = go.Figure()
    for number, (name, values) in enumerate((("input", came), ("what is added", added), ("their sum", share))):
        figure.add_trace(
            go.Bar(x=list(range(len(blocks))), y=values, name=name, meta=number,
                   hovertemplate=f"{name}<br>%{{x}}: <b>%{{y:.4g}}</b><extra></extra>")
        )  # fmt: skip
    most = int((added / np.maximum(came, 1e-12)).argmax())
    notes = (
        f"{theme.label(trace.model)}, {side}: {theme.label(word)}",
        f"largest ratio: {named(blocks[most])}, {added[most] / max(came[most], 1e-12):.2f} times its input",
        theme.unseen_note(rows),
    )
    return figure.update_layout(
        title=theme.title("The residual stream, sub-layer by sub-layer", *notes),
        xaxis=theme.named_axis([f"{block.layer}: {block.part}" for block in blocks], tickangle=-40),
        yaxis={"title": "length ‖x‖", "rangemode": "tozero"},
        barmode="group", height=270,
    )  # fmt: skip


def _length(values: np.ndarray, at: int) -> float:
    """The norm of the vector at a position; for a negative position, the mean of all."""
    lengths = np.linalg.norm(values.astype(np.float64), axis=-1)
    return float(lengths.mean() if at < 0 else lengths[at])


def words(trace: Trace) -> tuple[str, ...]:
    """All tokens together, then each by its position; with its name where there is one text."""
    if trace.target is not None:
        return (ALL, *(str(place) for place in range(max(len(trace.source), len(trace.target)))))
    return (ALL, *(f"{place} {theme.plain(text)}" for place, text in enumerate(trace.source.texts)))


def by_hand(trace: Trace, *, block: str, place: int) -> go.Figure:
    """Layer normalisation of one token's vector, step by step: x, then (x − μ) / σ, then γ ⊙ that + β; the last row is the output of
    the model's own norm.

    μ and σ are taken over the dimensions of this one vector; σ is √(variance + ε). γ and β hold a number for each dimension and are
    the same for every token. (RMSNorm subtracts no mean, so μ = 0; OLMo's norm has γ = 1 and β = 0.) Point at a cell for its
    operands.

    You may conclude that this is the computation, to the last digits. You may not conclude that a norm is harmless: it removes the
    length of a vector, which may carry information too.
    """
    chosen = next(candidate for candidate in trace.blocks if named(candidate) == block)
    rows = trace.axes(chosen.stream)[0]
    at = min(place, len(rows) - 1)
    values, operands = steps_of_norm(chosen, at)
    mean, deviation = float(chosen.mean[at]), float(chosen.deviation[at])
    heat = go.Heatmap(
        z=values.astype(np.float32), customdata=operands, coloraxis="coloraxis2", ygap=3, name="norm",
        hovertemplate="%{y}, dimension %{x}<br>%{customdata} = <b>%{z:.4f}</b><extra></extra>",
    )  # fmt: skip
    notes = (
        f"“{theme.label(rows.texts[at])}” (position {at}): μ = {mean:.4f}, σ = {deviation:.4f}",
        f"by hand against the module: at most {np.abs(values[2] - values[3]).max():.0e} apart",
        theme.unseen_note(rows),
    )
    return go.Figure(heat).update_layout(
        title=theme.title(f"The norm of {block}", *notes),
        xaxis={"title": "dimension", "showgrid": False},
        yaxis=theme.named_axis(["x", "(x − μ) / σ", "γ ⊙ … + β", "the model"], down=True, range=[3.5, -0.5]),
        **theme.colours(values, signed=True), height=240,
    )  # fmt: skip


def steps_of_norm(sublayer: Block, at: int) -> tuple[np.ndarray, np.ndarray]:
    """x, x with mean 0 and deviation 1, the same with γ and β, and the model's own [step, dimension]; and the operands of each."""
    x, own = (values[at].astype(np.float64) for values in (sublayer.norm_input, sublayer.normed))
    mean, deviation = float(sublayer.mean[at]), float(sublayer.deviation[at])
    gain, shift = sublayer.gain.astype(np.float64), sublayer.shift.astype(np.float64)
    even = (x - mean) / deviation
    normed = even * gain + shift
    values = np.stack([x, even, normed, own])
    operands = np.array([
        ["the input"] * len(x),
        [f"({value:.3f} − {mean:.3f}) / {deviation:.3f}" for value in x],
        [f"{value:.3f} · {up:.3f} + {more:.3f}" for value, up, more in zip(even, gain, shift, strict=True)],
        ["the model's own"] * len(x),
    ])  # fmt: skip
    return values, operands


def sightlines(records: tuple[Visibility, ...]) -> go.Figure:
    """Which token can see which in each family, proved by gradients: a cell is filled if the last hidden state of its row changes
    with the token of its column.

    Grey is a gradient of exactly 0. These pictures are those of the masks, but measured on the whole model, all layers together, without
    looking at the mask. ELMo has no mask: its forward LSTMs have read the token and those before it, its backward LSTMs the token and
    those after it, and the two are separate, so neither sees both sides. In an encoder–decoder the rows are those of the decoder and
    the columns those of its source: cross-attention has no mask. The mask of its own tokens is not in this picture.

    You may conclude which tokens a hidden state can depend on at all. You may not conclude that it uses them, nor how much.
    """
    down = math.ceil(len(records) / 2)
    titles = [_title_of(record) for record in records]
    figure = make_subplots(
        down, min(2, len(records)), subplot_titles=titles, horizontal_spacing=0.22, vertical_spacing=0.34 / down
    )
    for number, record in enumerate(records):
        row, column = number // 2 + 1, number % 2 + 1
        shown = np.where(record.moved > 0, 0.7, np.nan).astype(np.float32)
        heat = go.Heatmap(
            z=shown, customdata=record.moved, coloraxis="coloraxis2", hoverongaps=False, **theme.gaps(shown), name=titles[number],
            hovertemplate="state of <b>%{y}</b>, token <b>%{x}</b><br>‖∂ state / ∂ token‖ = <b>%{customdata:.3g}</b><extra></extra>",
        )  # fmt: skip
        figure.add_trace(heat, row=row, col=column)
        figure.update_xaxes(**_small(record.columns), tickangle=-60, row=row, col=column)
        figure.update_yaxes(**{**_small(record.rows), "range": [len(record.rows) - 0.5, -0.5]}, row=row, col=column)
    shares = (
        f"{theme.printable(record.model)}{' (decoder to source)' * _crossed(record)}: {(record.moved > 0).mean():.0%} of the cells"
        for record in records
    )
    notes = (*shares, next(filter(None, (theme.unseen_note(record.columns) for record in records)), ""))
    figure.update_layout(
        title=theme.title("Who can see whom", *notes), coloraxis2={"cmin": -1, "cmax": 1, "showscale": False},
        height=310 * down,
    )  # fmt: skip
    return figure if len(records) > 1 else _narrow(figure, records[0], notes[-1])


def _narrow(figure: go.Figure, record: Visibility, unseen: str) -> go.Figure:
    """One of several pictures in a row: its model is its title, and only so many columns have names as there is room for."""
    notes = (f"{(record.moved > 0).mean():.0%} of the cells", WHOSE * _crossed(record), unseen)
    title = theme.title(theme.printable(record.model), *notes)
    figure.update_layout(title=title, height=240)
    figure.layout.annotations = ()  # the title of its panel is its own title
    return theme.thinned(figure, FEW, "x")


def _crossed(record: Visibility) -> bool:
    """Whether the rows are another text than the columns: those of a decoder, over the tokens of its source."""
    return record.rows.ids.tolist() != record.columns.ids.tolist()


def _title_of(record: Visibility) -> str:
    """The title of one picture: its model, and for two texts which is which."""
    name = theme.printable(record.model)
    return f"{name}<br><span style='font-size:13px'>{WHOSE}</span>" if _crossed(record) else name


def _small(tokens: Any) -> dict[str, object]:
    return {**theme.token_axis(tokens), "tickfont": {"size": 12}}


def sides(trace: Trace) -> tuple[str, ...]:
    """The stacks whose sub-layers were kept."""
    return tuple(dict.fromkeys(block.stream for block in trace.blocks))


def stream_choices(trace: Trace) -> Mapping[str, Control]:
    """Which stack, which token."""
    return {"side": Choice("Stack", sides(trace)), "word": Choice("Token", words(trace), ordered=True)}


def norm_choices(trace: Trace) -> Mapping[str, Control]:
    """Which sub-layer's norm, which position."""
    count = max(len(trace.axes(side)[0]) for side in sides(trace))
    return {
        "block": Choice("Norm of", tuple(named(block) for block in trace.blocks)),
        "place": Choice("Position", tuple(range(count)), min(1, count - 1), ordered=True),
    }


has_blocks = also(
    only(Trace, "ex.trace(model, text, blocks=True) makes"),
    lambda trace: trace.blocks,
    "this trace holds no blocks. Make it with ex.trace(model, text, blocks=True).",
)


are_sightlines = only_many(Visibility, "several records of ex.visibility(model, text) side by side", Sequence)


VIEWS = by_name(
    View("residual-stream", "The residual stream", stream, has_blocks, stream_choices),
    View("norm-by-hand", "A norm by hand", by_hand, has_blocks, norm_choices),
    View("sightlines", "Who can see whom, by family", sightlines, are_sightlines),
)
