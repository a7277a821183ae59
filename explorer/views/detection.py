"""What a discriminator predicts for a text in which a generator replaced some tokens."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.records import Detection
from explorer.views import theme
from explorer.views.view import View, by_name, only

REPLACED, ORIGINAL, BORDER = "≠ replaced by the generator", "original", "above: the model says “replaced”"


def detection(record: Detection) -> go.Figure:
    """For every token the discriminator's probability that it was replaced. The striped bars belong to tokens from the generator;
    after the arrow is the original token. A striped bar below the line is a missed token, a plain one above it a false alarm. Every
    token has a bar because the loss is computed on all of them, while masked language modelling predicts only the chosen ones.

    You may conclude which tokens this model considers replaced. You may not conclude how good it is (one text has only a few replaced
    tokens), nor that such a token is wrong: the question was whether it was replaced, and a replaced token may fit well.
    """
    new, n = record.new, len(record.new)
    figure = go.Figure([_columns(record, new == wanted, wanted) for wanted in (False, True)])
    line = {"dash": "dot", "width": 2}
    figure.add_scatter(x=[-0.5, n - 0.5], y=[0.5, 0.5], mode="lines", name=BORDER, meta=3, line=line, hoverinfo="skip")
    hits, alarms = int((new & record.said).sum()), int((record.said & ~new).sum())
    every, masked = record.signal
    score = "" if np.isnan(record.f1) else f": F1 of this text {record.f1:.2f}"
    notes = (
        f"finds {hits} of {int(new.sum())} replaced tokens, {alarms} false alarm{'' if alarms == 1 else 's'}{score}",
        f"the loss covers {every} of {every} tokens; masking would cover {masked}",
        theme.unseen_note(record.corruption.original),
    )
    return figure.update_layout(
        title=theme.title(f"What {theme.printable(record.model)} takes for replaced", *notes),
        xaxis={**theme.token_axis(record.corruption.original), "ticktext": _names(record), "tickangle": -60},
        yaxis={"title": "P(replaced)", "range": [0, 1.02]},
        barmode="overlay", height=220,
    )  # fmt: skip


def _columns(record: Detection, mask: np.ndarray, wanted: bool) -> go.Bar:
    """One bar for each token of one kind, NaN for the other kind."""
    pairs = zip(record.corruption.original.texts, record.corruption.source.texts, strict=True)
    return go.Bar(
        x=np.arange(len(mask)), y=np.where(mask, record.chances, np.nan), width=0.8, meta=1 if wanted else 0,
        name=REPLACED if wanted else ORIGINAL, marker={"pattern": {"shape": "/" if wanted else ""}},
        customdata=[f"x: {theme.label(before)}<br>x̃: {theme.label(after)}" for before, after in pairs],
        hovertext=[*map(theme.percent, record.chances)],
        hovertemplate="%{customdata}<br>P(replaced) = <b>%{hovertext}</b><extra></extra>",
    )  # fmt: skip


def _names(record: Detection) -> list[str]:
    """The tokens as the discriminator reads them; after a replaced one the original."""
    before, after = theme.labels(record.corruption.original), record.corruption.source.texts
    named = zip(before, after, record.new, strict=True)
    return [f"≠ {theme.label(piece)} ← {was}" if changed else was for was, piece, changed in named]


VIEWS = by_name(View("detection", "Which tokens were replaced?", detection, only(Detection, "ex.detect(model, text) makes")))
