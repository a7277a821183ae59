"""The layers of two models compared, and the words of some texts in the space of one layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from explorer.records import LayerLikeness, WordStates
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

FEW = 14  # columns whose cells have room for a number
NAMED = 60  # points beside which words are written
DIMENSIONS = ("2-D", "3-D")
SOLID = ("circle", "square", "diamond", "cross", "x")  # signs that can be told apart in 3-D
ORDER = ("first", "second", "third")


def likeness(record: LayerLikeness) -> go.Figure:
    """How alike each layer of the first model (rows) is to each layer of the second (columns), by linear CKA over the same words. It
    asks whether words that are far apart in one are far apart in the other: 1 where the states differ only by a rotation and one scale, 0
    where they have nothing in common. So layers of different width can be compared. After 0 layers it is the input.

    You may conclude which layers arrange these words alike. You may not conclude that alike layers compute the same: a few directions
    with a large variance can decide CKA, and any two models that read the same words are alike to some degree. Compare with a random
    twin.
    """
    values = record.likeness
    rows, columns = (list(map(str, range(size))) for size in values.shape)
    first, second = (theme.printable(name) for name in record.models)
    notes = (
        f"rows: {first}; columns: {second}",
        f"{record.words:,} words of {record.texts} texts; words shuffled at random: at most {np.nanmax(np.nan_to_num(record.chance)):.2f}",
    )
    written = (
        {"text": np.round(values, 2), "texttemplate": "%{text:.2f}", "textfont": {"size": 13}} if len(columns) <= FEW else {}
    )
    heat = go.Heatmap(
        z=values.astype(np.float32), coloraxis="coloraxis", name="CKA", hoverongaps=False, **theme.gaps(values), **written,
        hovertemplate=f"{first} after %{{y}} layers; {second} after %{{x}}<br>CKA <b>%{{z:.3f}}</b><extra></extra>",
    )  # fmt: skip
    return go.Figure(heat).update_layout(
        title=theme.title("Which layers are alike?", *notes),
        xaxis=theme.named_axis(columns, title=f"{theme.DEPTH}: {second}"),
        yaxis=theme.named_axis(rows, down=True, title=f"{theme.DEPTH}: {first}"),
        height=30 + 46 * max(len(rows), 4),
        **theme.colours(np.ones(1), signed=False),
    )  # fmt: skip


def space(record: WordStates, *, layer: int, shows: str) -> go.Figure:
    """The words of some texts after so many layers (0: the input), a dot for each, on the principal components of their states: the
    directions in which they
    differ most. Colours are the parts of speech by gold labels, where the texts have them (ADP is a preposition, PROPN a name, DET an
    article, AUX an auxiliary verb, CCONJ and SCONJ conjunctions). In 3-D, drag to turn. Point at a dot for its word.

    You may conclude what these two or three directions separate; the title says how much of the variance they keep.
    You may not conclude that words which are near here are near in the layer, nor that what is not separated here is missing from
    the layer. Other methods (t-SNE, UMAP) keep neighbourhoods and distort distances, and depend on settings and chance; principal
    components can be computed again exactly.
    """
    points, shares = record.components(layer, 3 if shows == DIMENSIONS[1] else 2)
    kinds = list(dict.fromkeys(record.kinds))
    figure = go.Figure()
    for number, kind in enumerate(kinds):
        mine = [n for n, other in enumerate(record.kinds) if other == kind]
        figure.add_trace(_dots(record, points, mine, (number, kind)))
    notes = (
        f"{theme.printable(record.model)}, after {layer} layers: {len(record):,} words of {len(record.texts)} texts",
        f"{len(shares)} principal components keep {shares.sum():.0%} of the variance",
    )
    axes = [f"{ORDER[n]} component ({share:.0%})" for n, share in enumerate(shares)]
    figure.update_layout(
        title=theme.title("Words in the space of a layer", *notes), height=430,
        showlegend=len(kinds) > 1,
    )  # fmt: skip
    if len(shares) == 2:
        figure.update_layout(xaxis={"title": axes[0]}, yaxis={"title": axes[1]})
    else:
        titled = {f"{way}axis": {"title": name} for way, name in zip("xyz", axes, strict=True)}
        figure.update_layout(scene={**titled, "aspectmode": "cube"})
    return figure


def _dots(record: WordStates, points: np.ndarray, mine: list[int], kind: tuple[int, str]) -> Any:
    """The words of one kind."""
    words = [theme.label(record.words[n]) for n in mine]
    about: dict[str, Any] = {
        "name": theme.printable(kind[1] or "words"), "meta": kind[0], "customdata": words,
        "hovertemplate": "<b>%{customdata}</b><extra></extra>",
    }  # fmt: skip
    few = len(record) <= NAMED
    about |= {"mode": "markers+text", "text": words, "textposition": "top center"} if few else {"mode": "markers"}
    if points.shape[1] == 3:
        x, y, z = points[mine].T
        return go.Scatter3d(x=x, y=y, z=z, marker={"size": 4, "opacity": 0.8, "symbol": SOLID[kind[0] % len(SOLID)]}, **about)
    x, y = points[mine].T
    return go.Scatter(x=x, y=y, marker={"size": 8, "opacity": 0.7, "symbol": kind[0] % 6}, **about)


def choices(record: WordStates) -> Mapping[str, Control]:
    """Which layer, in how many dimensions."""
    layer_numbers = tuple(range(len(record.vectors)))
    return {
        "layer": Choice("After layers", layer_numbers, layer_numbers[-1], ordered=True),
        "shows": Choice("Dimensions", DIMENSIONS),
    }


is_word_states = only(WordStates, "ex.analysis.word_states(model, texts) makes")
VIEWS = by_name(
    View("cka", "Which layers are alike?", likeness, only(LayerLikeness, "ex.analysis.cka(first, second, texts) makes")),
    View("word-space", "Words in the space of a layer", space, is_word_states, choices),
)
