"""One layer, from its input to its output, one step at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Tokens, Trace
from explorer.views import theme
from explorer.views.attention import choices, frame, has_attention, place_number, remarks
from explorer.views.panels import Panel, Walk
from explorer.views.steps import WalkStep, steps_of
from explorer.views.view import Choice, Control, Toggle, View, by_name


def walk(trace: Trace, *, layer: str, head: int, step: str, word: str, one: bool) -> go.Figure:
    """One layer as the model computed it, one step after the other: x → q, k, v → q·k → ÷√dₖ → mask → softmax → Σ αv.

    Then the heads are concatenated, W_O combines them, the input is added and the sum is normalised (in pre-norm models the norm
    comes first); the feed-forward layer follows, for each token separately, with its own sum and norm. Move the step slider, or press
    the arrow keys. With *one token* on, you follow a single query; off, you see every token at once. Point at a cell for its
    operands.

    You may conclude that these are the numbers from which this layer computed its output. You may not conclude what a single
    dimension means: a model may spread one meaning over many dimensions, and use one dimension for many meanings.
    """
    held = walk_of(trace, layer, head, word)
    steps = steps_of(trace)
    number = [known.name for known in steps].index(step)
    panel = steps[number].panel(held)
    heading = f"Step {number + 1} of {len(steps)}: {step}"
    rows, columns = trace.axes(held.attention.stream)
    notes = (steps[number].title, _where(held, steps[number], one), *remarks(held.attention, rows, columns))
    return _bars(held, panel, heading, notes) if one and panel.mine else _cells(panel, heading, notes)


def walk_of(trace: Trace, layer: str, head: int, word: str) -> Walk:
    """What the steps of one layer are computed from."""
    attention = trace.attention[place_number(trace, layer)]
    place = min(words(trace).index(word), len(trace.axes(attention.stream)[0]) - 1)  # source and target differ in length
    return Walk(trace, attention, head, place)


def words(trace: Trace) -> tuple[str, ...]:
    """The tokens by position and name, "4 cross"; by position alone where source and target both have rows."""
    if trace.target is not None:
        return tuple(str(place) for place in range(max(len(trace.source), len(trace.target))))
    return tuple(f"{place} {theme.plain(text)}" for place, text in enumerate(trace.source.texts))


def _where(held: Walk, step: WalkStep, one: bool) -> str:
    place = f"{held.attention.stream} layer {held.attention.layer}" + (f", head {held.head}" if step.by_head else "")
    if step.by_head and held.attention.k is not None and len(held.attention.k) < held.attention.heads:
        place += f" (its group shares the keys and values of head {held.shared} of {len(held.attention.k)})"
    word = theme.label(held.rows.texts[held.word])
    return place + (f" · for token {held.word}, “{word}”" if one or not step.whole else "")


def _cells(panel: Panel, heading: str, notes: tuple[str, ...]) -> go.Figure:
    """A panel as a heat map."""
    heat = go.Heatmap(
        z=panel.values.astype(np.float32),
        coloraxis="coloraxis2" if panel.signed else "coloraxis" if panel.colours is None else "coloraxis3",
        customdata=panel.operands,
        hovertemplate=panel.hover,
        hoverongaps=False,
        **theme.gaps(panel.values),
        name=heading,
    )
    figure = go.Figure(heat)
    figure.update_layout(
        title=theme.title(heading, *notes),
        xaxis={**_axis(panel.columns, panel.values.shape[1]), "side": "top"},
        yaxis={**theme.token_axis(panel.rows), "range": [len(panel.rows) - 0.5, -0.5]},
        **(theme.colours(panel.values, panel.signed) if panel.colours is None else panel.colours),
        **_frame(panel, notes),
    )
    return figure


def _bars(held: Walk, panel: Panel, heading: str, notes: tuple[str, ...]) -> go.Figure:
    """The row of one token as bars."""
    values = panel.values[held.word].astype(np.float32)
    drawn = np.where(np.isfinite(values), values, np.nan)
    operands = None if panel.operands is None else panel.operands[held.word]
    pair = f"{theme.label(held.rows.texts[held.word])}</b> → <b>%{{x}}"
    hover = panel.hover.replace("%{y}</b> → <b>%{x}", pair).replace(
        "<b>%{y}</b>", f"<b>{theme.label(held.rows.texts[held.word])}</b>"
    )
    bar = go.Bar(
        x=np.arange(len(values)), y=drawn, customdata=operands, hovertemplate=hover.replace("%{z", "%{y"), name=heading, meta=0
    )
    figure = go.Figure(bar)
    above = theme.space_above(*notes)
    figure.update_layout(
        title=theme.title(heading, *notes),
        xaxis=_axis(panel.columns, len(values)),
        yaxis={"automargin": True, "zeroline": True},
        bargap=0.15,
        height=400 + above,
        margin={"l": 10, "r": 20, "t": above, "b": 70},
    )
    return figure


def _axis(columns: Tokens | str, count: int) -> dict[str, object]:
    if isinstance(columns, str):
        return {"title": {"text": columns, "standoff": 6}, "range": [-0.5, count - 0.5], "showgrid": False, "automargin": True}
    return {**theme.token_axis(columns), "tickangle": -60}


def _frame(panel: Panel, notes: tuple[str, ...]) -> dict[str, object]:
    if not isinstance(panel.columns, str):
        return frame(len(panel.rows), panel.columns, notes)
    above = theme.space_above(*notes) + 24
    return {
        "height": int(min(1200, 76 + above + 27 * max(len(panel.rows), 8))),
        "margin": {"l": 10, "r": 20, "t": above, "b": 60},
    }


def walk_choices(trace: Trace) -> Mapping[str, Control]:
    """Which layer and head, which step, and for whom."""
    held, shown = choices(trace), words(trace)
    pronoun = (word for word in shown if word.partition(" ")[2].strip("·").lower() == "it")
    return {
        "step": Choice("Step", tuple(step.name for step in steps_of(trace)), ordered=True),
        "one": Toggle("One token", False),
        "word": Choice("Token", shown, next(pronoun, shown[len(shown) // 2]), ordered=True),
        "layer": held["layer"],
        "head": held["head"],
    }


def can_walk(trace: Trace) -> str:
    """Empty where a layer was traced with all that happens in it, otherwise the reason."""
    if reason := has_attention(trace):
        return reason
    if trace.attention[0].q is None:
        return "this model gives only its attention weights, so the steps before them are unknown."
    return "" if trace.blocks else "this trace holds no blocks. Make it with ex.trace(model, text, blocks=True)."


VIEWS = by_name(View("walk", "Attention, step by step", walk, walk_choices, can_walk))
