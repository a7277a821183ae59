"""Curves with error bars."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from explorer.records import Curve, Curves, Saturation, softmax
from explorer.records.families import AFTER
from explorer.views import theme
from explorer.views.view import Choice, Control, View, by_name, only, other

UPRIGHT = 6  # the grey among the colours
FEW = 9  # places on an axis whose names have room beside each other


def curves(record: Curves) -> go.Figure:
    """A line is what was measured or calculated; where there were several runs it is their mean. Error bars, if there are any, reach
    from the lowest to the highest run, unless the note beside its numbers says what they are.

    You may conclude that lines differ where their error bars do not overlap. You may not conclude that what was measured on small
    models also holds for larger ones, other texts or longer training.
    """
    figure = go.Figure([_line(line, n if line.colour is None else line.colour) for n, line in enumerate(record.lines)])
    if record.mark is not None:
        figure.add_trace(_mark(record))
    return figure.update_layout(
        title=theme.title(record.title, furthest(record)),
        **theme.measured(record.note),
        xaxis={"title": record.across, **(_logarithmic(record) if record.log else {})},
        yaxis={"title": record.up},
        height=350,
    )


def furthest(record: Curves) -> str:
    """Which line is lowest and which highest where they reach furthest to the right, in a sentence.

    >>> x = np.array([1, 9])
    >>> furthest(Curves("", "length", "loss", (Curve("a", x, np.array([3.0, 2.0])), Curve("b", x, np.array([3.0, 1.0])))))
    'At 9, “b” is lowest (1) and “a” highest (2).'
    """
    known = [(line, np.isfinite(line.y)) for line in record.lines]
    ends = [(escape(line.label, quote=False), line.x[there][-1], line.y[there][-1]) for line, there in known if there.any()]
    if not ends:
        return ""
    place = max(at for _, at, _ in ends)
    values = {name: float(value) for name, at, value in ends if at == place}
    low, high = (pick(values, key=lambda name: values[name]) for pick in (min, max))
    where, (least, most) = f"At {place:.4g}", (f"{values[name]:.3g}".replace("-", "−") for name in (low, high))
    if least == most:
        return f"{where}, {'all lines are' if len(values) > 1 else f'“{low}” is'} at {least}."
    return f"{where}, “{low}” is lowest ({least}) and “{high}” highest ({most})."


def costs(record: Curves) -> go.Figure:
    """What each part of a layer costs, calculated from the sizes of the model and the length of its text: multiply-adds, or numbers that
    training keeps in memory. Nothing was measured here, so no line has error bars.

    You may conclude which part grows fastest with the length, and where it overtakes the others. You may not conclude how many seconds
    a model takes, which depends on the machine, too, nor how much memory a given program needs: newer ones compute attention without
    keeping the weights α.
    """
    return curves(record)


def exposure(record: Curves) -> go.Figure:
    """The mean probability of the gold token after one position of a text: with a correct history, after one forced wrong token, and when
    the model continues freely. Error bars are 95% intervals of the mean over the texts.

    You may conclude how much one wrong token costs this model here. You may not conclude that a free continuation is bad: only the
    exact gold token counts, and another good text, or the gold text one position later, counts as wrong.
    """
    return curves(record)


def _logarithmic(record: Curves) -> dict[str, object]:
    """An axis of powers of ten; where few places were measured it names them, as plotly writes all between in small figures."""
    places = sorted({float(place) for line in record.lines for place in line.x})
    named = {"tickvals": places, "ticktext": [f"{place:g}" for place in places]} if len(places) <= FEW else {"dtick": 1}
    return {"type": "log", **named}


def _mark(record: Curves) -> go.Scatter:
    """An upright line, from the lowest point of the picture to the highest."""
    assert record.mark is not None
    name, place = record.mark
    upright = Curve(name, np.array([place, place]), np.array(heights(record)))
    return _line(upright, UPRIGHT, "dot")


def heights(record: Curves) -> tuple[float, float]:
    """The lowest and the highest point of a picture, error bars included."""
    ends = [end for line in record.lines for end in (line.low, line.high, line.y) if end is not None]
    return float(min(values.min() for values in ends)), float(max(values.max() for values in ends))


def error_bars(line: Curve) -> dict[str, Any]:
    """The error bars of a line, for its trace; nothing where it has none."""
    if line.low is None or line.high is None:
        return {}
    return {"error_y": {"array": line.high - line.y, "arrayminus": line.y - line.low, "thickness": 1.5, "width": 3}}


def _line(line: Curve, colour: int, dash: str = "solid") -> go.Scatter:
    """One line with its error bars. `colour` is a number that the theme turns into one."""
    name = escape(line.label, quote=False)
    hover = f"{name}<br>%{{x:.4g}}: <b>%{{y:.4g}}</b><extra></extra>"
    return go.Scatter(
        x=line.x, y=line.y, mode="lines", name=name, line={"width": 3, "dash": dash}, hovertemplate=hover, meta=colour,
        **error_bars(line),
    )  # fmt: skip


def saturated(record: Saturation, *, width: int) -> go.Figure:
    """Left: the attention weights of one random query for ten random keys at this dimension, with and without dividing by √dₖ.
    Right: over many queries, the mean of the largest weight, and how strongly the weights still react to the scores (the size of the
    softmax gradient). Change the dimension: without the division sums of more products spread more, one key gets nearly all the
    weight, and the gradient nearly vanishes; with it hardly anything changes.

    You may conclude what a softmax does to random vectors. You may not conclude that every model needs the division: trained queries
    and keys are not random, and a model can learn to make them small.
    """
    place = list(record.widths).index(width)
    figure = make_subplots(1, 2, subplot_titles=(f"weights at dₖ = {width}", "all dimensions"), horizontal_spacing=0.09)
    for number, (label, factor) in enumerate((("without ÷ √dₖ", 1.0), ("with ÷ √dₖ", width**-0.5))):
        scores = record.scores[place] * factor
        hover = f"{label}, key %{{x}}: <b>%{{y:.3f}}</b><extra></extra>"
        bar = go.Bar(x=np.arange(len(scores)), y=softmax(scores), name=label, hovertemplate=hover, meta=number)
        figure.add_trace(bar, row=1, col=1)
        for values, what, dash in ((record.largest, "largest weight", "solid"), (record.slope, "gradient", "dot")):
            line = Curve(f"{what} {label}", record.widths, values[:, number])
            figure.add_trace(_line(line, number, dash), row=1, col=2)
    low, high = record.largest[place, 0], record.slope[place, 0]
    notes = (
        f"without ÷ √dₖ the largest of {record.scores.shape[1]} weights is {low:.2f} on average and the gradient {high:.2f}",
        f"with it {record.largest[place, 1]:.2f} and {record.slope[place, 1]:.2f} ({record.draws:,} random queries each)",
    )
    figure.update_xaxes(title_text="key", row=1, col=1, dtick=1)
    figure.update_xaxes(title_text="dₖ, the dimension of a head", type="log", tickvals=list(record.widths), row=1, col=2)
    figure.update_xaxes(range=np.log10(record.widths[[0, -1]]) + [-0.08, 0.08], row=1, col=2)
    figure.update_yaxes(range=[0, 1.02])
    title = theme.title("Scores without and with ÷ √dₖ", *notes)
    return figure.update_layout(title=title, height=260)


def is_curves(record: object) -> str:
    """Empty for curves."""
    return "" if isinstance(record, Curves) else other("curves that were measured, for example ex.result('scale')", record)


def is_calculated(record: object) -> str:
    """Empty for curves of which none has error bars."""
    if not isinstance(record, Curves):
        return other("curves that were calculated, for example ex.analysis.costs.by_length(…)", record)
    measured = any(line.low is not None for line in record.lines)
    return "it draws what was calculated; these curves were measured several times: take “curves”." if measured else ""


def is_exposure(record: object) -> str:
    """Empty for the curves of exposure bias."""
    fitting = isinstance(record, Curves) and record.across == AFTER
    return "" if fitting else other("the curves of ex.analysis.exposure_bias(model, texts)", record)


def widths(record: Saturation) -> Mapping[str, Control]:
    """The dimension of queries and keys."""
    return {"width": Choice("dₖ, the dimension of a head", tuple(int(width) for width in record.widths), 64, ordered=True)}


VIEWS = by_name(
    View("curves", "Measured", curves, is_curves),
    View("costs", "Calculated", costs, is_calculated),
    View("exposure", "After one wrong token", exposure, is_exposure),
    View("saturation", "What ÷ √dₖ is for", saturated, only(Saturation, "ex.analysis.saturation() makes"), widths),
)
