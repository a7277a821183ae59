"""One pair of words as word2vec and GloVe compute it: the network from one-hot to softmax, and f(X) with the cell of the pair."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import GloveRow, SkipgramNetwork
from explorer.views import theme
from explorer.views.view import View, by_name, only

TINY = 1e-3  # a smaller probability is written as a power of ten


def network(record: SkipgramNetwork) -> go.Figure:
    """From left to right: the input is a one-hot vector as long as the vocabulary (1 at the centre word). Times W it
    picks one row, the vector w. Its dot product with the row of each word in C is a score; a softmax over the vocabulary turns the
    scores into probabilities. The picture has the rows of the pair and of the words with the largest scores; point at a cell of C for
    its product.

    You may conclude that the hidden layer of word2vec is a table: the input only chooses a row. You may not conclude that this model was
    trained with the softmax: it was trained with negative samples, whose score is σ(w·c), because a softmax sums over the whole
    vocabulary for each pair. So its probabilities are computed only here.
    """
    rows, dim = record.vectors.shape
    titles = ("one-hot", f"W: {record.size:,} × {dim}", f"C: {record.size:,} × {dim}", "w·c", "softmax")
    figure = make_subplots(
        1, 5, subplot_titles=titles, column_widths=[0.09, 0.33, 0.33, 0.12, 0.13], shared_yaxes=True, horizontal_spacing=0.015
    )
    hot = (np.arange(rows) == 0).astype(float)[:, None]
    for column, (values, texts) in enumerate(_panels(record, hot), 1):
        hover = _hover(record, column)
        figure.add_trace(
            go.Heatmap(
                z=values.astype(np.float32), coloraxis="coloraxis2" if column in (2, 3) else "coloraxis", showscale=False,
                text=texts, texttemplate="%{text}" if texts is not None else None, textfont={"size": 13}, customdata=hover[1],
                hovertemplate=hover[0], name=titles[column - 1], **theme.gaps(values),
            ),
            row=1, col=column,
        )  # fmt: skip
    names = [theme.label(word) for word in record.words]
    centre, other = names[:2] if len(names) > 1 else names * 2
    notes = (
        f"{theme.printable(record.model)}: centre word “{centre}”, number {record.ids[0]}; context word “{other}”",
        f"w·c = {_signed(record.scores[min(1, rows - 1)])}, softmax {_share(record.chances[min(1, rows - 1)])}, "
        f"σ(w·c) = {_share(record.sigma[min(1, rows - 1)])}",
    )
    _laid_out(figure, names, notes, record)
    return figure


def _panels(record: SkipgramNetwork, hot: np.ndarray) -> list[tuple[np.ndarray, list[list[str]] | None]]:
    """The cells of the five panels, and what is written in them; a score and a probability are coloured by their probability."""
    chances = record.chances[:, None]
    return [
        (hot, [[f"{value:.0f}"] for value in hot[:, 0]]),
        (record.vectors, None),
        (record.contexts, None),
        (np.zeros_like(chances), [[_signed(score)] for score in record.scores]),
        (chances / max(chances.max(), 1e-12), [[_share(chance)] for chance in record.chances]),
    ]


def _hover(record: SkipgramNetwork, column: int) -> tuple[str, np.ndarray | None]:
    """What a cell says when it is pointed at."""
    end = "<extra></extra>"
    if column == 2:
        return "%{y}: w<sub>%{x}</sub> = <b>%{z:.4f}</b>" + end, None
    if column == 3:
        parts = np.stack([np.broadcast_to(record.vectors[0], record.contexts.shape), record.vectors[0] * record.contexts], -1)
        return (
            "%{y}: w<sub>%{x}</sub> · c<sub>%{x}</sub> = %{customdata[0]:.4f} · %{z:.4f} = <b>%{customdata[1]:.4f}</b>" + end,
            parts,
        )
    return "%{y}: <b>%{text}</b>" + end, None


def _laid_out(figure: go.Figure, names: list[str], notes: tuple[str, ...], record: SkipgramNetwork) -> None:
    """Names of words at the left, once; a frame around the row that the one-hot vector picks."""
    top = float(max(np.abs(record.vectors).max(), np.abs(record.contexts).max()))
    figure.update_annotations(font_size=12)  # the titles of narrow panels
    figure.update_xaxes(showticklabels=False, showgrid=False, ticks="")
    figure.update_yaxes(theme.named_axis(names, down=True))
    figure.add_shape(type="rect", x0=-0.5, x1=record.vectors.shape[1] - 0.5, y0=-0.5, y1=0.5, line={"width": 3}, row=1, col=2)
    figure.update_layout(
        title=theme.title("Skip-gram as a network", *notes),
        height=44 * len(names),
        coloraxis={"cmin": 0, "cmax": 1, "showscale": False}, coloraxis2={"cmin": -top, "cmax": top, "cmid": 0},
    )  # fmt: skip


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _share(value: float) -> str:
    """A probability, also a very small one."""
    return f"{value:.3f}" if value >= TINY else f"{value:.0e}"


def glove(record: GloveRow) -> go.Figure:
    """Left, the weight f(X) that a pair has in GloVe's loss: it rises with the count X to the power 0.75, and is 1 from 100 on. Each dot is
    a word that occurs near the chosen one; the diamond is the chosen pair. Right, what the vectors make of the same pairs: w·w̃ + b +
    b̃ should be log X, the diagonal.

    Why not 1 for all? Most pairs are rare, and their counts are mostly chance. Why a limit? Otherwise pairs with *the* would dominate.

    You may conclude how much each pair counts, and how well this row is fitted. You may not conclude that a dot far from the diagonal is an
    error of GloVe: where f is small the fit hardly matters, and counts from a part of the texts vary by chance.
    """
    figure = make_subplots(1, 2, subplot_titles=("weight f(X)", "fitted to log X"), horizontal_spacing=0.14)
    wide = 2 * record.full
    line = np.linspace(0, wide, 201)
    figure.add_scatter(x=line, y=record.weight_of(line), mode="lines", meta=0, name="f", hoverinfo="skip", row=1, col=1)
    logs = np.log(record.often)
    ends = [float(min(logs.min(), record.said.min())), float(max(logs.max(), record.said.max()))]
    figure.add_scatter(x=ends, y=ends, mode="lines", meta=0, name="log X", hoverinfo="skip", line={"dash": "dot"}, row=1, col=2)
    _cells(figure, record, logs)
    notes = _glove_notes(record)
    figure.update_xaxes(title_text="X (larger ones at the edge)", range=[-4, wide + 6], row=1, col=1)
    figure.update_xaxes(title_text="log X", row=1, col=2)
    figure.update_yaxes(range=[-0.02, 1.06], row=1, col=1)
    return figure.update_layout(
        title=theme.title("The weight of a pair in GloVe", *notes), height=350, showlegend=False,
    )  # fmt: skip


def _cells(figure: go.Figure, record: GloveRow, logs: np.ndarray) -> None:
    """The pairs of the row in both panels, and the chosen one as a diamond."""
    names = [theme.label(word) for word in record.words]
    hover = (
        "%{customdata[0]}: X = %{customdata[1]:.1f}, f = %{customdata[2]:.3f}<br>log X = %{customdata[3]:.2f}, by the vectors "
    )
    hover += "%{customdata[4]:.2f}<br>loss of the cell <b>%{customdata[5]:.3f}</b><extra></extra>"
    numbers = list(zip(names, record.often, record.weight, logs, record.said, record.loss, strict=True))
    for column, (x, y) in enumerate(((np.minimum(record.often, 2 * record.full), record.weight), (logs, record.said)), 1):
        figure.add_scatter(
            x=x, y=y, mode="markers", meta=1, name="pairs of this row", customdata=numbers, hovertemplate=hover, showlegend=False,
            marker={"size": 6}, opacity=0.5, row=1, col=column,
        )  # fmt: skip
        figure.add_scatter(
            x=x[record.place : record.place + 1], y=y[record.place : record.place + 1], mode="markers", meta=2, name="the pair",
            customdata=numbers[record.place : record.place + 1], hovertemplate=hover, showlegend=False,
            marker={"size": 16, "symbol": "diamond"}, row=1, col=column,
        )  # fmt: skip


def _glove_notes(record: GloveRow) -> tuple[str, ...]:
    """The loss of the chosen cell, with its operands."""
    a, b = (theme.label(word) for word in record.pair)
    at, times = record.place, f", times {record.scale:.3g}" if record.scale != 1 else ""
    log = np.log(record.often[at])
    return (
        f"“{a}” and “{b}”: X = {record.often[at]:.1f} (counted in {record.texts:,} texts{times}), f(X) = {record.weight[at]:.3f}",
        f"f(X) · (w·w̃ + b + b̃ − log X)² = {record.weight[at]:.3f} · ({_signed(record.said[at])} − {_signed(log)})² = {record.loss[at]:.4f}",
        f"{(record.often >= record.full).mean():.0%} of the {len(record.words):,} words near “{a}” have the full weight",
    )


is_skipgram_network = only(SkipgramNetwork, "ex.analysis.skipgram_network(model, word, near) makes")
is_glove_row = only(GloveRow, "ex.analysis.glove_row(model, word, near, stories) makes")
VIEWS = by_name(
    View("skipgram-network", "Skip-gram as a network", network, is_skipgram_network),
    View("glove-weight", "The weight of a pair in GloVe", glove, is_glove_row),
)
