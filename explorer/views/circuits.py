"""What parts do for a prediction: patches that bring an answer back, writes to the vocabulary, and ways of information."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import plotly.graph_objects as go

from explorer.records import InformationFlow, PatchSweep, Tokens, UnitFirings, VocabularyWrites
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, Toggle, View, by_name, only

PARTS = {
    "state": "the state after the layer",
    "attention": "what attention adds",
    "cross-attention": "what cross-attention adds",
    "feed-forward": "what the feed-forward layer adds",
}
THRESHOLDS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
STRENGTHS = (0.1, 0.25, 0.5, 1.01)  # shares below which a way is drawn thin, thicker, thick
FEW = 20  # columns whose cells have room for a number
SEEN = 0.05  # a share of the answer that is worth a number in its cell
UPWARD, ACROSS, ADDED = 6, 0, 1  # colours: the state that is kept, attention, the feed-forward layer


def patching(record: PatchSweep, *, part: str) -> go.Figure:
    """Each cell is one run over the changed text in which one vector, at this layer and position, was taken from the clean text.

    The number says how much of the clean answer returns: 0 leaves it as changed, 1 restores it. The scale is the same for all
    parts. In the row “input” only a changed word can restore anything; in the last layer, only the position that is read out.

    You may conclude that what separates these two texts for this answer passes through the strong cells. You may not conclude that
    a faint cell is useless: what it carries may be the same in both texts, or come by another way as well.
    """
    values = record.restored[part]
    rows = ["input", *map(str, range(len(values) - 1))] if part == "state" else list(map(str, range(len(values))))
    right, other = (theme.label(text) for text in record.answers)
    before, after = record.difference
    notes = (
        f"“{right}” against “{other}” at position {record.row}: logit difference {before:.2f} clean, {after:.2f} changed".replace(
            "-", "−"
        ),
        theme.unseen_note(record.clean),
    )
    figure = go.Figure(
        go.Heatmap(z=values.astype(np.float32), coloraxis="coloraxis2", **theme.gaps(values), name=part, **_written(values),
                   hovertemplate="layer %{y}, <b>%{x}</b><br><b>%{z:.3f}</b> of the difference returns<extra></extra>")
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title(f"{theme.label(record.model)}, {record.stream}: {PARTS.get(part, part)}, patched", *notes),
        xaxis={**theme.token_axis(record.clean), "ticktext": both_texts(record.clean, record.changed), "tickangle": -60},
        yaxis=theme.named_axis(rows, title="layer"),
        coloraxis2={"cmin": -1, "cmax": 1, "cmid": 0},
        height=100 + 44 * len(rows),
    )


def _number(value: float) -> str:
    """A number with a minus sign, not a hyphen."""
    return f"{value:.2f}".replace("-", "−")


def _written(values: np.ndarray) -> dict[str, object]:
    """Numbers in the cells that are not faint, where they are few enough to be read; on a telephone in the same letters."""
    if values.shape[1] > FEW:
        return {}
    texts = [[_number(value) if abs(value) >= SEEN else "" for value in row] for row in values]
    return {"text": texts, "texttemplate": "%{text}", "textfont": {"size": 12}}


def both_texts(clean: Tokens, changed: Tokens) -> list[str]:
    """The tokens of two texts as one axis: where they differ, both."""
    pairs = zip(theme.labels(clean), theme.labels(changed), clean.ids.tolist(), changed.ids.tolist(), strict=True)
    return [first_text if first == second else f"{first_text} ← {other}" for first_text, other, first, second in pairs]


def writes(record: VocabularyWrites) -> go.Figure:
    """What one part adds to the score of each token: the ten that it promotes most, and the ten that it suppresses most.

    Scores are relative to their mean over the vocabulary, because a softmax ignores what is added to every token alike.

    You may conclude in which direction this part alone pushes the prediction, on the direct path to the output layer.
    You may not conclude what the model will predict: later layers read this too, other parts push elsewhere, and the effect
    depends on how active the part is.
    """
    sides = [
        (record.ids[0], record.texts[0], "promoted", ACROSS),
        (record.ids[1][::-1], record.texts[1][::-1], "suppressed", ADDED),
    ]
    names = [theme.label(text) for _, texts, _, _ in sides for text in texts]
    figure = go.Figure()
    for (ids, texts, name, colour), begin in zip(sides, (0, len(record.ids[0])), strict=True):
        figure.add_bar(
            orientation="h", x=record.scores[ids].astype(np.float64), y=list(range(begin, begin + len(ids))), name=name, meta=colour,
            text=[theme.label(text) for text in texts], textposition="none",
            hovertemplate="<b>%{text}</b><br>%{x:+.4f}<extra></extra>",
        )  # fmt: skip
    notes = (theme.printable(record.origin), *record.notes)
    return figure.update_layout(
        title=theme.title(f"{theme.label(record.model)}: what is written to the vocabulary", *notes),
        xaxis={"title": "added to the score", "zeroline": True},
        yaxis=theme.named_axis(names, down=True, ticklabeloverflow="allow"),
        height=24 * len(names), showlegend=False, barmode="overlay",
    )  # fmt: skip


def firings(record: UnitFirings) -> go.Figure:
    """The texts in which one unit of a feed-forward layer is most active: each bar is its activation at the token in brackets, the largest
    in that text.

    You may conclude which of these texts make this unit most active. You may not conclude that it represents what they have in common: most
    units are active in many other texts as well, and it is easy to see a pattern in ten texts. Look in other texts, and at what it writes.
    """
    uses = [theme.printable(use) for use in record.uses]
    bars = go.Bar(
        x=record.activations.astype(np.float64), y=np.arange(len(uses)), orientation="h", meta=0, customdata=uses, text=uses,
        textposition="inside", insidetextanchor="start", textfont={"size": 15},
        hovertemplate="%{customdata}: activation <b>%{x:.3f}</b><extra></extra>",
    )  # fmt: skip
    notes = (
        f"{record.searched:,} tokens searched; at {record.active:.0%} of them it is above 0",
        f"mean {record.values.mean():.2f}, standard deviation {record.values.std():.2f}",
    )
    where = f"{theme.printable(record.model)}, {record.stream} layer {record.layer}, unit {record.unit}"
    return go.Figure(bars).update_layout(
        title=theme.title(f"{where}: where it is most active", *notes), xaxis={"title": "activation"},
        yaxis=theme.named_axis([""] * len(uses), down=True), height=60 + 34 * max(3, len(uses)),
    )  # fmt: skip


def flow(record: InformationFlow, *, position: int, every: bool, threshold: float) -> go.Figure:
    """A line leads from a state to one above it; the thicker it is, the larger its share in that state's residual sum. Lines straight
    up are the state that is kept, slanting ones what attention brought from another position. A square marks a feed-forward layer with
    at least this share. Anything below the threshold is left out, and so is whatever leads only to it.

    You may conclude which parts make up most of the numbers of a state, by size. You may not conclude that a large part decides the
    prediction: shares are of lengths, not of effects. To learn about an effect, change the part and compare the output.
    """
    edges = record.edges(None if every else position, threshold)
    notes = (f"every step has at least {threshold:.0%} of its sum", _crossing_note(record), theme.unseen_note(record.tokens))
    layers = len(record.kept)
    figure = go.Figure([*_lines(edges), _midpoints(edges, record.tokens), *_nodes(record, edges, threshold)])
    where = "every position" if every else f"position {position}, “{theme.label(record.tokens.texts[position])}”"
    return figure.update_layout(
        title=theme.title(f"{theme.label(record.model)}, {record.stream}: ways into {where}", *notes),
        xaxis={**theme.token_axis(record.tokens), "tickangle": -60},
        yaxis={
            "tickmode": "array", "tickvals": list(range(layers + 1)), "range": [-0.3, layers + 0.3], "showgrid": False,
            "ticktext": ["input", *(f"after layer {n}" for n in range(layers))],
        },
        height=150 + 90 * layers,
    )  # fmt: skip


def _crossing_note(record: InformationFlow) -> str:
    """What comes from the source, where there is one: as a range, since it has no line here."""
    if record.crossed is None:
        return ""
    low, high = float(record.crossed.min()), float(record.crossed.max())
    return f"cross-attention brings {low:.0%} to {high:.0%} of its sums from the source, which has no lines here"


def _lines(edges: Sequence[tuple[str, int, int, int, float]]) -> Iterator[go.Scatter]:
    """The ways, one trace for each kind and strength: so that the browser draws few things."""
    ranked = sorted(
        (kind, sum(share >= limit for limit in STRENGTHS), layer, query, key) for kind, layer, query, key, share in edges
    )
    for (kind, strength), group in groupby(ranked, key=lambda edge: edge[:2]):
        ends = [(layer, query, key) for _, _, layer, query, key in group]
        name = f"{'kept' if kind == 'kept' else 'attention'}, {_range(strength)}"
        yield go.Scatter(
            x=[x for _, query, key in ends for x in (key, query, None)],
            y=[y for layer, _, _ in ends for y in (layer, layer + 1, None)],
            mode="lines", name=name, meta=UPWARD if kind == "kept" else ACROSS, line={"width": 1 + 3 * strength},
            opacity=(0.45, 0.65, 0.85, 1.0)[strength], hoverinfo="skip",
        )  # fmt: skip


def _range(strength: int) -> str:
    low, high = (0.0, *STRENGTHS)[strength], min(1.0, STRENGTHS[strength])
    return f"{low:.0%} to {high:.0%}"


def _midpoints(edges: Sequence[tuple[str, int, int, int, float]], tokens: Tokens) -> go.Scatter:
    """A point in the middle of each way, that says its share when it is pointed at."""
    names = theme.labels(tokens)
    hovers = [
        f"{kind}, layer {layer}: <b>{names[key]}</b> → <b>{names[query]}</b><br>{share:.1%}"
        for kind, layer, query, key, share in edges
    ]
    return go.Scatter(
        x=[(query + key) / 2 for _, _, query, key, _ in edges], y=[layer + 0.5 for _, layer, _, _, _ in edges], mode="markers",
        marker={"size": 14, "opacity": 0}, customdata=hovers, hovertemplate="%{customdata}<extra></extra>", name="share", meta=ACROSS,
        showlegend=False,
    )  # fmt: skip


def _nodes(
    record: InformationFlow, edges: Sequence[tuple[str, int, int, int, float]], threshold: float
) -> Iterator[go.Scatter]:
    """The states that are reached, and the feed-forward layers below them."""
    reached = sorted({(layer + 1, query) for _, layer, query, _, _ in edges} | {(layer, key) for _, layer, _, key, _ in edges})
    yield go.Scatter(
        x=[position for _, position in reached], y=[layer for layer, _ in reached], mode="markers", name="state", meta=UPWARD,
        marker={"size": 9}, hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    active = [
        (layer - 1, position) for layer, position in reached if layer and record.feed_forward[layer - 1, position] >= threshold
    ]
    shares = [float(record.feed_forward[layer, position]) for layer, position in active]
    yield go.Scatter(
        x=[position for _, position in active], y=[layer + 0.86 for layer, _ in active], mode="markers", name="feed-forward", meta=ADDED,
        marker={"symbol": "square", "size": [6 + 12 * share for share in shares]}, customdata=shares,
        hovertemplate="feed-forward: <b>%{customdata:.1%}</b> of the sum<extra></extra>",
    )  # fmt: skip


def part_choice(record: PatchSweep) -> Mapping[str, Control]:
    """What is patched."""
    return {"part": Choice("Patched", tuple(record.restored))}


def way_choice(record: InformationFlow) -> Mapping[str, Control]:
    """Where the ways end, and which are left out."""
    last = len(record.tokens) - 1
    return {
        "position": Range("Position", 0, last, last),
        "every": Toggle("Every position"),
        "threshold": Choice("Threshold", THRESHOLDS, 0.1, ordered=True),
    }


VIEWS = by_name(
    View("patching", "What brings the answer back", patching, only(PatchSweep, "ex.analysis.patch_sweep makes"), part_choice),
    View("writes", "What is written to the vocabulary", writes, only(VocabularyWrites, "ex.analysis.head_writes makes")),
    View(
        "unit-firings",
        "What makes a unit active",
        firings,
        only(UnitFirings, "ex.analysis.unit_firings(model, texts, …) makes"),
    ),
    View("flow", "Where a state comes from", flow, only(InformationFlow, "ex.analysis.information_flow makes"), way_choice),
)
