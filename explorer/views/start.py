"""Small pictures, one for each architecture, side by side: its mask, what it predicts for a word, how that word's vector
changes.
"""

from __future__ import annotations

from textwrap import wrap

import numpy as np
import plotly.graph_objects as go

from explorer.records import ContextShift, VisibilityMap, WordPrediction
from explorer.views import theme
from explorer.views.titles import TITLES
from explorer.views.view import View, by_name, only

KINDS = {
    "bilm": "blue: the words before, orange: those after, blank: itself",
    "encoder": "every word reads every word",
    "decoder": "each word reads itself and those before it",
    "encoder-decoder": "above, it reads like BERT; below, it writes like GPT",
}
PALE = 0.55  # of the colour where another word is seen
NARROWEST = 20  # tokens of a text whose words have room above the narrowest picture; of more only the chosen word is named


def sight(record: VisibilityMap) -> go.Figure:
    """The attention mask: which token may see which. Each row is a token that reads, each column, in the same order, a token that
    could be read: coloured where it is visible, strongly where it is the chosen word, grey where it is not. A token with † was never
    seen in training.

    You may conclude what each kind of model can use at each position, whatever it has learned. You may not conclude that it uses it:
    a mask says what is visible, not what is used.
    """
    seen = record.seen.astype(np.float64)
    tone = np.where(seen == 3, 0.0, np.where(seen == 2, -PALE, np.where(seen == 1, PALE, np.nan)))
    for column in record.place:
        tone[:, column] /= PALE
    names = theme.labels(record.tokens)
    if record.target is not None:  # a grey line between what is read and what is written
        tone = np.insert(np.insert(tone, len(names), np.nan, axis=0), len(names), np.nan, axis=1)
        names = [*names, "", *theme.labels(record.target)]
    figure = go.Figure(go.Heatmap(
        z=tone, coloraxis="coloraxis2", hoverongaps=False, xgap=1, ygap=1, customdata=np.tile(names, (len(names), 1)), text=_down(names),
        hovertemplate="<b>%{text}</b> may see <b>%{customdata}</b><extra></extra>", name="may see",
    ))  # fmt: skip
    high = 12 if len(record.tokens) <= NARROWEST else 9  # by the text, which all of them read
    ticks = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "showgrid": False, "ticks": ""}
    random = "" if record.trained else "Its weights are random: nothing was learned yet."
    notes = _lines(KINDS.get(record.family, record.family), random, theme.unseen_note(record.tokens))
    figure.update_layout(
        title=_title(record.model, notes), height=high * len(names),
        coloraxis2={"cmin": -1, "cmax": 1, "cmid": 0, "showscale": False},
        xaxis={**ticks, "side": "top", "tickangle": -90, "range": [-0.5, len(names) - 0.5]},
        yaxis={**ticks, "range": [len(names) - 0.5, -0.5], "tickfont": {"size": 12}},
    )  # fmt: skip
    return _columns(figure, record, names)


def _down(names: list[str]) -> list[list[str]]:
    return [[name] * len(names) for name in names]


def _columns(figure: go.Figure, record: VisibilityMap, names: list[str]) -> go.Figure:
    """Every second word above the columns, the chosen one in bold letters; special tokens are named at their rows."""
    place, many = record.place, len(record.tokens) > NARROWEST
    near = {n + by for n in place for by in (-1, 1)}  # would touch the chosen one
    words = [
        n for n, special in enumerate(record.tokens.special) if not (special or many or n in near) and (n - place[0]) % 2 == 0
    ]
    shown = sorted({*place, *words})
    if many:
        theme.written_over(figure, "yaxis", list(range(0, len(names), 2)), names[::2])
    theme.written_over(figure, "xaxis", shown, [f"<b>{names[n]}</b>" if n in place else names[n] for n in shown])
    return figure


def expects(record: WordPrediction) -> go.Figure:
    """What each model predicts for the chosen word, which is hidden from it. Each predicts as it was trained to; its input is below its
    name. ✓ marks the actual token. A token may be part of a word; one that begins with … or ## continues a word.

    You may conclude how confident each model is with its input, and that those which see both sides have more input.
    You may not conclude which model is better: they answer different questions, and have different vocabularies.
    """
    rows = [row for side in range(len(record.texts)) for row in _answers(record, side)]
    marked = any(row[0].startswith("·") for row in rows)  # a tokenizer that writes the space before a word
    named = [theme.label(_named(row[0], marked)) + " ✓" * row[2] for row in rows]
    place = [n + row[3] for n, row in enumerate(rows)]  # an empty row between two sides
    every = ["" if n not in place else named[place.index(n)] for n in range(place[-1] + 1)]
    bar = go.Bar(
        x=[row[1] for row in rows], y=place, orientation="h", customdata=named, meta=0, text=[theme.percent(row[1]) for row in rows],
        textposition="outside", cliponaxis=False, hovertemplate="%{customdata}: <b>%{text}</b><extra></extra>", name="predicts",
    )  # fmt: skip
    arrows = ("→ ", "← ") if len(record.reads) > 1 else ("",)
    notes = _lines(*(f"{arrow}{read}" for arrow, read in zip(arrows, record.reads, strict=True)))
    return go.Figure(bar).update_layout(
        title=_title(record.model, notes), height=20 + 26 * len(every),
        bargap=0.25,
        xaxis={"range": [0, 1.22], "showgrid": False, "showticklabels": False, "fixedrange": True},
        yaxis=theme.named_axis(every, down=True, tickfont={"size": 14}),
    )  # fmt: skip


def _named(text: str, marked: bool) -> str:
    """A token as it is written beside its bar: one that continues a word is told from a word."""
    return f"…{text}" if marked and text.isalnum() else text.strip("·")


def _answers(record: WordPrediction, side: int) -> list[tuple[str, float, bool, int]]:
    """The most probable tokens of one side, and the right one where it is none of them: text, probability, whether it is right,
    side.
    """
    rows = [
        (text, float(share), text == record.right, side)
        for text, share in zip(record.texts[side], record.shares[side], strict=True)
    ]
    return rows if any(row[2] for row in rows) else [*rows, (record.right, float(record.truth[side]), True, side)]


def moves(record: ContextShift) -> go.Figure:
    """How similar the chosen word's vector is to the vector of the same word in other sentences, after each layer: a cosine of 1
    is the same direction; after 0 layers it is the input. The thick line is your second sentence, the thin ones are sentences of
    stories, the dotted one the other tokens of your own sentence.

    You may conclude in which models a word's vector depends on its sentence, and on which side of it. You may not conclude that one
    model has learned more about the word because its line is higher: the typical cosine differs from model to model, as the dotted
    line shows.
    """
    layers = np.arange(record.likeness.shape[1])
    figure = go.Figure()
    for number in (*range(1, len(record.others)), 0):
        figure.add_scatter(
            x=layers, y=record.likeness[number], mode="lines+markers", meta=0 if number == 0 else 6, opacity=1 if number == 0 else 0.5,
            line={"width": 4 if number == 0 else 1}, marker={"size": 8 if number == 0 else 3}, showlegend=number < 2,
            name="your second sentence" if number == 0 else "in stories",
            hovertemplate=f"{theme.printable(_short(record.others[number]))}<br>after %{{x}} layers: <b>%{{y:.3f}}</b><extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=layers, y=record.around, mode="lines", name="other tokens", meta=1, line={"width": 2, "dash": "dot"},
        hovertemplate="other tokens, after %{x} layers: <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    low = float(np.nanmin([0.0, record.likeness.min(), *record.around]))
    notes = _lines(f"In the last layer {record.changed[0, -1]:.0%} of its dimensions differ between the two sentences.")
    return figure.update_layout(
        title=_title(record.model, notes), height=230,
        xaxis={"title": theme.DEPTH, "dtick": 1, "range": [-0.15, len(layers) - 0.85]},
        yaxis={"range": [low - 0.03, 1.05], "title": "cosine"},
        legend={"font": {"size": 12}},
    )  # fmt: skip


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _lines(*notes: str) -> list[str]:
    """Notes, each in lines that fit above a narrow picture, six at most together."""
    wrapped = [wrap(note, theme.NARROW) for note in notes]
    left = [6 - sum(map(len, wrapped[:n])) for n in range(len(wrapped))]
    return [
        "<br>".join(map(theme.printable, lines[:most])) for lines, most in zip(wrapped, left, strict=True) if lines and most > 0
    ]


def _title(name: str, notes: list[str]) -> dict[str, object]:
    """The name of a model in large letters, lines below it in small ones."""
    small = "".join(f"<br><span style='font-size:13px'>{note}</span>" for note in notes)
    return {"text": f"<b>{theme.label(TITLES.get(name, name))}</b>{small}"}


is_word_prediction = only(WordPrediction, "ex.analysis.word_prediction(model, text, span) makes")
is_context_shift = only(ContextShift, "ex.analysis.context_shift(model, text, span, others) makes")
VIEWS = by_name(
    View("sight", "Who may see whom", sight, only(VisibilityMap, "ex.analysis.visibility_map(model, text, span) makes")),
    View("expects", "What it predicts for a word", expects, is_word_prediction),
    View("moves", "One word, another sentence", moves, is_context_shift),
)
