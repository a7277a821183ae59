"""What a discriminator makes of a text in which a generator replaced some pieces."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.records import Detection
from explorer.views import theme
from explorer.views.tiles import nothing
from explorer.views.view import View, by_name

REPLACED, ORIGINAL, BORDER = "≠ replaced by the generator", "original", "above: the model says “replaced”"


def detection(record: Detection) -> go.Figure:
    """For every piece the probability, by the discriminator, that it is not the original. The striped bars stand on pieces that the
    generator put in; after the arrow is what stood there. A striped bar below the line was missed, a plain one above it is a
    false alarm. Every piece of text has a bar because the loss falls on all of them, where masking scores only the masks.

    You may conclude what this model doubts in this text. You may not conclude how good it is (one text has a handful of replaced
    pieces), nor that a doubted word is wrong: the question was whether it is new, and a likely word may well be.
    """
    new, n = record.new, len(record.new)
    figure = go.Figure([_columns(record, new == wanted, wanted) for wanted in (False, True)])
    line = {"dash": "dot", "width": 2}
    figure.add_scatter(x=[-0.5, n - 0.5], y=[0.5, 0.5], mode="lines", name=BORDER, meta=3, line=line, hoverinfo="skip")
    found, alarms = int((new & record.said).sum()), int((record.said & ~new).sum())
    every, masked = record.signal
    score = "" if np.isnan(record.f1) else f": F1 of this text {record.f1:.2f}"
    notes = (
        f"finds {found} of {int(new.sum())} replaced pieces, {alarms} false alarm{'' if alarms == 1 else 's'}{score}",
        f"a loss falls on {every} of {every} pieces; masking would score {masked}",
        theme.unseen_note(record.corruption.original),
    )
    above = theme.space_above(*notes) + 14
    figure.update_layout(
        title=theme.title(f"What {record.model} takes for replaced", *notes),
        xaxis={**theme.token_axis(record.corruption.original), "ticktext": _names(record), "tickangle": -60},
        yaxis={"title": {"text": "P(replaced)"}, "range": [0, 1.02], "automargin": True},
        barmode="overlay", legend={"y": -0.6}, height=360 + above, margin={"l": 10, "r": 10, "t": above, "b": 150},
    )  # fmt: skip
    return figure


def _columns(record: Detection, held: np.ndarray, wanted: bool) -> go.Bar:
    """One bar for each piece: nothing where the other kind stands."""
    pairs = zip(record.corruption.original.texts, record.corruption.source.texts, strict=True)
    return go.Bar(
        x=np.arange(len(held)), y=np.where(held, record.chances, np.nan), width=0.8, meta=1 if wanted else 0,
        name=REPLACED if wanted else ORIGINAL, marker={"pattern": {"shape": "/" if wanted else ""}},
        customdata=[f"x: {theme.label(before)}<br>x̃: {theme.label(after)}" for before, after in pairs],
        hovertemplate="%{customdata}<br>P(replaced) = <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip


def _names(record: Detection) -> list[str]:
    """The pieces as the discriminator reads them; behind a new one what stood there."""
    before, after = theme.labels(record.corruption.original), record.corruption.source.texts
    named = zip(before, after, record.new, strict=True)
    return [f"≠ {theme.label(piece)} ← {was}" if changed else was for was, piece, changed in named]


def is_detection(record: object) -> str:
    """Empty where a discriminator was asked."""
    kind = type(record).__name__
    return "" if isinstance(record, Detection) else f"it draws what ex.detect(model, text) makes; this is a {kind}."


VIEWS = by_name(View("detection", "Which pieces were replaced?", detection, nothing, is_detection))
