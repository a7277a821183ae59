"""Pictures of words and tokens: tokens per word by language, and labels of words from labels of tokens."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import WAYS, Fertility, WordLabels
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only

COUNTS = ("tokens per word", "tokens for the sentence", "share of [UNK]")


def fertility(record: Fertility, *, count: str) -> go.Figure:
    """How many tokens the same sentence needs in four languages and in emoji, one row for each tokenizer.

    A tokenizer trained only on English cuts Finnish into small tokens, has no letters for Arabic or Chinese, and replaces
    whole words, or a run of letters, by one [UNK]: then a low number is not a good sign. Bytes never fail, but a letter of another
    script takes two to four of them.

    You may conclude how many tokens each language costs with these vocabularies. You may not conclude that a language is hard:
    trained on other texts, the same algorithm would favour another language.
    """
    values = {
        "tokens per word": record.pieces / record.words,
        "tokens for the sentence": record.pieces.astype(float),
        "share of [UNK]": record.unknown / record.pieces,
    }[count]
    heat = go.Heatmap(
        z=values.astype(np.float32),
        coloraxis="coloraxis",
        texttemplate="%{z:.2f}" if count != COUNTS[1] else "%{z:.0f}",
        textfont={"size": 16},
        customdata=[[theme.label(text) for text in record.sentences]] * len(record.names),
        hovertemplate=f"<b>%{{y}}</b>, %{{x}}<br>{count}: <b>%{{z:.3g}}</b><extra></extra>",
        xgap=2,
        ygap=2,
        name=count,
    )
    figure = go.Figure(heat)
    notes = ("one sentence, four languages and emoji", f"words, counted by hand: {', '.join(map(str, record.words))}")
    figure.update_layout(
        title=theme.title(count[0].upper() + count[1:], *notes),
        xaxis={**_axis(record.languages), "side": "top"},
        yaxis={**_axis(record.names), "range": [len(record.names) - 0.5, -0.5]},
        height=48 * len(record.names),
        **theme.colours(values, signed=False),
    )
    return figure.update_layout(coloraxis={"showscale": False})


def _axis(names: tuple[str, ...]) -> dict[str, object]:
    return theme.named_axis([theme.label(name) for name in names], tickfont={"size": 15})


def word_labels(record: WordLabels, *, way: str) -> go.Figure:
    """Above: what a tagger predicts for each token alone. Below: how these predictions are combined for each word. ✓ is the gold
    label.

    A tagger labels tokens, but we want labels for words. Taking the first token is the simplest way; one can also combine the
    predictions of all tokens of the word.

    You may conclude that here the other tokens hold information that the first does not. You may not conclude that it is the same for
    BERT: there the first token has already seen the rest of its word through attention.
    """
    together = record.together(way)
    sizes = [len(record.tokens), len(record.words)]
    figure = make_subplots(
        2, 1, subplot_titles=("each token", f"each word: {way}"), row_heights=sizes, vertical_spacing=2.6 / (sum(sizes) + 4)
    )
    gold = np.array([record.labels.index(label) for label in record.gold])
    marks = [["✓" if label == right else "" for label in range(len(record.labels))] for right in gold]
    panels = (("tokens", record.shares, record.tokens.texts, None), ("words", together, record.words, marks))
    for row, (name, values, names, texts) in enumerate(panels, 1):
        figure.add_trace(_shares(name, values, texts), row=row, col=1)
        figure.update_xaxes(**_axis(record.labels), showticklabels=row == 2, row=row, col=1)
        figure.update_yaxes(**{**_axis(tuple(names)), "range": [len(names) - 0.5, -0.5]}, row=row, col=1)
    hits = int((together.argmax(axis=1) == gold).sum())
    scores = ", ".join(f"{name.split(' ')[0]} {share:.0%}" for name, share in record.right.items())
    notes = (f"here {hits} of {len(gold)} words are right", f"on {record.tried:,} words of new texts: {scores}")
    return figure.update_layout(
        title=theme.title("Labels of words from those of tokens", *notes),
        height=60 + 25 * sum(sizes),
        coloraxis={"cmin": 0, "cmax": 1, "showscale": False},
    )


def _shares(name: str, values: np.ndarray, texts: list[list[str]] | None) -> go.Heatmap:
    return go.Heatmap(
        z=values.astype(np.float32),
        coloraxis="coloraxis",
        hovertemplate="<b>%{y}</b>, %{x}: <b>%{z:.3f}</b><extra></extra>",
        xgap=1,
        ygap=1,
        text=texts,
        texttemplate="%{text}" if texts else None,
        name=name,
    )


is_fertility = only(Fertility, "ex.text.fertility(tokenizers) makes")


is_word_labels = only(WordLabels, "ex.text.word_labels(…) makes")


def count_of(record: Fertility) -> Mapping[str, Control]:
    """What is counted."""
    return {"count": Choice("Count", COUNTS)}


def way_of(record: WordLabels) -> Mapping[str, Control]:
    """How the tokens of a word are combined."""
    return {"way": Choice("Way", tuple(WAYS))}


VIEWS = by_name(
    View("fertility", "Tokens per word by language", fertility, is_fertility, count_of),
    View("word-labels", "Labels of words from labels of tokens", word_labels, is_word_labels, way_of),
)
