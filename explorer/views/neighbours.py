"""The nearest neighbours of a word, or of a sum of words."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from explorer.records import Neighbours
from explorer.views import theme
from explorer.views.view import View, by_name, only


def near(record: Neighbours) -> go.Figure:
    """The nearest neighbours of a word vector by cosine similarity: 1 is the same direction, 0 a right angle.

    Of an analogy (a is to b as c is to …) the query is b − a + c, of three vectors of length 1; by convention the three words
    themselves are left out, since one of them is nearest most of the time.

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


VIEWS = by_name(View("neighbours", "Nearest neighbours", near, only(Neighbours, "ex.analysis.neighbours(model, word) makes")))
