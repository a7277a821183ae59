"""BLEU and ROUGE, with the counts behind them."""

from __future__ import annotations

import plotly.graph_objects as go

from explorer.records import TextScores
from explorer.views import theme
from explorer.views.view import View, by_name, only

NAMES = ("ROUGE-1", "ROUGE-2", "ROUGE-L")


def text_scores(record: TextScores) -> go.Figure:
    """BLEU is the geometric mean of four precisions (of the generated 1- to 4-grams, how many are in the reference), times a penalty
    for texts that are too short. ROUGE-1 and ROUGE-2 are F1 of words and of pairs, ROUGE-L of the longest common subsequence. Point at
    a bar for the counts. A striped bar matched nothing, and is smoothed.

    You may conclude how many words and phrases two texts share. You may not conclude which text is better: a right paraphrase scores
    low, and one *not* more or less hardly changes a score. BLEU is meant for many sentences at once.
    """
    names = [f"{n}-gram precision" for n in range(1, 5)] + ["brevity penalty", "BLEU", *(f"{name} F1" for name in NAMES)]
    values = [*record.precisions, record.brevity, record.bleu, *record.rouge[:, 2]]
    mine, right = record.lengths
    hovers = [f"{a} of {b} match" for a, b in zip(record.matched, record.total, strict=True)]
    hovers += [f"{mine} tokens, the reference has {right}", "brevity penalty × geometric mean of the precisions"]
    hovers += [f"precision {p:.3f}, recall {r:.3f}" for p, r, _ in record.rouge]
    striped = [*(record.matched == 0), *[False] * (len(names) - len(record.matched))]
    groups = [0] * 5 + [1] + [2] * 3
    figure = go.Figure()
    for group, name in ((0, "parts of BLEU"), (1, "BLEU"), (2, "ROUGE")):
        at = [n for n, of_bar in enumerate(groups) if of_bar == group]
        figure.add_bar(
            x=[values[n] for n in at], y=at, orientation="h", name=name, meta=group, customdata=[hovers[n] for n in at],
            text=[f"{values[n]:.3f}" for n in at], textposition="outside", cliponaxis=False,
            marker={"pattern": {"shape": ["/" if striped[n] else "" for n in at]}},
            hovertemplate="<b>%{x:.4f}</b><br>%{customdata}<extra></extra>",
        )  # fmt: skip
    count = len(record.texts)
    notes = (
        f"{count} text{'s' if count > 1 else ''}: {mine} tokens, references {right}",
        "BLEU as sacrebleu, ROUGE as rouge-score",
    )
    return figure.update_layout(
        title=theme.title("Agreement with the reference", *notes), height=34 * len(names),
        xaxis={"range": [0, 1.15], "title": "0: nothing shared, 1: equal"},
        yaxis=theme.named_axis(names, down=True),
    )  # fmt: skip


VIEWS = by_name(
    View("text-scores", "BLEU and ROUGE", text_scores, only(TextScores, "ex.decoding.score_texts(texts, references) measures"))
)
