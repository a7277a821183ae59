"""Generated text: which tokens could come next, how probable a text is, and what several strategies generate from one prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.records import CUTS, Contest, Distribution, Written
from explorer.views import strips, theme
from explorer.views.strips import Box, Strip
from explorer.views.view import Choice, Control, View, also, by_name, only, only_many

SHOWN, BAR = 6, 30  # how many tokens have a bar, and how many pixels high it is
OFF = "off"
LABEL = 28  # letters of a strategy's name: a heading has more room than an axis
SYMBOLS = ("diamond", "circle", "square", "triangle-up", "x", "cross")


def next_piece(
    record: Distribution,
    *,
    temperature: float,
    top_k: int | str,
    top_p: float | str,
    min_p: float | str,
    typical_p: float | str,
) -> go.Figure:
    """The tokens that could come next, the most probable on top; probabilities are over the whole vocabulary, after dividing the
    logits by the temperature. Solid bars may be sampled; striped ones were cut. The dashed line is the cut, a grey mark the probability at
    temperature 1.

    A low temperature makes the first bar longer, a high one evens the bars out. Top k keeps a fixed number of tokens, top p as many
    as together reach the probability p, min p those whose probability is at least min p times that of the first, typical p those
    whose −log P is nearest to the entropy (even without the first). They apply in this order; then what remains is renormalised.

    You may conclude what can be sampled here. You may not conclude that the cut tokens are wrong, or that the same setting keeps as
    many at the next step: where the model is confident, only one token may be left.
    """
    limits = zip(CUTS, (top_k, top_p, min_p, typical_p), strict=True)
    shares, why = record.cut(temperature, **{name: float(value) for name, value in limits if value != OFF})
    kept, shown = why == 0, min(SHOWN, len(record.texts))
    mass = float(shares[kept].sum())
    drawn = [_bars(record, shares, why, mass, part) for part in (True, False)]
    others = _others(shares, shown) if len(shares) > shown else []
    figure = go.Figure([*drawn, *_cut_line(kept, shown), *others, *_untempered(record, temperature, shown)])
    facts = (
        f"after: … {theme.printable(record.prompt[-60:])}",
        f"the {shown} most probable of {len(shares):,} tokens",
        f"entropy of the model's own distribution: {record.entropy:.2f} nats",
    )
    return figure.update_layout(
        title=theme.title("Which token comes next?", _left(record, shares, kept, shown) + " Marks: at temperature 1." * (temperature != 1)),
        **theme.measured(*facts),
        **theme.lanes([*(theme.label(t) for t in record.texts[:shown]), *["others"][: len(others)]]),
        barmode="overlay", showlegend=not kept.all(), height=BAR * (shown + len(others)),
    )  # fmt: skip


def _left(record: Distribution, shares: np.ndarray, kept: np.ndarray, shown: int) -> str:
    """How probable the first token is, and those that have a bar; or how much the cuts leave."""
    if kept.all():
        first, bars = f"“{theme.label(record.texts[0])}” has {theme.percent(shares[0])}", theme.percent(shares[:shown].sum())
        return f"{first}; the {shown} tokens shown have {bars} together."
    return f"{int(kept.sum()):,} of {len(shares):,} tokens are left; together they have {theme.percent(float(shares[kept].sum()))}."


def _bars(record: Distribution, shares: np.ndarray, why: np.ndarray, mass: float, kept: bool) -> go.Bar:
    """The bars that may be sampled, or those that were cut."""
    places = [n for n in range(min(SHOWN, len(record.texts))) if (why[n] == 0) == kept]
    hovers = [
        f"{theme.label(record.texts[n])}: {theme.percent(shares[n])}<br>"
        + (
            f"sampled with probability {theme.percent(shares[n] / mass)} after the cuts"
            if kept
            else f"cut by {CUTS[why[n] - 1].replace('_', ' ')}"
        )
        for n in places
    ]
    return go.Bar(
        orientation="h", base=0, x=shares[places], y=places, width=0.72, text=[theme.percent(shares[n]) for n in places],
        textposition="outside",
        textfont={"size": 13}, constraintext="none", cliponaxis=False, name="may be sampled" if kept else "/ cut",
        meta=0 if kept else 6, customdata=hovers,
        marker={"pattern": {"shape": "" if kept else "/"}}, hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def _others(shares: np.ndarray, shown: int) -> list[go.Bar]:
    """All tokens that have no bar of their own, in one."""
    rest = float(shares[shown:].sum())
    return [go.Bar(
        orientation="h", base=0, x=[rest], y=[shown], width=0.72, text=[theme.percent(rest)], textposition="outside",
        textfont={"size": 13},
        constraintext="none", cliponaxis=False, name="others", meta=6, showlegend=False,
        hovertemplate=f"{len(shares) - shown:,} other tokens together: {theme.percent(rest)}<extra></extra>",
    )]  # fmt: skip


def _untempered(record: Distribution, temperature: float, shown: int) -> list[go.Scatter]:
    """Marks of what the tokens had at temperature 1, where it is another."""
    if temperature == 1:
        return []
    marker = {"symbol": "line-ns-open", "size": 18, "line": {"width": 3}}
    hover = "%{x:.1%} at temperature 1<extra></extra>"
    shares = record.cut(1.0)[0][:shown]
    return [
        go.Scatter(
            x=shares, y=[*range(shown)], mode="markers", marker=marker, meta=6, name="at temperature 1", hovertemplate=hover
        )
    ]


def _cut_line(kept: np.ndarray, shown: int) -> list[go.Scatter]:
    """The line between what is kept and what is cut; none where the cut is no line, cuts nothing or lies further down."""
    count = int(kept.sum())
    if not (0 < count < min(len(kept), shown) and kept[:count].all()):
        return []
    ends, line = [0, 1], {"dash": "dash", "width": 3}
    return [go.Scatter(x=ends, y=[count - 0.5] * 2, mode="lines", line=line, name="the cut", meta=1, hoverinfo="skip")]


def cuts(record: Distribution) -> Mapping[str, Control]:
    """Temperature and every cut."""
    shares = (OFF, 0.99, 0.95, 0.9, 0.8, 0.7, 0.5, 0.3, 0.1)
    return {
        "temperature": Choice("Temperature", (0.1, 0.3, 0.5, 0.7, 1.0, 1.3, 1.6, 2.0, 3.0), 1.0, ordered=True),
        "top_k": Choice("Top k", (OFF, 100, 50, 20, 10, 5, 3, 2, 1), OFF, ordered=True),
        "top_p": Choice("Top p", shares, OFF, ordered=True),
        "min_p": Choice("Min p", (OFF, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5), OFF, ordered=True),
        "typical_p": Choice("Typical p", shares, OFF, ordered=True),
    }


def written(records: Sequence[Written]) -> go.Figure:
    """One prompt, and what each strategy generates after it, token by token. A token without colour was probable when it was
    generated; the stronger the colour, the less probable it was. Point at a token for P(token | all before it). A thick frame: here
    this text first differs from the first one. The heading has the sum of the logarithms: the larger (nearer to 0), the more probable
    the whole text.

    You may conclude which text is more probable to the model. You may not conclude that this one is better to read: the most probable texts
    are often dull or repeat themselves. Sums of texts of different lengths are not comparable either; the mean per token is fairer, and
    still does not judge the text.
    """
    rows = [line for record in records for line in _lines(record, record.parts_from(records[0]))]
    lowest = min(float(record.logp.min()) if len(record.logp) else 0.0 for record in records)
    best = max(records, key=lambda record: record.total)
    facts = (f"after: … {theme.printable(records[0].prompt[-80:])}", f"least probable token: log P = {lowest:.1f}")
    first = f"No text is more probable than that of “{theme.printable(best.label)}” (log P = {best.total:.2f})."
    notes = (first if len(records) > 1 else "", _cut_beside_ended(records))
    title = f"What {theme.printable(records[0].model)} generates"
    return strips.drawn(rows, title, notes).update_layout(**theme.measured(*facts))


def _cut_beside_ended(records: Sequence[Written]) -> str:
    """Why the sums do not compare, where some texts have ended and others were cut; empty where all did the same."""
    cut = sum(not record.ended for record in records)
    if cut in (0, len(records)):
        return ""
    return f"{cut} of {len(records)} texts were cut before they ended, so their sums lack what would follow."


def _lines(record: Written, parts: int | None) -> list[Strip]:
    mean = record.total / max(1, len(record.logp))
    more = f"log P {record.total:.2f}, mean {mean:.2f}".replace("-", "−")
    boxes = [
        Box(text, min(1.0, float(-logp) / 8), f"P = {theme.percent(np.exp(logp))}, log P = {logp:.3f}", framed=n == parts)
        for n, (text, logp) in enumerate(zip(record.texts, record.logp, strict=True))
    ]
    return strips.wrapped(theme.printable(record.label[:LABEL]), boxes, more=more)


def chain(record: Written) -> go.Figure:
    """P(y) by the chain rule: each bar is log P of one token given all tokens before it. Added up from the
    left they give the line, which ends at log P(y): the logarithm turns the product of probabilities into a sum.

    You may conclude which tokens make this text improbable: those with long bars. You may not conclude that a probable text is a true
    one, and you may not compare sums of texts of different lengths: every token adds something negative.
    """
    texts, total = [theme.label(text) for text in record.texts], np.cumsum(record.logp)
    places = np.arange(len(texts))
    bars = go.Bar(
        x=places, y=record.logp, name="log P of each token", meta=0, customdata=np.exp(record.logp),
        hovertemplate="%{x}: log P = <b>%{y:.3f}</b>, P = %{customdata:.3g}<extra></extra>",
    )  # fmt: skip
    line = go.Scatter(
        x=places, y=total, mode="lines+markers", name="sum so far", meta=1, line={"width": 3},
        hovertemplate="sum so far <b>%{y:.3f}</b><extra></extra>",
    )  # fmt: skip
    log10, whole = len(texts) * np.log10(max(2, record.size)), float(total[-1])
    dear = int(record.logp.argmin())
    costs = f"{record.logp[dear]:.2f}".replace("-", "−")
    note = f"The whole text has a probability of {np.exp(whole):.3g}; “{texts[dear]}” costs most (log P = {costs})."
    facts = (
        f"{theme.label(record.label)}: log P(y) = {whole:.2f}",
        f"texts of {len(texts)} tokens from {record.size:,}: |V|^L = {record.size:,}^{len(texts)} ≈ 10^{log10:.0f}",
    )
    return go.Figure([bars, line]).update_layout(
        title=theme.title("P(y) token by token", note), **theme.measured(*facts),
        xaxis={
            "tickmode": "array", "tickvals": places, "ticktext": texts, "tickangle": -60,
            "showgrid": False, "range": [-0.6, len(texts) - 0.4],
        },
        yaxis={"title": "log P (nats)", "range": [1.06 * float(total.min()) - 1e-3, 0]},
        height=270,
    )  # fmt: skip


def contest(record: Contest) -> go.Figure:
    """Each column is one prompt; the marks are log P of its continuations: the real one of the story, greedy's, and those of beam
    search. Higher is more probable to the model. Columns are ordered by the value of greedy.

    A mark above greedy's shows where greedy search fails: at some step the most probable token led away from the more probable text.
    Where the mark of beam search is *below* greedy's, the beam has pruned greedy's text on the way.

    You may conclude which strategy finds more probable texts for these prompts. You may not conclude that the more probable text is
    better: the real continuations are often the least probable of all.
    """
    greedy = record.totals[record.labels.index("greedy")]
    order = np.argsort(-greedy, kind="stable")
    hovers = [
        [f"{theme.label(p)} … {theme.printable(t[k][:60])}" for p, t in zip(record.prompts, record.texts, strict=True)]
        for k in range(len(record.labels))
    ]
    marks = [
        go.Scatter(
            x=np.arange(len(order)), y=record.totals[k][order], mode="markers", name=label, meta=k,
            marker={"size": 10, "symbol": SYMBOLS[k % len(SYMBOLS)]}, hovertext=[hovers[k][n] for n in order],
            hovertemplate=f"{label}: <b>%{{y:.2f}}</b><br>%{{hovertext}}<extra></extra>",
        )
        for k, label in enumerate(record.labels)
    ]  # fmt: skip
    better = [_against(label, record.totals[k] - greedy) for k, label in enumerate(record.labels) if label != "greedy"]
    notes = (f"{len(order)} prompts, {theme.printable(record.model)}", *better)
    return go.Figure(marks).update_layout(
        title=theme.title("Whose text is the most probable?", *notes),
        xaxis={"title": "prompt, ordered by greedy", "showgrid": False},
        yaxis={"title": "log P(y)"},
        height=310,
    )  # fmt: skip


def _against(label: str, gain: np.ndarray) -> str:
    """How often a strategy finds a more, and a less, probable text than greedy."""
    return f"{label}: above greedy for {(gain > 1e-4).sum()}, below it for {(gain < -1e-4).sum()}"


are_written = only_many(Written, "a tuple of texts, which ex.decoding.written(model, text, …) makes")


has_pieces = also(
    only(Written, "ex.decoding.written(model, text, …) makes, one of its texts"),
    lambda record: len(record.logp),
    "nothing was written, so there is nothing to multiply.",
)


is_distribution = only(Distribution, "ex.decoding.distribution(model, text) makes")
VIEWS = by_name(
    View("next-piece", "Which token comes next", next_piece, is_distribution, cuts),
    View("written", "What strategies generate", written, are_written),
    View("chain", "P(y) token by token", chain, has_pieces),
    View("contest", "Whose text is the most probable", contest, only(Contest, "ex.decoding.contest(model, texts) makes")),
)
