"""One pronoun, two reasons: which noun models prefer, what a translator writes, and which heads follow the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.records import NounPreference, PronounHeads, PronounTranslation
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only, only_many

HALF = 0.5


def nouns(records: Sequence[NounPreference], *, reason: str) -> go.Figure:
    """How probable each of two nouns is in the place of *it*, as a share of the two together. The bar is the chosen sentence, the diamond
    the other one. The dotted line is where both nouns are equally probable: a model resolves the pair if bar and diamond are on the sides
    of their nouns. A masked model predicts the noun in *the [MASK]*, and has read the reason. A decoder has not: it is asked which of two
    texts, one with each noun, is more probable.

    You may conclude which noun each of these models prefers in these two sentences. You may not conclude that a model understands them, nor
    that it resolves others: one pair can be right by chance, which the part *Behaviour* tests on hundreds.
    """
    first = records[0]
    text = first.reasons.index(reason)
    names = [theme.printable(record.model) for record in records]
    shares = np.stack([record.shares for record in records])  # [model, text, noun]
    words = [theme.label(noun) for noun in first.nouns]
    figure = go.Figure()
    for number, word in enumerate(words):
        hover = [_hovered(record, text, number) for record in records]
        written = [f"{word} {theme.percent(share)}" if share > 0.3 else "" for share in shares[:, text, number]]
        figure.add_bar(
            x=shares[:, text, number], y=np.arange(len(names)), orientation="h", meta=number, name=word, customdata=hover,
            hovertemplate="%{customdata}<extra></extra>", text=written,
            textposition="inside", insidetextanchor="middle",
        )  # fmt: skip
    other = theme.label(first.reasons[1 - text])
    figure.add_scatter(
        x=shares[:, 1 - text, 0], y=np.arange(len(names)), mode="markers", meta=2, name=f"with “{other}”",
        marker={"size": 15, "symbol": "diamond"}, customdata=[theme.percent(share) for share in shares[:, 1 - text, 0]],
        hovertemplate=f"with “{other}”: {words[0]} <b>%{{customdata}}</b><extra></extra>",
    )  # fmt: skip
    figure.add_vline(x=HALF, line_dash="dot", line_width=2, layer="below")
    return figure.update_layout(
        title=theme.title(f"“{theme.label(first.reasons[text])}”: which noun?", theme.printable(first.texts[text])),
        xaxis={"title": f"{words[0]} | {words[1]}", "range": [0, 1], "tickformat": ".0%"},
        yaxis=theme.named_axis(names, down=True, tickfont={"size": 16}),
        barmode="stack", legend={"traceorder": "normal"}, height=64 * len(names),
    )  # fmt: skip


def _hovered(record: NounPreference, text: int, noun: int) -> str:
    """The numbers of a bar."""
    name, word = theme.printable(record.model), theme.label(record.nouns[noun])
    logp, share = record.logp[text, noun], record.shares[text, noun]
    what = (
        f"P = {theme.percent(np.exp(logp))} under the mask"
        if record.filled
        else f"log P = {logp:.2f} of the noun and what follows"
    )
    return f"{name}, {word}: {what}<br><b>{theme.percent(share)}</b> of both"


def translation(records: Sequence[PronounTranslation], *, reason: str) -> go.Figure:
    """The translator writes *il* for a masculine noun and *elle* for a feminine one, so it must decide what *it* is. A row is a head
    of cross-attention, a column a token of the English sentence: the weights of the decoder's row that predicts the pronoun, which is
    the row of the token before it. The framed tokens are those in which the two sentences differ.

    You may conclude which heads take something from the reason when the pronoun is written. You may not conclude that these heads
    decide: other heads and the encoder have read the reason too. Silence them in *What if*.
    """
    record = next(record for record in records if record.reason == reason)
    layers, heads, _ = record.cross.shape
    cells = record.cross.reshape(layers * heads, -1)
    names = [f"layer {layer}, head {head}" for layer in range(layers) for head in range(heads)]
    heat = go.Heatmap(
        z=cells.astype(np.float32), coloraxis="coloraxis3", name="cross-attention", **theme.gaps(cells),
        hovertemplate="%{y} → <b>%{x}</b>: <b>%{z:.3f}</b><extra></extra>",
    )  # fmt: skip
    figure = go.Figure(heat)
    for place in record.places:
        figure.add_shape(type="rect", x0=place - 0.5, x1=place + 0.5, y0=-0.5, y1=len(names) - 0.5, line={"width": 2})
    return figure.update_layout(
        title=theme.title("Il or elle?", *_written(record), theme.unseen_note(record.source)),
        xaxis={**theme.token_axis(record.source), "side": "top", "tickangle": -60},
        yaxis=theme.named_axis(names, down=True), height=24 * len(names), **theme.colours_of_weights(),
    )  # fmt: skip


def _written(record: PronounTranslation) -> tuple[str, ...]:
    """The translation, the probabilities of its pronoun, and the head that attends most to the reason."""
    whole = f"{theme.printable(record.model)} writes: {theme.printable(record.written)}"
    if record.at < 0:
        return whole, f"no {' or '.join(record.pronouns)} is written: the row drawn is the last one"
    chances = ", ".join(
        f"P({word}) = {theme.percent(share)}" for word, share in zip(record.pronouns, record.shares, strict=True)
    )
    layer, head = np.unravel_index(int(record.on_reason.argmax()), record.on_reason.shape)
    most = f"most weight on the reason: layer {layer}, head {head}, {record.on_reason.max():.2f}"
    return whole, chances, f"{most} (uniform: {len(record.places) / record.cross.shape[-1]:.2f})"


def heads(record: PronounHeads) -> go.Figure:
    """Every head of the model is a dot: what share of its weight on the two nouns goes to the first noun, with the first reason (to the
    right) and with the other one (upwards). A head that ignores the reason is on the diagonal. One that follows it is at the lower right,
    in the frame: more weight on the first noun with the first reason, more on the second with the other. At the upper left are heads that
    do the opposite: by chance alone, about as many would follow.

    You may conclude in how many heads the weights change sides with the reason. You may not conclude that the model does not resolve
    the pronoun where no head does: the values may carry it, or another row than that of *it*.
    """
    first, second = (theme.label(reason) for reason in record.reasons)
    x, y = record.shares.reshape(2, -1)
    places = [f"layer {layer}, head {head}" for layer, head in np.ndindex(record.right.shape)]
    sides = {
        "follows the reason": record.right,
        "the opposite": record.wrong,
        "does not change sides": ~(record.right | record.wrong),
    }
    figure = go.Figure()
    for number, (name, chosen) in enumerate(sides.items()):
        here = chosen.ravel()
        figure.add_scatter(
            x=x[here], y=y[here], mode="markers", meta=number, name=f"{name}: {here.sum()}", marker={"size": 12, "symbol": number},
            customdata=[place for place, inside in zip(places, here, strict=True) if inside],
            hovertemplate=f"%{{customdata}}<br>{first}: <b>%{{x:.1%}}</b><br>{second}: <b>%{{y:.1%}}</b><extra></extra>",
        )  # fmt: skip
    figure.add_shape(type="line", x0=0, y0=0, x1=1, y1=1, line={"dash": "dot", "width": 1})
    figure.add_shape(type="rect", x0=HALF, x1=1, y0=0, y1=HALF, line={"width": 2})
    noun = theme.label(record.nouns[0])
    return figure.update_layout(
        title=theme.title(f"Does a head follow the reason? {theme.printable(record.model)}", *_counted(record)),
        xaxis={"title": f"{noun}, with “{first}”", "range": [-0.03, 1.03], "tickformat": ".0%"},
        yaxis={"title": f"{noun}, with “{second}”", "range": [-0.03, 1.03], "tickformat": ".0%"}, height=420,
    )  # fmt: skip


def _counted(record: PronounHeads) -> tuple[str, ...]:
    """How many heads follow, and how many would by chance."""
    count = record.right.size
    return (
        f"{record.right.sum()} of {count} heads {'follows' if record.right.sum() == 1 else 'follow'} the reason, "
        f"{record.wrong.sum()} {'does' if record.wrong.sum() == 1 else 'do'} the opposite",
        f"a coin for each head and sentence would give {count / 4:.3g} and {count / 4:.3g}",
    )


def reasons(records: Sequence[NounPreference]) -> Mapping[str, Control]:
    """Which of the two sentences, by the words in which they differ."""
    return {"reason": Choice("Reason", records[0].reasons)}


def reasons_translated(records: Sequence[PronounTranslation]) -> Mapping[str, Control]:
    """The same of translations."""
    return {"reason": Choice("Reason", tuple(record.reason for record in records))}


is_preferred = only_many(NounPreference, "what ex.analysis.noun_preference(model, texts, nouns) makes, in a tuple")
is_translated = only_many(PronounTranslation, "what ex.analysis.pronoun_translation(model, text, other) makes, in a tuple")
VIEWS = by_name(
    View("nouns", "Which noun?", nouns, is_preferred, reasons),
    View("il-or-elle", "Il or elle?", translation, is_translated, reasons_translated),
    View(
        "heads-and-reason",
        "Does a head follow the reason?",
        heads,
        only(PronounHeads, "ex.analysis.pronoun_heads(model, texts, nouns) makes"),
    ),
)
