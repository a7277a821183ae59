"""Pictures of cutting: one word step by step, one text by several tokenizers, and a long text in segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.records import Join, Match, SideBySide, Tokens
from explorer.views import theme
from explorer.views.strips import FIRST, NEW, PLAIN, SECOND, Box, Strip, drawn, letters, wrapped
from explorer.views.view import Control, Range, View, by_name

MOST = 14  # rows of tries that stay on the screen


def matches(steps: Sequence[Match], *, step: int) -> go.Figure:
    """Longest match, try by try: is the whole rest of the word in the vocabulary? If not, one letter less, until it is.

    Blue is what is being tried, orange what was found and cut off; then it goes on behind it. If not even one letter is
    known, the *whole word* becomes [UNK].

    You may conclude how WordPiece reads a word with this vocabulary. You may not conclude that BPE reads it alike: it
    never looks for the longest piece, it does its merges again in the order in which it learned them.
    """
    shown = steps[:step]
    rows = [Strip(f"try {n}", (_try(match),)) for n, match in enumerate(shown, 1)][-MOST:]
    last = shown[-1]
    found = " | ".join(theme.label(piece) for piece in last.pieces) or "nothing yet"
    notes = (
        f"of {theme.label(last.word)}, found so far: {found}",
        f"still to cut: {theme.label(last.rest) if last.rest else 'nothing'}",
    )
    verdict = "is there" if last.found else "is not there"
    figure = drawn(rows, f"try {step}: {theme.label(last.candidate)} {verdict}", notes)
    return figure.update_layout(xaxis={"range": [0, max(12.0, letters(last.word) + 2.2)]})


def _try(match: Match) -> Box:
    inside = match.candidate.startswith("##") and match.place > 0
    place = float(letters(match.word[: match.place])) - 2 * inside + 2
    said = "found" if match.found else "not in the vocabulary"
    return Box(match.candidate, NEW if match.found else FIRST, f"<b>{theme.label(match.candidate)}</b>: {said}", place)


def joins(steps: Sequence[Join], *, step: int) -> go.Figure:
    """BPE cuts a word by learning it again: from its letters, always the merge that was learned first among those that fit.

    Each row is one more merge; orange is what it made. When no learned merge fits any more, the pieces stand.

    You may conclude in which order this word was joined. You may not conclude that the result is the one with the fewest
    pieces: an early merge may block a better one.
    """
    rows = [Strip(theme.label(f"merge {join.rank + 1}") if n else "letters", _joined(join)) for n, join in enumerate(steps)]
    last = steps[step]
    first, second = (theme.label(part) for part in last.pair)
    what = f"merge {last.rank + 1}: {first} + {second}" if step else "its letters"
    notes = (f"now {len(last.pieces)} piece{'s' * (len(last.pieces) != 1)}",)
    return drawn(rows[: step + 1][-MOST:], f"{theme.label(last.word.replace('▁', ' ').strip())}: {what}", notes)


def _joined(join: Join) -> tuple[Box, ...]:
    made = "".join(join.pair)
    shown = [(piece.replace("▁", "·"), piece == made) for piece in join.pieces]
    return tuple(Box(text, NEW if new else FIRST, f"<b>{theme.label(text)}</b>") for text, new in shown)


def pieces(record: SideBySide) -> go.Figure:
    """The same text under several tokenizers. Each box is a piece; the two blues change from word to word; orange is [UNK].

    A dot · is the space before a word, ## says that a piece goes on inside a word, and ‹…› shows the bytes of half a
    letter. Special pieces, which no text is cut into, have no colour. Point at a box for its number, its word and whether
    it belongs to the first or the second text.

    You may conclude how these vocabularies cut this text. You may not conclude that one is better: they were learned from
    other texts or have other sizes, and what counts is the model that reads them.
    """
    rows = []
    for name, tokens, unknown in zip(record.names, record.tokens, record.unknown, strict=True):
        boxes = [_piece(tokens, n, unknown) for n in range(len(tokens))]
        rows += wrapped(f"{theme.label(name)}: {len(tokens)} pieces", boxes)
    words = len(record.text.split())
    return drawn(rows, "One text, several tokenizers", (f"{words} word{'s' * (words != 1)} between spaces",))


def _piece(tokens: Tokens, n: int, unknown: int) -> Box:
    text, word = tokens.texts[n], tokens.words[n]
    tone = NEW if tokens.ids[n] == unknown else PLAIN if tokens.special[n] else (FIRST, SECOND)[word % 2]
    place = "special piece" if word < 0 else f"word {word}"
    return Box(text, tone, f"<b>{theme.label(text)}</b><br>number {tokens.ids[n]}, {place}, segment {tokens.segments[n]}")


def segments(parts: Sequence[Tokens]) -> go.Figure:
    """A long text in segments. A model that reads at most so many pieces never sees two segments at once.

    Every segment pays for its own special pieces, and the last one is shorter.

    You may conclude how many runs of the model this text costs. You may not conclude that 512 is a fixed length: it is the
    most that BERT can read; shorter texts are read as they are, or filled up only to stand beside longer ones.
    """
    figure = go.Figure()
    special = np.array([sum(part.special) for part in parts])
    text = np.array([len(part) for part in parts]) - special
    for name, values in (("pieces of the text", text), ("special pieces", special)):
        hover = f"segment %{{x}}: <b>%{{y}}</b> {name}<extra></extra>"
        shown = values if name == "pieces of the text" else [f"+{n}" for n in values]
        bars = go.Bar(
            x=np.arange(len(parts)), y=values, name=name, text=shown, textangle=0, hovertemplate=hover, cliponaxis=False
        )
        figure.add_trace(bars)
    notes = (f"{text.sum():,} pieces of text, {special.sum():,} special pieces, {len(parts)} segments",)
    longest = max(len(part) for part in parts)
    figure.update_layout(
        barmode="stack",
        title=theme.title(f"Segments of at most {longest} pieces", *notes),
        xaxis={"title": {"text": "segment"}, "dtick": max(1, len(parts) // 12), "automargin": True},
        yaxis={"title": {"text": "pieces"}, "range": [0, 1.1 * longest], "automargin": True},
        legend={"y": 1.02, "yanchor": "bottom"},
        height=420,
        margin={"l": 10, "r": 10, "t": theme.space_above(*notes) + 40, "b": 60},
    )
    return figure


def all_are(kind: type, made: str, steps: object) -> str:
    """Empty for a tuple of such records."""
    right = isinstance(steps, tuple) and steps and all(isinstance(step, kind) for step in steps)
    return "" if right else f"it draws what {made} gives; this is a {type(steps).__name__}."


def is_side_by_side(record: object) -> str:
    """Empty for a text under several tokenizers."""
    return "" if isinstance(record, SideBySide) else f"it draws what side_by_side(…) makes; this is a {type(record).__name__}."


def match_of(steps: Sequence[Match]) -> Mapping[str, Control]:
    """Which try."""
    return {"step": Range("Try", 1, len(steps))}


def join_of(steps: Sequence[Join]) -> Mapping[str, Control]:
    """How many merges."""
    return {"step": Range("Merges done", 0, len(steps) - 1)}


VIEWS = by_name(
    View("matches", "Longest match", matches, match_of, lambda steps: all_are(Match, "tuple(matches(…))", steps)),
    View("joins", "Merges, done again", joins, join_of, lambda steps: all_are(Join, "tuple(replay(…))", steps)),
    View("pieces", "One text, several tokenizers", pieces, lambda record: {}, is_side_by_side),
    View(
        "segments", "A long text in segments", segments, lambda parts: {}, lambda parts: all_are(Tokens, "segments(…)", parts)
    ),
)
