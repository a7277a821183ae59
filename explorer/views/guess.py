"""What a masked model says at the hidden places, and at those where nobody asked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Copied, Guess
from explorer.views import theme
from explorer.views.tiles import nothing
from explorer.views.view import Choice, Control, View, by_name

SHORTEST = 0.004  # a bar that can still be seen


def guess(record: Guess, *, place: str) -> go.Figure:
    """The model's likeliest pieces at one hidden place, with their probabilities over the whole vocabulary. The striped bar with
    the tick is the piece that stood there; where it is not among the likeliest, it is added below them.

    You may conclude what this model expects at this place of this text. You may not conclude that another word would be wrong: many
    fit, and the model only knows the small world of stories that it has read.
    """
    at = _places(record)[place]
    truth = theme.label(record.corruption.original.texts[at])
    names = [theme.label(text) for text in record.texts[at]]
    shares = [float(share) for share in record.shares[at]]
    right = [text == record.corruption.original.texts[at] for text in record.texts[at]]
    if not any(right):
        names, shares, right = [*names, truth], [*shares, float(record.truth[at])], [*right, True]
    figure = go.Figure([_bars(names, shares, right, wanted) for wanted in (False, True)])
    notes = (
        f"P({truth} | x̃) = {record.truth[at]:.3f}, so −log P = {record.surprise[at]:.2f}",
        f"{record.model} reads: {_around(record, at)}",
        theme.unseen_note(record.corruption.original),
    )
    above = theme.space_above(*notes) + 14
    figure.update_layout(
        title=theme.title(f"What stands at place {at}?", *notes),
        xaxis={"title": {"text": "probability"}, "range": [0, min(1.25, 1.25 * max(shares))], "tickformat": ".0%", "nticks": 6},
        yaxis={
            "tickmode": "array", "tickvals": list(range(len(names))), "automargin": True, "tickfont": {"size": 18},
            "ticktext": [f"{name} ✓" if ok else name for name, ok in zip(names, right, strict=True)],
            "range": [len(names) - 0.4, -0.6],
        },
        barmode="overlay", height=above + 44 * len(names) + 130, margin={"l": 10, "r": 10, "t": above, "b": 130},
    )  # fmt: skip
    return figure


def _bars(names: list[str], shares: list[float], right: list[bool], wanted: bool) -> go.Bar:
    held = [n for n, ok in enumerate(right) if ok == wanted]
    return go.Bar(
        orientation="h", base=0, x=[max(shares[n], SHORTEST * max(shares)) for n in held], y=held, width=0.7,
        text=[f"{shares[n]:.1%}" for n in held], textposition="outside", cliponaxis=False, textfont={"size": 15},
        name="✓ what stood there" if wanted else "other pieces", meta=int(wanted),
        marker={"pattern": {"shape": "/" if wanted else ""}}, customdata=[names[n] for n in held],
        hovertemplate="%{customdata}: <b>%{text}</b><extra></extra>",
    )  # fmt: skip


def surprises(record: Guess) -> go.Figure:
    """How surprised the model is at each place by the piece that stood there: −log P(w | x̃). Only the solid bars count: their sum
    is the loss. The grey striped ones are what the model says about pieces that it can see.

    At those places nothing is learned in this text, so nobody has ever asked the model to be right about the very piece that stands
    there, except for the few that are kept or replaced in training. That is what these few are for.

    You may conclude where the loss comes from. You may not conclude from the grey bars how probable the sentence is: the model has
    seen each of these answers while it gave them.
    """
    scored = record.corruption.scored
    tokens = record.corruption.source
    figure = go.Figure([_columns(record, scored == wanted, wanted) for wanted in (False, True)])
    notes = (
        f"L = Σ −log P(w | x̃) = {record.loss:.2f} over {int(scored.sum())} scored pieces, "
        f"mean {record.loss / scored.sum():.2f}",
        theme.unseen_note(tokens),
    )
    above = theme.space_above(*notes) + 14
    figure.update_layout(
        title=theme.title(f"Where the loss of {record.model} falls", *notes),
        xaxis={**theme.token_axis(tokens), "tickangle": -60},
        yaxis={"title": {"text": "−log P (nats)"}, "rangemode": "tozero", "automargin": True},
        barmode="overlay", legend={"y": -0.5}, height=320 + above, margin={"l": 10, "r": 10, "t": above, "b": 130},
    )  # fmt: skip
    return figure


def _columns(record: Guess, held: np.ndarray, wanted: bool) -> go.Bar:
    """One bar for each piece: nothing where the other kind stands."""
    said = [
        f"x: {theme.label(text)}, P = {share:.3f}<br>the model says {theme.label(best[0])}"
        for text, share, best in zip(record.corruption.original.texts, record.truth, record.texts, strict=True)
    ]
    return go.Bar(
        x=np.arange(len(held)), y=np.where(held, record.surprise, np.nan), width=0.8, customdata=said,
        name="scored" if wanted else "visible, never scored", meta=0 if wanted else 6,
        marker={"pattern": {"shape": "" if wanted else "/"}, "opacity": 1 if wanted else 0.5},
        hovertemplate="%{customdata}<br>−log P = <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip


def copied(record: Copied, *, place: str, temperature: float) -> go.Figure:
    """A teacher and its student at one hidden place: how probable each finds the pieces that both together find likeliest.

    A student does not only learn which piece is right. It copies how probable the others are, for those say what the teacher
    knows: that *cat* would have been better than *milk*. At a temperature of 2 (softmax of the scores ÷ 2) both are flatter, so
    that the small ones count; there the student learns.

    You may conclude how near this student comes to its teacher at this place. You may not conclude that both are right, nor that
    the student came to it in the same way: it has fewer layers.
    """
    at, number = _places(record)[place], record.temperatures.index(temperature)
    said = record.corruption.original.texts[at]
    names = [theme.label(text) + (" ✓" if text == said else "") for text in record.texts[at]]
    shares = record.shares[number, :, at]  # [who, rank]
    figure = go.Figure([_one_of_two(who, shares[who], names, record.names[who]) for who in (0, 1)])
    notes = (
        f"KL(teacher ‖ student) = {record.gap[number, at]:.3f} at temperature {temperature:g}; "
        f"the likeliest piece is the same at {record.agree:.0%} of the hidden places",
        f"both read: {_around(record, at)}",
        theme.unseen_note(record.corruption.original),
    )
    above = theme.space_above(*notes) + 14
    figure.update_layout(
        title=theme.title(f"What the student copies at place {at}", *notes),
        xaxis={"title": {"text": "probability"}, "range": [0, min(1.25, 1.25 * float(shares.max()))], "tickformat": ".0%", "nticks": 6},
        yaxis={
            "tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names, "automargin": True,
            "tickfont": {"size": 18}, "range": [len(names) - 0.4, -0.6],
        },
        barmode="group", bargap=0.3, height=above + 60 * len(names) + 130, margin={"l": 10, "r": 10, "t": above, "b": 130},
    )  # fmt: skip
    return figure


def _one_of_two(who: int, shares: np.ndarray, names: list[str], model: str) -> go.Bar:
    """The bars of the teacher (0) or of the student (1, striped)."""
    return go.Bar(
        orientation="h", x=shares, y=np.arange(len(names)), name=f"{'/ student' if who else 'teacher'}: {theme.printable(model)}",
        text=[f"{share:.1%}" for share in shares], textposition="outside", cliponaxis=False, meta=who,
        marker={"pattern": {"shape": "/" if who else ""}}, customdata=names,
        hovertemplate="%{customdata}: <b>%{text}</b><extra></extra>",
    )  # fmt: skip


def _places(record: Guess | Copied) -> dict[str, int]:
    """The scored places, as they stand on the control."""
    texts = record.corruption.original.texts
    return {f"{theme.plain(texts[n])} (place {n})": int(n) for n in np.flatnonzero(record.corruption.scored)}


def _around(record: Guess | Copied, at: int) -> str:
    """A few pieces on both sides of a place."""
    texts = record.corruption.source.texts
    low, high = max(0, at - 5), min(len(texts), at + 5)
    inside = " ".join(theme.label(text) for text in texts[low:high])
    return f"{'… ' if low else ''}{inside}{' …' if high < len(texts) else ''}"


def places(record: Guess) -> Mapping[str, Control]:
    """Which hidden place."""
    return _which(record)


def _which(record: Guess | Copied) -> dict[str, Control]:
    return {"place": Choice("Hidden place", tuple(_places(record)))}


def places_and_temperatures(record: Copied) -> Mapping[str, Control]:
    """Which hidden place, and how flat both are made."""
    return {**_which(record), "temperature": Choice("Temperature", record.temperatures)}


def is_copied(record: object) -> str:
    """Empty where a teacher and a student guessed at some place at least."""
    if not isinstance(record, Copied):
        made = "explorer.guessing.copied(teacher, student, corruption)"
        return f"it draws what {made} makes; this is a {type(record).__name__}."
    return "" if record.corruption.scored.any() else "nothing is hidden in this text, so there is nothing to guess."


def is_guess(record: object) -> str:
    """Empty where a model guessed at some place at least."""
    if not isinstance(record, Guess):
        return f"it draws what ex.guess(model, corruption) makes; this is a {type(record).__name__}."
    return "" if record.corruption.scored.any() else "nothing is hidden in this text, so there is nothing to guess."


VIEWS = by_name(
    View("guess", "What the model expects", guess, places, is_guess),
    View("surprises", "Where the loss falls", surprises, nothing, is_guess),
    View("copied", "What a student copies", copied, places_and_temperatures, is_copied),
)
