"""Word vectors: training pairs, analogies by relation, ratios of counts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Drawn, Ratios, Solved
from explorer.views import theme
from explorer.views.view import Control, Range, View, by_name, only

WIDE = 60  # so many tokens of a long text fit into the picture of all pairs


def window(record: Drawn, *, begin: int) -> go.Figure:
    """Which words of a text become training pairs in one step of word2vec: a row for each centre word, a filled cell for each of its
    context words. Grey rows were left out this time (subsampling): frequent words often are, rare ones never. The window of each of
    the others is drawn at random, one to five words on each side, and left-out words do not count.

    You may conclude that near words become pairs more often than far ones, and that order inside the window is lost.
    You may not conclude that these are all pairs of the text: another step draws others.
    """
    end = min(len(record.tokens), begin + WIDE)
    grid = np.zeros((len(record.tokens), len(record.tokens)))
    grid[tuple(record.pairs.T)] = 1
    grid = np.where(record.window[:, None] > 0, grid, np.nan)[begin:end, begin:end]
    names = [theme.label(text) for text in record.tokens.texts[begin:end]]
    hovers = [
        f"{name}: {share:.2%} of all words, kept with probability {kept:.2f}; window {wide or '–'}"
        for name, share, kept, wide in zip(
            names, record.share[begin:end], record.kept[begin:end], record.window[begin:end], strict=True
        )
    ]
    hover = [[f"{row}<br>context word: {name}" for name in names] for row in hovers]
    left = int((record.window == 0).sum())
    notes = (_paired(len(record.tokens), left, len(record.pairs)), theme.unseen_note(record.tokens))
    font = {"size": 15 if len(names) <= 26 else 12}
    figure = go.Figure(
        go.Heatmap(
            z=grid, coloraxis="coloraxis", customdata=hover, xgap=1, ygap=1, hovertemplate="%{customdata}<extra></extra>"
        )
    )
    return figure.update_layout(
        title=theme.title("Pairs of one text", *notes),
        xaxis=theme.named_axis(names, title={"text": "context word", "standoff": 10}, automargin=True, tickangle=-90, tickfont=font),
        yaxis=theme.named_axis(names, down=True, title="centre word", tickfont=font),
        coloraxis={"cmin": 0, "cmax": 1.3, "showscale": False},
        height=max(200, 17 * min(len(names), 26)),
    )  # fmt: skip


def _paired(words: int, left: int, many: int) -> str:
    """How many words of a text become pairs.

    >>> _paired(19, 5, 70), _paired(4, 0, 9)
    ('14 of 19 words give 70 pairs; the 5 grey ones were left out.', 'All 4 words are used, and give 9 pairs.')
    """
    if not left:
        return f"All {words} words are used, and give {many} pairs."
    return f"{words - left} of {words} words give {many} pairs; the {left} grey {'one was' if left == 1 else 'ones were'} left out."


def pairs(record: Drawn, *, place: int) -> go.Figure:
    """One centre word: a row for each of its context words (label 1), and beside it the negative samples of that row (label 0), drawn
    at random by frequency to the power of 0.75. The colour is the prediction of the trained vectors, σ(w·c): the probability that the
    pair is a real one. The loss of a row is −log σ(w·c) − Σ log σ(−w·c̄).

    You may conclude what the training objective is: to distinguish context words from negative samples, nothing else.
    You may not conclude that a negative sample is always wrong: some are context words of the centre word elsewhere, and a good model
    gives those a high probability too.
    """
    mine = record.of(place)
    word = theme.label(record.tokens.texts[place])
    if mine:
        grid = record.said[mine]
        names = [[theme.label(record.tokens.texts[record.pairs[n, 1]]), *map(theme.label, record.negatives[n])] for n in mine]
    else:
        grid, names = np.full((1, 6), np.nan), [["–"] * 6]
    first = int((record.said[mine, :1] > record.said[mine, 1:]).all(axis=1).sum())
    says = (
        f"For {first} of the {len(mine)} context words of “{word}” the trained vectors give more than for any negative sample."
    )
    notes = (says if mine else f"“{word}” gives no pair this time.", theme.unseen_note(record.tokens))
    facts = (f"window {record.window[place]}", f"kept with probability {record.kept[place]:.2f}", theme.printable(record.model))
    tone = ["context (1)", *(f"negative {n} (0)" for n in range(1, grid.shape[1]))]
    figure = go.Figure(
        go.Heatmap(
            z=grid, text=names, texttemplate="%{text}", textfont={"size": 12}, coloraxis="coloraxis", xgap=2, ygap=2,
            hovertemplate=f"{word} · %{{text}}: σ(w·c) = <b>%{{z:.3f}}</b><extra></extra>",
        )
    )  # fmt: skip
    return figure.update_layout(
        title=theme.title("Context words and negative samples", *notes), **theme.measured(*facts), coloraxis={"cmin": 0, "cmax": 1},
        xaxis=theme.named_axis(tone, side="top", tickfont={"size": 12}),
        yaxis={"visible": False, "autorange": "reversed"},
        height=30 + 44 * len(grid),
    )  # fmt: skip


def solved(record: Solved) -> go.Figure:
    """The share of analogies that are solved, for each gold relation of the microworld. Solid: the nearest word to b − a + c with the
    three given words left out, as is usual. Striped: every word may be the answer.

    You may conclude which relations have nearly the same direction for most of their words. You may not conclude that the method
    *reasons*: where every word is allowed, it often returns a given word. Questions of one relation share their words, so a
    hundred questions count like far fewer independent ones.
    """
    rows = np.arange(len(record.relations))
    names = [f"{theme.label(name)} ({count})" for name, count in zip(record.relations, record.counts, strict=True)]
    ways = (("given words left out", record.forbidden, ""), ("every word allowed", record.allowed, "/"))
    bars = [
        go.Bar(
            x=values, y=rows, orientation="h", name=name, meta=number, marker={"pattern": {"shape": shape}},
            customdata=[[theme.printable(example), f"{echo:.0%}"] for example, echo in zip(record.examples, record.echoed, strict=True)],
            hovertemplate=f"%{{customdata[0]}}<br>{name}: <b>%{{x:.1%}}</b><br>a word of the question nearest: %{{customdata[1]}}"
            "<extra></extra>",
        )
        for number, (name, values, shape) in enumerate(ways)
    ]  # fmt: skip
    figure = go.Figure(bars)
    notes = (
        f"{record.total('forbidden'):.1%} of {int(record.counts.sum()):,} analogies are solved; where every word may answer, a given one "
        f"is nearest in {record.total('echoed'):.1%}.",
    )
    facts = (theme.printable(record.model), f"solved where every word may answer: {record.total('allowed'):.1%}")
    return figure.update_layout(
        title=theme.title("Analogies solved", *notes), **theme.measured(*facts), barmode="group",
        xaxis={"title": "share solved", "tickformat": ".0%", "range": [0, 1.02]},
        yaxis=theme.named_axis(names, down=True),
        height=44 * len(rows),
    )  # fmt: skip


def ratios(record: Ratios) -> go.Figure:
    """How much more often a word k occurs near the first word than near the second: P(k | a) / P(k | b), on a logarithmic scale.
    Circles are counted in the texts, crosses are computed from the vectors. A word about as probable near both has a ratio around 1:
    what both have in common cancels out. The words k were chosen by their counts: largest and smallest ratio, and around 1 the most
    and the least frequent of those counted at least five times.

    Where circle and cross coincide, the vectors reproduce the ratio of counts. You may not conclude that a ratio is meaning, nor
    anything from words that were counted only a few times: their ratio is mostly random.
    """
    a, b = map(theme.label, record.pair)
    rows = np.arange(len(record.words))
    figure = go.Figure()
    for number, (name, values, symbol) in enumerate(
        (("counted", record.ratio, "circle"), ("by the vectors", record.said, "x"))
    ):
        columns = zip(record.words, record.kinds, *record.chances, *record.often, strict=True)
        hover = [[theme.label(k), kind, f"{p:.5f}", f"{q:.5f}", f"{x:.1f}", f"{y:.1f}"] for k, kind, p, q, x, y in columns]
        figure.add_scatter(
            x=values, y=rows, mode="markers", name=name, meta=number, marker={"symbol": symbol, "size": 13}, customdata=hover,
            hovertemplate=f"%{{customdata[0]}} (%{{customdata[1]}})<br>{name}: <b>%{{x:.3g}}</b><br>P(k | {a}) = %{{customdata[2]}} "
            f"(count %{{customdata[4]}})<br>P(k | {b}) = %{{customdata[3]}} (count %{{customdata[5]}})<extra></extra>",
        )  # fmt: skip
    note = f"Over {record.compared} words the ratios by the vectors correlate with the counted ones at {record.alike:.2f} (logarithms)."
    names = [f"{theme.label(word)} <i>{kind}</i>" for word, kind in zip(record.words, record.kinds, strict=True)]
    return figure.update_layout(
        title=theme.title(f"P(k | {a}) / P(k | {b})", note),
        **theme.measured(f"{record.texts:,} texts", "words chosen by counts"),
        xaxis={"type": "log", "title": f"← {b}    ratio    {a} →", "dtick": 1, "exponentformat": "none"},
        yaxis=theme.named_axis(names, down=True, tickfont={"size": 13}),
        shapes=[{"type": "line", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "yref": "paper", "line": {"dash": "dot", "width": 1}}],
        height=32 * len(rows),
    )  # fmt: skip


def begins(record: Drawn) -> Mapping[str, Control]:
    """The first position shown of a text that is too long for one picture."""
    return {"begin": Range("From position", 0, max(0, len(record.tokens) - WIDE), 0)}


def middles(record: Drawn) -> Mapping[str, Control]:
    """Which word is the centre word; at first the rarest of those with several pairs."""
    often = np.bincount(record.pairs[:, 0], minlength=len(record.tokens))
    first = int(np.argmin(np.where(often >= min(4, often.max()), record.share, np.inf)))
    return {"place": Range("Position of the centre word", 0, len(record.tokens) - 1, first)}


is_drawn = only(Drawn, "ex.analysis.skipgrams(model, text, examples) makes")
VIEWS = by_name(
    View("context-window", "Pairs of one text", window, is_drawn, begins),
    View("context-pairs", "Context words and negative samples", pairs, is_drawn, middles),
    View("analogies", "Analogies solved", solved, only(Solved, "ex.analysis.solve_analogies(model) makes")),
    View("ratios", "Ratios of counts", ratios, only(Ratios, "ex.analysis.count_ratios(model, a, b, examples) counts")),
)
