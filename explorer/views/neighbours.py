"""The nearest neighbours of a word, of a sum of words, and of one use of a word in its sentence."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.records import Neighbours, SimilarUses
from explorer.views import theme
from explorer.views.view import View, by_name, only


def near(record: Neighbours) -> go.Figure:
    """The nearest neighbours of a word vector by cosine similarity: 1 is the same direction, 0 a right angle.

    For an analogy (a is to b as c is to …) the vector that is searched for is b − a + c, computed from vectors of length 1; by
    convention the three words themselves are left out, since one of them is nearest most of the time.

    You may conclude which words occur in similar contexts in the training texts. You may not conclude that near words mean the same:
    *hot* and *cold* occur in similar contexts too.
    """
    words = [theme.label(word) for word in record.words]
    figure = go.Figure(
        go.Bar(
            x=record.likeness, y=np.arange(len(words)), orientation="h", meta=0, customdata=words,
            hovertemplate="%{customdata}: cosine <b>%{x:.3f}</b><extra></extra>",
        )
    )  # fmt: skip
    given = [theme.label(word) for word in record.given]
    query = f"{given[0]} : {given[1]} = {given[2]} : ?" if len(given) == 3 else given[0]
    notes = (f"{theme.printable(record.model)}, the nearest {len(words)}",)
    return figure.update_layout(
        title=theme.title(f"Near “{query}”", *notes), xaxis={"title": "cosine"},
        yaxis=theme.named_axis(words, down=True), height=60 + 30 * max(3, len(words)),
    )  # fmt: skip


def similar_uses(record: SimilarUses) -> go.Figure:
    """The uses of words that are nearest to one word in its sentence: each bar is a word in a text, in brackets, and the cosine of its
    state with that of the word above.

    You may conclude which occurrences this layer arranges near each other. You may not conclude that they mean the same: a state also
    holds the position and the neighbouring words, and in most layers all cosines are large.
    """
    same = sum(word.lower() == record.word.lower() for word in record.words)
    texts = [theme.printable(use) for use in record.uses]
    figure = go.Figure(
        go.Bar(
            x=record.likeness, y=np.arange(len(texts)), orientation="h", meta=0, customdata=texts, text=texts, textposition="inside",
            insidetextanchor="start", textfont={"size": 15}, hovertemplate="%{customdata}: cosine <b>%{x:.3f}</b><extra></extra>",
        )
    )  # fmt: skip
    note = f"{same} of the nearest {len(texts)} are “{theme.label(record.word)}”."
    facts = (f"{theme.printable(record.model)}, after {record.layer} layers", f"{record.searched:,} words searched")
    return figure.update_layout(
        title=theme.title(f"Uses near {theme.printable(record.query)}", note), **theme.measured(*facts),
        xaxis={"title": "cosine", "range": [0, 1.02]},
        yaxis=theme.named_axis([""] * len(texts), down=True), height=60 + 34 * max(3, len(texts)),
    )  # fmt: skip


VIEWS = by_name(
    View("neighbours", "Nearest neighbours", near, only(Neighbours, "ex.analysis.neighbours(model, word) makes")),
    View(
        "similar-uses",
        "Nearest uses of words",
        similar_uses,
        only(SimilarUses, "ex.analysis.similar_uses(model, text, word, texts) makes"),
    ),
)
