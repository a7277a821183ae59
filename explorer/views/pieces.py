"""Pictures of tokenization: one word step by step, one text by several tokenizers, and a long text in segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from explorer.records import Join, Match, SideBySide, Tokens
from explorer.views import theme
from explorer.views.strips import FIRST, NEW, PLAIN, SECOND, Box, Strip, drawn, letters, with_segments, wrapped
from explorer.views.view import Control, Range, View, by_name, only, only_many

MOST = 14  # rows of tries that are shown


def matches(steps: Sequence[Match], *, step: int) -> go.Figure:
    """Longest match, try by try: is the whole rest of the word in the vocabulary? If not, the last letter is dropped, until it is.

    Blue is the string that is tried, orange a token that was found and cut off; the search then continues after it. If not even one
    letter is in the vocabulary, the *whole word* becomes [UNK].

    You may conclude how WordPiece tokenizes a word with this vocabulary. You may not conclude that BPE gives the same tokens: it
    never looks for the longest one, it repeats its merges in the order in which it learned them.
    """
    shown = steps[:step]
    rows = [Strip(f"try {n}", (_try(match),)) for n, match in enumerate(shown, 1)][-MOST:]
    last = shown[-1]
    tokens = " | ".join(theme.label(piece) for piece in last.pieces) or "nothing yet"
    notes = (
        f"of {theme.label(last.word)}, found so far: {tokens}",
        f"still to cut: {theme.label(last.rest) if last.rest else 'nothing'}",
    )
    verdict = "is in the vocabulary" if last.found else "is not in the vocabulary"
    figure = drawn(rows, f"try {step}: {theme.label(last.candidate)} {verdict}", notes)
    return figure.update_layout(xaxis={"range": [0, max(12.0, letters(last.word) + 2.2)]})


def _try(match: Match) -> Box:
    inside = match.candidate.startswith("##") and match.place > 0
    place = float(letters(match.word[: match.place])) - 2 * inside + 2
    verdict = "found" if match.found else "not in the vocabulary"
    return Box(match.candidate, NEW if match.found else FIRST, f"<b>{theme.label(match.candidate)}</b>: {verdict}", place)


def joins(steps: Sequence[Join], *, step: int) -> go.Figure:
    """BPE tokenizes a word by repeating its merges: it starts from the letters and always applies the merge that was learned first
    among those that fit.

    Each row is one more merge; orange is what it made. When no learned merge fits any more, the tokens are final.

    You may conclude in which order this word was joined. You may not conclude that the result is the one with the fewest tokens: an
    early merge may prevent a better one.
    """
    rows = [Strip(theme.label(f"merge {join.rank + 1}") if n else "letters", _joined(join)) for n, join in enumerate(steps)]
    last = steps[step]
    first, second = (theme.label(part) for part in last.pair)
    what = f"merge {last.rank + 1}: {first} + {second}" if step else "its letters"
    notes = (f"now {len(last.pieces)} token{'s' * (len(last.pieces) != 1)}",)
    return drawn(rows[: step + 1][-MOST:], f"{theme.label(last.word.replace('▁', ' ').strip())}: {what}", notes)


def _joined(join: Join) -> tuple[Box, ...]:
    new_token = "".join(join.pair)
    shown = [(piece.replace("▁", "·"), piece == new_token) for piece in join.pieces]
    return tuple(Box(text, NEW if new else FIRST, f"<b>{theme.label(text)}</b>") for text, new in shown)


def pieces(record: SideBySide) -> go.Figure:
    """Each box is a token: a whole word or a part of one. The two blues change from word to
    word; orange is [UNK].

    A dot · is the space before a word, ## marks a token that continues a word, and ‹…› shows the bytes of half a letter. Special
    tokens, which are added to the text, have no colour. Where a model reads two texts by segments, the number below each token is its
    segment: 0 the first text, 1 the second. Point at a box for its id and its word.

    You may conclude how these vocabularies tokenize this text. You may not conclude that one is better: they were learned from
    different texts or have different sizes, and what counts is the model that reads them.
    """
    rows = []
    for name, tokens, unknown in zip(record.names, record.tokens, record.unknown, strict=True):
        boxes = [_piece(tokens, n, unknown) for n in range(len(tokens))]
        lost = int((tokens.ids == unknown).sum())
        lines = wrapped(f"{theme.label(name)}: {len(tokens)} tokens" + (f", {lost} unknown" if lost else ""), boxes)
        rows += with_segments(lines, tokens.segments) if 1 in tokens.segments and any(tokens.special) else lines
    words, shades = len(record.text.split()), "the two blues: word by word; orange: unknown; ·: a space; ##: within a word"
    title = (
        "Special tokens and segments"
        if any(any(tokens.special) for tokens in record.tokens)
        else "One text, several tokenizers"
    )
    return drawn(rows, title, (f"{words} word{'s' * (words != 1)} between spaces · {shades}",))


def _piece(tokens: Tokens, n: int, unknown: int) -> Box:
    text, word = tokens.texts[n], tokens.words[n]
    tone = NEW if tokens.ids[n] == unknown else PLAIN if tokens.special[n] else (FIRST, SECOND)[word % 2]
    place = "special token" if word < 0 else f"word {word}"
    return Box(text, tone, f"<b>{theme.label(text)}</b><br>id {tokens.ids[n]}, {place}, segment {tokens.segments[n]}")


def segments(parts: Sequence[Tokens]) -> go.Figure:
    """A model that reads at most this many tokens reads a long text in segments, and never sees two of them at once.

    Every segment has its own special tokens, and the last one is shorter.

    You may conclude how many forward passes this text needs. You may not conclude that 512 is a fixed length: it is BERT's maximum;
    shorter texts are read as they are, or padded only to be in one batch with longer ones.
    """
    figure = go.Figure()
    special = np.array([sum(part.special) for part in parts])
    text = np.array([len(part) for part in parts]) - special
    for name, values in (("tokens of the text", text), ("special tokens", special)):
        hover = f"segment %{{x}}: <b>%{{y}}</b> {name}<extra></extra>"
        shown = values if name == "tokens of the text" else [f"+{n}" for n in values]
        bars = go.Bar(
            x=np.arange(len(parts)), y=values, name=name, text=shown, textangle=0, hovertemplate=hover, cliponaxis=False
        )
        figure.add_trace(bars)
    notes = (f"{text.sum():,} tokens of the text, {special.sum():,} special tokens, {len(parts)} segments",)
    longest = max(len(part) for part in parts)
    return figure.update_layout(
        barmode="stack",
        title=theme.title(f"Segments of at most {longest} tokens", *notes),
        xaxis={"title": "segment", "dtick": max(1, len(parts) // 12)},
        yaxis={"title": "tokens", "range": [0, 1.1 * longest]},
        height=240,
    )


def match_of(steps: Sequence[Match]) -> Mapping[str, Control]:
    """Which try."""
    return {"step": Range("Try", 1, len(steps))}


def join_of(steps: Sequence[Join]) -> Mapping[str, Control]:
    """How many merges."""
    return {"step": Range("Merges done", 0, len(steps) - 1)}


MATCHES = only_many(Match, "what tuple(ex.text.matches(word, vocabulary)) gives")
JOINS = only_many(Join, "what tuple(ex.text.replay(word, tokenizer)) gives")
SEGMENTS = only_many(Tokens, "what ex.text.segments(text, tokenizer, longest=…) gives")
BESIDE = only(SideBySide, "ex.text.side_by_side(text, tokenizers) makes")
VIEWS = by_name(
    View("matches", "Longest match", matches, MATCHES, match_of),
    View("joins", "BPE merges, repeated", joins, JOINS, join_of),
    View("pieces", "One text, several tokenizers", pieces, BESIDE),
    View("segments", "A long text in segments", segments, SEGMENTS),
)
