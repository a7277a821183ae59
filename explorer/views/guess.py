"""What a masked language model predicts at the hidden positions, and at all others."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from explorer.records import Copied, Guess, Tokens
from explorer.views import theme
from explorer.views.titles import titled
from explorer.views.view import Choice, Control, View, also, by_name, only

SHORTEST = 0.01  # a bar that can still be seen


def guess(record: Guess, *, place: str) -> go.Figure:
    """The longer a bar, the more probable the model finds that token at the hidden position; the whole vocabulary sums to 100%.
    ✓ marks the hidden token; where it is not among the most probable, it is added below them.

    You may conclude what this model predicts at this position of this text. You may not conclude that another token would be wrong:
    many fit, and the model was trained on the stories of a small world only.
    """
    at = places_of(record)[place]
    truth = theme.label(record.corruption.original.texts[at])
    names = [theme.label(text) for text in record.texts[at]]
    shares = [float(share) for share in record.shares[at]]
    right = [text == record.corruption.original.texts[at] for text in record.texts[at]]
    if not any(right):
        names, shares, right = [*names, truth], [*shares, float(record.truth[at])], [*right, True]
    figure = go.Figure(_bars(names, shares))
    best, most = theme.label(record.texts[at][0]), theme.percent(record.shares[at][0])
    first = f"{theme.printable(titled(record.model))} finds “{best}” most probable ({most})"
    original = "the hidden word" if right[0] else f"the hidden word “{truth}” (✓) has {theme.percent(record.truth[at])}"
    notes = (f"{first}{', ' if right[0] else '; '}{original}.", theme.unseen_note(record.corruption.original))
    facts = (
        f"P({truth} | x̃) = {theme.percent(record.truth[at])}, so −log P = {record.surprise[at]:.2f}",
        f"it reads: {_around(record, at)}",
    )
    return figure.update_layout(
        title=theme.title(f"Which token is at position {at}?", *notes), **theme.measured(*facts),
        **theme.lanes([f"{name} ✓" if ok else name for name, ok in zip(names, right, strict=True)], tickfont={"size": 18}),
        height=44 * len(names),
    )  # fmt: skip


def _bars(names: list[str], shares: list[float]) -> go.Bar:
    return go.Bar(
        orientation="h", base=0, x=[max(share, SHORTEST * max(shares)) for share in shares], y=[*range(len(names))], width=0.7,
        text=[theme.percent(share) for share in shares], textposition="outside", cliponaxis=False, textfont={"size": 15},
        customdata=names, name="P", hovertemplate="%{customdata}: <b>%{text}</b><extra></extra>",
    )  # fmt: skip


def surprises(record: Guess) -> go.Figure:
    """The loss of the original token at each position: −log P(w | x̃). Only the solid bars count: their sum is L, and their mean is what
    training minimises. The grey striped ones are for tokens that the model can see in its input; one that is higher than the picture
    has an arrow and its value.

    At those positions there is no loss, so the model is never trained to predict a token that it sees, except for the few that are
    kept or replaced in training. That is what these few are for.

    You may conclude where the loss comes from. You may not conclude how probable the sentence is (the grey bars): these tokens
    are part of the model's input.
    """
    scored = record.corruption.scored
    tokens = record.corruption.source
    figure = go.Figure([_columns(record, scored == wanted, wanted) for wanted in (False, True)])
    top = 1.25 * max(1.0, float(record.surprise[scored].max(initial=0)))  # by the bars that count
    cut = [{"x": at, "y": top, "text": f"{record.surprise[at]:.0f} →", "showarrow": False, "yanchor": "top", "textangle": -90,
            "font": {"size": 13}} for at in np.flatnonzero(record.surprise > top).tolist()]  # fmt: skip
    many, dear = int(scored.sum()), int(np.where(scored, record.surprise, -1).argmax())
    dearest = theme.label(record.corruption.original.texts[dear])
    which = f"of the {many} predicted tokens “{dearest}” costs most ({record.surprise[dear]:.2f})"
    note = f"The loss is {record.loss:.2f} nats" + (f"; {which}." if many > 1 else ", all of one predicted token.")
    notes = (note, theme.unseen_note(tokens))
    return figure.update_layout(
        title=theme.title(f"The loss of {theme.printable(record.model)} by token", *notes),
        **theme.measured(f"L = Σ −log P(w | x̃) = {record.loss:.2f}, mean {record.loss / many:.2f} over the predicted tokens"),
        xaxis={**theme.token_axis(tokens), "tickangle": -60},
        yaxis={"title": "−log P (nats)", "range": [0, top]},
        annotations=cut, barmode="overlay", height=200,
    )  # fmt: skip


def _columns(record: Guess, mask: np.ndarray, wanted: bool) -> go.Bar:
    """One bar for each token of one kind, NaN for the other kind."""
    hovers = [
        f"x: {theme.label(text)}, P = {theme.percent(share)}<br>most probable: {theme.label(best[0])}"
        for text, share, best in zip(record.corruption.original.texts, record.truth, record.texts, strict=True)
    ]
    return go.Bar(
        x=np.arange(len(mask)), y=np.where(mask, record.surprise, np.nan), width=0.8, customdata=hovers,
        name="part of the loss" if wanted else "visible, not part of the loss", meta=0 if wanted else 6,
        marker={"pattern": {"shape": "" if wanted else "/"}, "opacity": 1 if wanted else 0.5},
        hovertemplate="%{customdata}<br>−log P = <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip


def copied(record: Copied, *, place: str, temperature: float) -> go.Figure:
    """A teacher and its student at one hidden position: the probabilities that each gives to the tokens that are most probable to
    both together.

    A student does not only learn which token is right. It learns the teacher's whole distribution, because the probabilities of the
    other tokens say what the teacher has learned: that *cat* would have been better than *milk*. At a temperature of 2 (softmax of the
    logits ÷ 2) both distributions are flatter, so that small probabilities count more; the student is trained at this temperature.

    You may conclude how close this student is to its teacher at this position. You may not conclude that both are right, nor that the
    student computes it in the same way: it has fewer layers.
    """
    at, number = places_of(record)[place], record.temperatures.index(temperature)
    truth = record.corruption.original.texts[at]
    names = [theme.label(text) + (" ✓" if text == truth else "") for text in record.texts[at]]
    shares = record.shares[number, :, at]  # [who, rank]
    figure = go.Figure([_one_of_two(who, shares[who], names, record.names[who]) for who in (0, 1)])
    notes = (
        f"KL(teacher ‖ student) = {record.gap[number, at]:.3f} nats at temperature {temperature:g}; "
        f"the most probable token is the same at {record.agree:.0%} of the hidden positions",
        f"both read: {_around(record, at)}",
        theme.unseen_note(record.corruption.original),
    )
    return figure.update_layout(
        title=theme.title(f"Teacher and student at position {at}", *notes),
        xaxis={"title": "probability", "range": [0, min(1.25, 1.25 * float(shares.max()))], "tickformat": ".0%", "nticks": 6},
        yaxis=theme.named_axis(names, down=True, tickfont={"size": 18}),
        barmode="group", bargap=0.3, height=60 * len(names),
    )  # fmt: skip


def _one_of_two(who: int, shares: np.ndarray, names: list[str], model: str) -> go.Bar:
    """The bars of the teacher (0) or of the student (1, striped)."""
    return go.Bar(
        orientation="h", x=shares, y=np.arange(len(names)), name=f"{'/ student' if who else 'teacher'}: {theme.printable(model)}",
        text=[theme.percent(share) for share in shares], textposition="outside", cliponaxis=False, meta=who,
        marker={"pattern": {"shape": "/" if who else ""}}, customdata=names,
        hovertemplate="%{customdata}: <b>%{text}</b><extra></extra>",
    )  # fmt: skip


def places_of(record: Guess | Copied) -> dict[str, int]:
    """The predicted positions, as the control names them."""
    return {place_name(record.corruption.original, int(n)): int(n) for n in np.flatnonzero(record.corruption.scored)}


def place_name(tokens: Tokens, place: int) -> str:
    """A hidden position, as the control names it."""
    return f"{theme.plain(tokens.texts[place])} (position {place})"


def _around(record: Guess | Copied, at: int) -> str:
    """A few tokens on both sides of a position."""
    texts = record.corruption.source.texts
    low, high = max(0, at - 5), min(len(texts), at + 5)
    inside = " ".join(theme.label(text) for text in texts[low:high])
    return f"{'… ' if low else ''}{inside}{' …' if high < len(texts) else ''}"


def places(record: Guess) -> Mapping[str, Control]:
    """Which hidden position."""
    return _which(record)


def _which(record: Guess | Copied) -> dict[str, Control]:
    return {"place": Choice("Hidden position", tuple(places_of(record)))}


def places_and_temperatures(record: Copied) -> Mapping[str, Control]:
    """Which hidden position, and the temperature."""
    return {**_which(record), "temperature": Choice("Temperature", record.temperatures)}


NOTHING_HIDDEN = "nothing is hidden in this text, so there is nothing to predict."


def hides(record: Guess | Copied) -> bool:
    """Whether at least one position is hidden."""
    return bool(record.corruption.scored.any())


is_copied = also(only(Copied, "ex.analysis.teacher_and_student(teacher, student, corruption) makes"), hides, NOTHING_HIDDEN)
is_guess = also(only(Guess, "ex.guess(model, corruption) makes"), hides, NOTHING_HIDDEN)


VIEWS = by_name(
    View("guess", "What the model predicts", guess, is_guess, places),
    View("surprises", "The loss by token", surprises, is_guess),
    View("copied", "What a student learns from its teacher", copied, is_copied, places_and_temperatures),
)
