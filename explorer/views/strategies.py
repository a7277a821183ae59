"""One text under many strategies side by side, and which token may see which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.records import Corruption
from explorer.views import theme
from explorer.views.tiles import KINDS, LEFT_OUT, is_corruption, underline
from explorer.views.view import View, by_name, other

Box = tuple[float, float, int, str]  # left, width, row, what to say


def strategies(record: tuple[Corruption, ...]) -> go.Figure:
    """Each row is a strategy, each column a token of the *original* text; rows are grouped by what the
    model does with the damaged text.

    A box says what was done to that token: the legend explains its colour and its mark. No box: it is unchanged. A narrow box between
    two columns is an inserted token. The bar below marks the tokens in the loss: for masked models the chosen tokens only, for
    ELECTRA and for models that generate the whole text all of them. Sentence pairs (nsp: next sentence prediction, sop: sentence
    order prediction) have one label for the whole text, so no bar.

    You may conclude how the strategies differ in what they hide and in how many tokens must be predicted. You may not conclude which
    one trains the better model: more predicted tokens are more signal in a step, not a better training objective.
    """
    kinds: dict[str, list[Box]] = {kind: [] for kind in KINDS}
    scored: list[Box] = []
    rows, heads = placed(record)
    for row, corruption in rows.items():
        for kind, box in boxes(corruption, row):
            kinds[kind].append(box)
        scored += [(place - 0.46, 0.92, row, "") for place in np.flatnonzero(answered(corruption)).tolist()]
    bars = [_bar(kind, of_kind) for kind, of_kind in kinds.items() if of_kind]
    line = underline([a[0] for a in scored], [a[1] for a in scored], [a[2] + 0.4 for a in scored])
    tokens = record[0].original
    counts = [count for corruption in record if (count := int(answered(corruption).sum()))]
    asked = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else f"{min(counts)}"
    notes = (f"The strategies predict {asked} of the {len(tokens)} tokens.", theme.unseen_note(tokens))
    last, named = max(rows), {"x": -0.5, "showarrow": False, "xanchor": "left", "yanchor": "middle"}
    figure = go.Figure([_whole_rows(rows, len(tokens)), *bars, line])
    return figure.update_layout(
        annotations=[{"y": row, "text": f"<b>{group}</b>", **named} for row, group in heads.items()],
        title=theme.title("One text under every strategy", *notes), **theme.measured(f"{len(record)} strategies, seed {record[0].seed}"),
        xaxis={**theme.token_axis(tokens), "side": "top", "tickangle": -60},
        yaxis=theme.named_axis([rows[row].strategy if row in rows else "" for row in range(last + 1)], down=True, range=[last + 0.6, -0.6]),
        barmode="overlay",
        height=28 * (last + 1),
    )  # fmt: skip


GROUPS = {
    "encoder": "encoder: predicts what was hidden",
    "decoder": "decoder: predicts the next token",
    "encoder-decoder": "encoder–decoder: writes a text",
    "two texts": "two segments: one label for both",
}


def group_of(record: Corruption) -> str:
    """Which kind of model a strategy is for, by what the model is to say."""
    if not seen_by(record).all():
        return "decoder"
    if record.target is not None:
        return "encoder-decoder"
    return "encoder" if record.scored.any() or not record.labels else "two texts"


def placed(record: Sequence[Corruption]) -> tuple[dict[int, Corruption], dict[int, str]]:
    """The row of each strategy, group by group, and the row of each group's name."""
    rows: dict[int, Corruption] = {}
    heads: dict[int, str] = {}
    last = -1
    for group, says in GROUPS.items():
        members = [corruption for corruption in record if group_of(corruption) == group]
        if members:
            heads[last + 1] = says
            rows |= {last + 2 + n: corruption for n, corruption in enumerate(members)}
            last += 1 + len(members)
    return rows, heads


def _whole_rows(rows: dict[int, Corruption], wide: int) -> go.Bar:
    """A bar without colour from edge to edge: so that all of a row can be clicked."""
    count = len(rows)
    return go.Bar(
        orientation="h", base=[-0.5] * count, x=[wide] * count, y=list(rows), width=0.95, showlegend=False, name="", opacity=0,
        customdata=[corruption.strategy for corruption in rows.values()],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def boxes(record: Corruption, row: int) -> list[tuple[str, Box]]:
    """What was done to each original token, and what was inserted between them."""
    changed, last = [], -1
    for text, places, done in zip(theme.labels(record.source), record.origin, record.action, strict=True):
        says = f"{record.strategy}: {done}<br>the model reads {text}"
        if done == "inserted":
            changed.append((done, (last + 0.36, 0.28, row, says)))
        elif done != "kept":
            changed.append((done, (places[0] - 0.46, len(places) - 0.08, row, says)))
        last = places[-1] if places else last
    gone = [(LEFT_OUT, (place - 0.46, 0.92, row, f"{record.strategy}: left out")) for place in record.deleted]
    return [*changed, *gone]


def answered(record: Corruption) -> np.ndarray:
    """The original tokens that the model must predict."""
    mask = np.zeros(len(record.original), bool)
    if record.target is None:
        places = [place for origin, scored in zip(record.origin, record.scored, strict=True) if scored for place in origin]
    elif np.array_equal(record.target.ids, record.original.ids):
        places = list(range(len(mask)))
    else:
        places = [place for start, count in record.spans for place in range(start, start + count)]
    mask[places] = True
    return mask


def _bar(kind: str, of_kind: list[Box]) -> go.Bar:
    colour, mark = KINDS[kind]
    return go.Bar(
        orientation="h", base=[box[0] for box in of_kind], x=[box[1] for box in of_kind], y=[box[2] for box in of_kind], width=0.66,
        text=[mark] * len(of_kind), textposition="inside", insidetextanchor="middle", textangle=0, constraintext="none",
        textfont={"size": 12}, name=f"{mark} {kind}", meta=colour, marker={"line": {"width": 0}},
        customdata=[box[3] for box in of_kind], hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def visible(record: Corruption) -> go.Figure:
    """Each row is a query token, each column a token that it may attend to.

    Causal language models hide nothing in the text: the attention mask hides the following tokens. A prefix language model sees the
    prefix in both directions and is causal after it. All others see their whole input in both directions; the text itself is
    corrupted.

    You may conclude that an attention mask and a masked token are two ways to hide an answer. You may not conclude that a model
    trained in one way works in the other.
    """
    allowed = seen_by(record)
    tokens = record.source
    heat = go.Heatmap(
        z=np.where(allowed, 1.0, np.nan), coloraxis="coloraxis", hoverongaps=False, **theme.gaps(allowed), name="sees",
        hovertemplate="<b>%{y}</b> sees <b>%{x}</b><extra></extra>",
    )  # fmt: skip
    how = "tokens of the prefix see each other" if "prefix" in record.labels else "each token sees those before it"
    notes = ("every token sees every token" if allowed.all() else how, theme.unseen_note(tokens))
    return go.Figure(heat).update_layout(
        title=theme.title(f"Who sees whom: {record.strategy}", *notes),
        **theme.token_axes(tokens, tokens),
        coloraxis={"cmin": 0, "cmax": 1.6, "showscale": False},
        height=min(900, 24 * max(len(tokens), 8)),
    )  # fmt: skip


def seen_by(record: Corruption) -> np.ndarray:
    """Which token may see which: [query, key]. A strategy whose label "prefix" is n lets the first n tokens see each other."""
    count = len(record.source)
    if record.strategy != "causal" and "prefix" not in record.labels:
        return np.ones((count, count), bool)
    seen = np.tril(np.ones((count, count), bool))
    cut = record.labels.get("prefix", (0,))[0]
    seen[:cut, :cut] = True
    return seen


def is_many(record: object) -> str:
    """Empty for several corruptions of one text."""
    if not isinstance(record, tuple) or not record or not all(isinstance(corruption, Corruption) for corruption in record):
        return other("a tuple of what ex.corrupt makes of one text", record)
    same = all(np.array_equal(corruption.original.ids, record[0].original.ids) for corruption in record)
    return "" if same else "these are corruptions of different texts, so their columns would not be the same tokens."


VIEWS = by_name(
    View("strategies", "One text under every strategy", strategies, is_many),
    View("visible", "Who sees whom", visible, is_corruption),
)
