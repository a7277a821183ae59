"""Two texts in one row, as BERT reads them: special tokens, segments and positions, and the label of the pair."""

from __future__ import annotations

import plotly.graph_objects as go

from explorer.records import Corruption
from explorer.views import theme
from explorer.views.strips import FIRST, PLAIN, SECOND, Box, drawn, with_segments, wrapped
from explorer.views.tiles import ANSWERS
from explorer.views.view import View, by_name, other


def two_texts(record: Corruption) -> go.Figure:
    """Below each token is its segment: 0 for [CLS], the first text and its [SEP], 1 for the second
    text and the last [SEP]. The model adds one of two learned segment vectors to each token, so that it can distinguish the texts; the
    label is predicted from [CLS].

    You may conclude what the model reads and what it must predict for this pair. You may not conclude that the label asks for
    meaning: where the other text has another topic, words alone give it away.
    """
    segments = record.source.segments
    boxes = [_token(record, n) for n in range(len(segments))]
    rows = with_segments(wrapped("tokens, and the segment of each", boxes), segments)
    name, label = next((name, record.labels[name][0]) for name in ANSWERS if name in record.labels)
    notes = (f"label {label}: {ANSWERS[name][label]}", f"{segments.count(0)} tokens in segment 0, {segments.count(1)} in segment 1",
             theme.unseen_note(record.source))  # fmt: skip
    return drawn(rows, "Two texts, one row", notes)


def _token(record: Corruption, n: int) -> Box:
    new = record.source.unseen is not None and record.source.unseen[n]
    text, segment = record.source.texts[n] + theme.UNSEEN * new, record.source.segments[n]
    tone = PLAIN if record.source.special[n] else SECOND if segment else FIRST
    description = "special token" if record.source.special[n] else f"text {'B' if segment else 'A'}"
    return Box(text, tone, f"<b>{theme.label(text)}</b><br>position {n}, segment {segment}, {description}")


def is_pair(record: object) -> str:
    """Empty for a text in two segments."""
    if isinstance(record, Corruption) and {"nsp", "sop"} & set(record.labels) and 1 in record.source.segments:
        return ""
    return other("what ex.corrupt(text, 'nsp', …) makes of two sentences", record)


VIEWS = by_name(View("two-texts", "Two texts, one row", two_texts, is_pair))
