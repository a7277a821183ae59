"""Maps of when something was learned: the tokens of a text over the steps of a training, and over the layers of a model."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.records import Lens, TokensOverSteps
from explorer.views import theme
from explorer.views.view import View, by_name, only

NEW = "●"  # marks the first snapshot at which a token was the most probable one


def over_steps(record: TokensOverSteps) -> go.Figure:
    """One text over a training run: a column for each token, a row for each snapshot, the first one on top. The colour is the probability
    of the right token; ● marks the first snapshot at which it was the most probable one. Point at a cell for what was most probable
    instead.

    Each token is predicted as in training: an encoder reads [MASK] in its place, a decoder what comes before it.

    You may conclude which tokens of this text were learned early and which late, as far as the snapshots show it. You may not conclude
    that the words themselves were learned: a token may be probable from its neighbours alone, and the next text may say otherwise.
    """
    names = theme.labels(record.tokens)
    columns = [names[n] for n in record.places]
    marks = np.where(np.arange(len(record.steps))[:, None] == record.first[None, :], NEW, "")
    heat = go.Heatmap(
        z=record.chances.astype(np.float32), coloraxis="coloraxis", xgap=1, ygap=1, name="P(right token)", text=marks.tolist(),
        texttemplate="%{text}", textfont={"size": 16}, customdata=[[theme.label(text) for text in row] for row in record.best],
        hovertext=[[theme.percent(share) for share in row] for row in record.chances],
        hovertemplate="step %{y}, <b>%{x}</b>: P = <b>%{hovertext}</b><br>most probable: %{customdata}<extra></extra>",
    )  # fmt: skip
    never = int((record.first < 0).sum())
    last = int(record.right[-1].sum())
    notes = (
        f"{theme.printable(record.model)}: {last} of {len(columns)} tokens are the most probable ones at the last snapshot",
        f"never at one of these snapshots: {never}" if never else "",
        theme.unseen_note(record.tokens),
    )
    return go.Figure(heat).update_layout(
        title=theme.title("One text over a training run", *notes),
        xaxis={**theme.named_axis(columns), "side": "top", "tickangle": -60},
        yaxis=theme.named_axis([f"{step:,}" for step in record.steps], down=True, title="step"),
        coloraxis={"cmin": 0, "cmax": 1}, height=70 + 34 * max(3, len(record.steps)),
    )  # fmt: skip


def settling(record: Lens) -> go.Figure:
    """From where on a prediction stays the same: for each position, how far up the layers one must go until the logit lens agrees with the
    last layer, and keeps agreeing at every later place. The prediction is written above each bar.

    Where the lens reads inside a layer, *attention* is the residual stream after attention and before the feed-forward layer.

    You may conclude at which place the model's own output layer reads the final prediction for good. You may not conclude that nothing
    happens above it (probabilities keep changing), nor that it is not represented below: the output layer may simply not read it there.
    """
    names, settled = record.named, record.settled
    texts = [theme.label(text) for text in record.texts[-1]]
    bars = go.Bar(
        x=list(range(len(settled))), y=settled, text=texts, textposition="outside", name="settled at", meta=0, cliponaxis=False,
        customdata=[names[n] for n in settled],
        hovertemplate="<b>%{x}</b>: “%{text}” from <b>%{customdata}</b> on<extra></extra>",
    )  # fmt: skip
    notes = (
        f"{theme.printable(record.model)}: half of the predictions are settled after “{names[int(np.median(settled))]}”",
        theme.unseen_note(record.tokens),
    )
    return go.Figure(bars).update_layout(
        title=theme.title("Where each prediction settles", *notes),
        xaxis={**theme.token_axis(record.tokens), "tickangle": -60},
        yaxis={**theme.named_axis(list(names)), "range": [-0.4, len(names) - 0.2], "showgrid": True},
        height=140 + 24 * len(names),
    )  # fmt: skip


is_over_steps = only(TokensOverSteps, "ex.analysis.over_steps(models, text) makes")
is_settling = only(Lens, "ex.lens(model, text) makes")
VIEWS = by_name(
    View("over-steps", "One text over a training run", over_steps, is_over_steps),
    View("settling", "Where each prediction settles", settling, is_settling),
)
