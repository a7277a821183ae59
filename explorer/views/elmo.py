"""What ELMo's character filters detect, what its two directions predict, and the vectors of one word in many texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import BothSides, Contexts, Filters, Highways, Trace
from explorer.views import theme
from explorer.views.view import Choice, Control, Range, View, by_name, only, other

SIDES = {"forward": "→", "backward": "←"}  # the two streams of a trace
SHOWN = 14  # so many filters fit into a picture
BESIDE = 22  # letters of known words that fit beside one
BEGIN, END = "⟨", "⟩"  # of a word


def filters(record: Filters, *, many: int) -> go.Figure:
    """Each row is one of the character filters (convolutions) with the largest activation for this word: a strip over the letters
    where it is largest, the value that max-pooling keeps. ⟨ and ⟩ begin and end the word. Beside it are the known words with the
    largest activation of the same filter, in bold the letters where it is largest.

    You may conclude which letters activated these filters here. You may not conclude that a filter means a part of a word: it is one
    number of many, and highway layers mix them all before the LSTMs read them.
    """
    best = np.argsort(-record.strongest, kind="stable")[:many]
    grid = np.full((len(best), len(record.letters)), np.nan)
    for row, number in enumerate(best):
        begin = int(record.places[number])
        grid[row, begin : begin + int(record.widths[number])] = record.strongest[number]
    outside = sum(int(record.places[n]) >= len(record.letters) for n in best)
    named = [_known(record, int(n)) for n in best]
    hover = [[theme.printable(", ".join(record.known[n]))] * grid.shape[1] for n in best]
    figure = go.Figure(
        go.Heatmap(
            z=grid, coloraxis="coloraxis", customdata=hover, xgap=1, ygap=2,
            hovertemplate="activation <b>%{z:.2f}</b><br>largest for: %{customdata}<extra></extra>",
        )
    )  # fmt: skip
    notes = (
        f"{len(best)} of {len(record.widths)} filters. Each row marks the letters to which one responds most (max-pooling).",
        f"{outside} of these are largest after the end of the word" if outside else "",
    )
    return figure.update_layout(
        title=theme.title(f"Character filters on “{theme.label(record.word)}”", *notes),
        xaxis=theme.named_axis([theme.label(letter) for letter in record.letters], side="top"),
        yaxis=theme.named_axis(named, down=True, tickfont={"size": 14}),
        coloraxis={"cmin": 0, "cmax": max(1e-6, float(record.strongest[best].max()))},
        height=60 + 30 * len(best),
    )  # fmt: skip


def _known(record: Filters, number: int) -> str:
    """The known words of a filter that fit beside its row, in bold the letters to which it responds there."""
    words, begins = record.known[number], record.begins[number] if record.begins else ()
    fitting = [words[0][:BESIDE]]
    for word in words[1:3]:
        if len(", ".join([*fitting, word])) <= BESIDE:
            fitting.append(word)
    wide = int(record.widths[number])
    return ", ".join(_marked(word, begins[n], wide) if begins else theme.printable(word) for n, word in enumerate(fitting))


def _marked(word: str, begin: int, wide: int) -> str:
    """A word with these letters in bold; the signs of its begin and end only where they are among them."""
    signs = [BEGIN, *word, END]
    parts = ("".join(signs[:begin]), "".join(signs[begin : begin + wide]), "".join(signs[begin + wide :]))
    before, found, after = (
        theme.printable(part) for part in (parts[0].removeprefix(BEGIN), parts[1], parts[2].removesuffix(END))
    )
    return f"{before}<b>{found}</b>{after}" if found else theme.printable(word)


def highway(record: Highways, *, layer: int) -> go.Figure:
    """A highway layer, unit by unit: y = T(x) ∘ H(x) + (1 − T(x)) ∘ x. H(x) = relu(W x + b) is what the layer computes, and the gate T(x),
    between 0 and 1, says how much of it a unit takes; the rest is x, carried through unchanged. A unit with a gate near 1 and H = 0 is
    switched off. Units are sorted by their gate. (Some programs, including ELMo's, store the opposite gate, 1 − T.)

    You may conclude which units are rewritten for this word, and which are passed on. You may not conclude what a unit means; nor that a
    layer with small gates does nothing: with a residual connection, too, most of what leaves is what came in.
    """
    parts = record.parts(layer)
    order = np.argsort(-parts["T(x)"], kind="stable")
    names = ["x", "H(x)", "T ∘ H", "(1 − T) ∘ x", "y"]
    values = np.stack([parts[name][order] for name in names])
    figure = _gated(parts["T(x)"], values, (names, order))
    gates = parts["T(x)"]
    notes = (
        f"{theme.printable(record.model)}, highway layer {layer}: {len(order)} units",
        f"mean of T: {gates.mean():.2f}; above a half in {int((gates > 0.5).sum())} units, below a tenth in {int((gates < 0.1).sum())}",
    )
    figure.update_yaxes(range=[0, 1.02], title_text="T(x)", row=1, col=1)
    figure.update_yaxes(**theme.named_axis(names, down=True), row=2, col=1)
    figure.update_xaxes(showticklabels=False, showgrid=False)
    figure.update_xaxes(title_text="units, by their gate", row=2, col=1)
    return figure.update_layout(
        title=theme.title(f"A highway layer on “{theme.label(record.word)}”", *notes), height=400, showlegend=False,
        **theme.colours(values, signed=True),
    )  # fmt: skip


def _gated(gates: np.ndarray, values: np.ndarray, named: tuple[list[str], np.ndarray]) -> go.Figure:
    """The gate as a line over the terms as cells, units in the same order."""
    names, order = named
    figure = make_subplots(2, 1, shared_xaxes=True, row_heights=[0.3, 0.7], vertical_spacing=0.05)
    units = [f"unit {n}" for n in order]
    places = list(range(len(order)))
    figure.add_scatter(
        x=places, y=gates[order], mode="lines", fill="tozeroy", meta=1, name="T(x)", customdata=units,
        hovertemplate="%{customdata}: T = <b>%{y:.3f}</b><extra></extra>", row=1, col=1,
    )  # fmt: skip
    figure.add_trace(
        go.Heatmap(z=values.astype(np.float32), coloraxis="coloraxis2", name="terms", customdata=np.array([units] * len(names)),
                   hovertemplate="%{customdata}, %{y}: <b>%{z:.3f}</b><extra></extra>", xgap=0, ygap=2),
        row=2, col=1,
    )  # fmt: skip
    return figure


def both_sides(record: BothSides, *, place: int) -> go.Figure:
    """One position, two language models: on the left what the forward model predicts there from the words before it; on the right what the
    backward model predicts from the words after it. ✓ marks the actual word.

    You may conclude what each side alone predicts. You may not conclude what ELMo would fill in: it never does, since no hidden state
    has read both sides. The two directions are only concatenated, as input for other models.
    """
    words = theme.labels(record.tokens)
    before, after = " ".join(words[max(0, place - 5) : place]), " ".join(words[place + 1 : place + 6])
    figure = make_subplots(1, 2, subplot_titles=("from the left →", "← from the right"), horizontal_spacing=0.2)
    for side in range(2):
        bar, texts = _guesses(record, side, place)
        figure.add_trace(bar, row=1, col=1 + side)
        ticks = theme.named_axis(texts, down=True)
        figure.update_yaxes(**ticks, row=1, col=1 + side)
        figure.update_xaxes(range=[0, 1], title_text="P", row=1, col=1 + side)
    truth = [f"{value:.3f}" if value == value else "–" for value in record.truth[:, place]]
    notes = (
        f"{before} [ {words[place]} ] {after}",
        f"P({words[place]}): {truth[0]} from the left, {truth[1]} from the right",
        theme.unseen_note(record.tokens),
    )
    return figure.update_layout(title=theme.title(f"Two models at position {place}", *notes), height=200)


def _guesses(record: BothSides, side: int, place: int) -> tuple[go.Bar, list[str]]:
    """What one direction predicts at a position, as bars, and the words beside them."""
    actual, shares = record.tokens.texts[place], record.shares[side, place]
    texts = [f"{theme.label(text)} ✓" if text == actual else theme.label(text) for text in record.texts[side][place]]
    if np.isnan(record.truth[side, place]):
        texts, shares = ["nothing read yet"], np.zeros(1)
    bar = go.Bar(
        x=shares, y=np.arange(len(texts)), orientation="h", meta=side, showlegend=False, customdata=texts,
        hovertemplate="%{customdata}: <b>%{x:.1%}</b><extra></extra>",
    )  # fmt: skip
    return bar, texts


def halves(record: Sequence[Trace], *, place: int, layer: int) -> go.Figure:
    """How far each dimension of one token's vector moves when the text after it changes: |Δh|, the absolute difference of the two
    vectors. The first half of the dimensions comes from the forward model, which reads the tokens up to here; the second half from the
    backward model, which reads the tokens from here on.

    You may conclude which half depends on the change. You may not conclude that a dimension which moves far matters more: its size
    depends on the scale of its weights.
    """
    before, after = record
    moved = {name: np.abs(after.hidden[name][layer - 1, place] - before.hidden[name][layer - 1, place]) for name in SIDES}
    wide = len(moved["forward"])
    figure = _two_halves(moved)
    changed = ", ".join(f"{name}: {int((values > 0).sum())} of {wide} moved" for name, values in moved.items())
    later = [zip(theme.labels(trace.source)[place + 1 :], trace.source.special[place + 1 :], strict=True) for trace in record]
    texts = [" ".join(text for text, special in tokens if not special) for tokens in later]
    unseen = theme.unseen_note(before.source) or theme.unseen_note(after.source)
    notes = (changed, f"after it: “{texts[0]}”, then “{texts[1]}”", unseen)
    return figure.update_layout(
        title=theme.title(f"“{theme.label(before.source.texts[place])}” in LSTM layer {layer}", *notes), height=230, bargap=0,
        xaxis={"title": "dimension", "range": [-1, 2 * wide]},
        yaxis={"title": "|Δh|", "rangemode": "tozero"},
    )  # fmt: skip


def _two_halves(moved: Mapping[str, np.ndarray]) -> go.Figure:
    """A bar for each dimension, forward and backward, and the border between them."""
    figure, wide = go.Figure(), len(moved["forward"])
    for n, (name, values) in enumerate(moved.items()):
        figure.add_bar(
            x=np.arange(wide) + n * wide, y=values, name=f"{name} {SIDES[name]}", meta=n, marker={"line": {"width": 0}},
            hovertemplate=f"{name}, dimension %{{x}}: |Δh| = <b>%{{y:.4f}}</b><extra></extra>",
        )  # fmt: skip
    top = max(float(values.max()) for values in moved.values())
    figure.add_scatter(
        x=[wide - 0.5] * 2,
        y=[0, top],
        mode="lines",
        meta=6,
        line={"dash": "dot", "width": 2},
        showlegend=False,
        hoverinfo="skip",
    )
    return figure


def _shared(record: Sequence[Trace]) -> int:
    """How many tokens the two texts begin with that are the same."""
    first, second = (trace.source.texts for trace in record)
    return next((n for n, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second)))


def contexts(record: Contexts, *, layer: int) -> go.Figure:
    """One word in many texts, a dot for each: its vectors after so many layers on their first two principal components; the colour is its
    sense in that text. After 0 layers it is the input: without the context all dots coincide (only positions distinguish them,
    where they are added). Layers make the vectors depend on the context. Point at a dot for its text and for the nearest other use.

    You may conclude that the layers so far separate these senses where the colours are separate. You may not conclude that distances in the
    picture are those in the model: it shows two of many dimensions. The nearest uses are those of all dimensions.
    """
    points = record.points(layer)
    senses, nearest = list(dict.fromkeys(record.senses)), record.nearest(layer)
    figure = go.Figure()
    for number, sense in enumerate(senses):
        mine = [n for n, other in enumerate(record.senses) if other == sense]
        figure.add_scatter(
            x=points[mine, 0], y=points[mine, 1], mode="markers", name=theme.printable(sense or record.word), meta=number,
            marker={"size": 11, "symbol": number % 6, "opacity": 0.8},
            customdata=[[_short(record.texts[n]) for n in (at, nearest[at])] for at in mine],
            hovertemplate="%{customdata[0]}<br><i>nearest:</i> %{customdata[1]}<extra></extra>",
        )  # fmt: skip
    note, facts = _agreement(record, layer)
    room = max(1e-3, float(np.abs(points).max())) * 1.15
    return figure.update_layout(
        title=theme.title(f"“{theme.label(record.word)}” after {layer} {'layer' if layer == 1 else 'layers'}", note),
        **theme.measured(*facts), height=310,
        xaxis={"range": [-room, room], "title": "first principal component"},
        yaxis={"range": [-room, room], "title": "second principal component"},
    )  # fmt: skip


def _agreement(record: Contexts, layer: int) -> tuple[str, tuple[str, ...]]:
    """How often the nearest other use has the same sense, for the title; and how similar uses of the same sense are."""
    alike, nearest = record.likeness(layer), record.nearest(layer)
    same = np.array([[a == b for a in record.senses] for b in record.senses])
    pairs = ~np.eye(len(same), dtype=bool)
    means = [
        f"{name} {alike[kind & pairs].mean():.2f}"
        for name, kind in (("same sense", same), ("other sense", ~same))
        if (kind & pairs).any()
    ]
    used = f"{len(record.texts)} uses; {theme.printable(record.model)}"
    if same.all():
        return f"Two uses have a mean cosine of {alike[pairs].mean():.2f}.", (used,)
    agree = int(same[np.arange(len(nearest)), nearest].sum())
    return f"The nearest other use has the same sense for {agree} of {len(nearest)}.", (
        f"mean cosine: {', '.join(means)}",
        used,
    )


def _short(text: str) -> str:
    return "<br>".join(theme.lines((theme.printable(text[:400]),)))


def strips(record: Filters) -> Mapping[str, Control]:
    """How many filters."""
    return {"many": Range("Filters", 1, min(40, len(record.widths)), min(SHOWN, len(record.widths)))}


def highways(record: Highways) -> Mapping[str, Control]:
    """Which of the highway layers."""
    return {"layer": Choice("Highway layer", tuple(range(len(record.gates))), 0)}


def places(record: BothSides) -> Mapping[str, Control]:
    """Which position."""
    return {"place": Range("Position", 0, len(record.tokens) - 1, len(record.tokens) // 2)}


def shared_places(record: Sequence[Trace]) -> Mapping[str, Control]:
    """Which of the tokens before the change, and which LSTM layer."""
    last = _shared(record) - 1
    layer_numbers = tuple(range(1, 1 + len(record[0].hidden["forward"])))
    return {
        "place": Range("Position", 0, last, min(last, (len(record[0].source) - 2) // 2)),
        "layer": Choice("LSTM layer", layer_numbers, layer_numbers[-1], ordered=True),
    }


def are_halves(record: object) -> str:
    """Empty for two traces of an ELMo whose texts begin alike."""
    if not isinstance(record, (tuple, list)) or len(record) != 2 or not all(isinstance(trace, Trace) for trace in record):
        return other("two traces of an ELMo, (ex.trace(model, text), ex.trace(model, other))", record)
    if not all(SIDES.keys() <= set(trace.hidden) for trace in record):
        return "only an ELMo has a forward and a backward half."
    return "" if _shared(record) else "the two texts begin with different tokens."


def layers(record: Contexts) -> Mapping[str, Control]:
    """After how many layers."""
    layer_numbers = tuple(range(len(record.vectors)))
    return {"layer": Choice("After layers", layer_numbers, layer_numbers[-1], ordered=True)}


is_filters = only(Filters, "ex.analysis.letter_filters(model, word) makes")
is_both_sides = only(BothSides, "ex.analysis.both_sides(model, text) makes")
is_contexts = only(Contexts, "ex.analysis.contexts(model, word, uses) makes")
VIEWS = by_name(
    View("highway", "A highway layer", highway, only(Highways, "ex.analysis.highway_gates(model, word) makes"), highways),
    View("letter-filters", "What letter filters find", filters, is_filters, strips),
    View("halves", "A change after the word, by dimension", halves, are_halves, shared_places),
    View("both-sides", "What each direction predicts", both_sides, is_both_sides, places),
    View("contexts", "One word in many texts", contexts, is_contexts, layers),
)
