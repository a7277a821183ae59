"""What follows a text by the counts of an n-gram model, and which n-grams that comes from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import BackOff
from explorer.views import theme
from explorer.views.view import Control, Range, View, by_name, only

FLAT = "1 / vocabulary"


def back_off(record: BackOff, *, place: int) -> go.Figure:
    """The most probable next tokens after a position of the text. Each bar is a sum: what the longest n-grams keep, then what they
    pass on to shorter ones, down to 1 / vocabulary, the same for every token. A context that was never counted is skipped: the model
    **backs off** to the context without its first token. The token marked ✓ follows in the text.

    You may conclude how long the run of tokens is on which this prediction is based. You may not conclude anything about what a token
    means: a run that was not counted has no counts, however similar it is to another.
    """
    names = [theme.label(text) for text in record.texts[place]]
    follows = record.tokens.texts[place + 1] if place + 1 < len(record.tokens) else None
    right = [text == follows for text in record.texts[place]]
    figure = go.Figure(
        [_bars(record, place, source) for source in reversed(range(record.parts.shape[2])) if record.shares[place, source]]
    )
    notes = (f"after: … {_context(record, place)}", _used(record, place), _following(record, place, follows))
    most = float(record.parts[place].sum(axis=1).max())
    return figure.update_layout(
        title=theme.title("What was counted after these tokens", *notes, theme.unseen_note(record.tokens)), barmode="stack",
        xaxis={"title": "probability", "range": [0, 1.12 * most], "tickformat": ".0%" if most > 0.05 else ".1%", "nticks": 6},
        yaxis=theme.named_axis(theme.ticked(names, right), down=True, tickfont={"size": 18}),
        height=44 * len(names),
    )  # fmt: skip


def _bars(record: BackOff, place: int, source: int) -> go.Bar:
    """What n-grams of one length add to every bar."""
    name = f"{source}-grams" if source else FLAT
    return go.Bar(
        orientation="h", x=record.parts[place, :, source], y=np.arange(len(record.texts[place])), width=0.7, name=name, meta=source,
        customdata=[theme.percent(part) for part in record.parts[place, :, source]],
        hovertemplate=f"{name}: <b>%{{customdata}}</b><extra></extra>",
    )  # fmt: skip


def _context(record: BackOff, place: int) -> str:
    return " ".join(theme.labels(record.tokens)[max(0, place - 4) : place + 1])


def _used(record: BackOff, place: int) -> str:
    """The order in which contexts are asked, each with its share of the whole probability."""
    longest, known = record.parts.shape[2] - 2, int(record.known[place])
    skipped = f"no context of {longest} tokens was counted; " if known < longest else ""
    order = ", ".join(
        f"{f'{source}-grams' if source else FLAT} {theme.percent(record.shares[place, source])}"
        for source in range(known + 1, -1, -1)
    )
    return f"{skipped}back-off: {order}"


def _following(record: BackOff, place: int, follows: str | None) -> str:
    return (
        "" if follows is None else f"P({theme.label(follows)}) = {theme.percent(record.truth[place])}, the token that follows"
    )


def positions(record: BackOff) -> Mapping[str, Control]:
    """After which position."""
    return {"place": Range("After position", 0, len(record.tokens) - 1, max(0, (len(record.tokens) - 1) // 2))}


VIEWS = by_name(
    View("back-off", "What was counted", back_off, only(BackOff, "ex.analysis.back_off(model, text) makes"), positions)
)
