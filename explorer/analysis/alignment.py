"""The tokens of two forward passes aligned: by the words of their texts, with as few changes as possible."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.records import AlignedTraces, Tokens, Trace

WORDS = re.compile(r"\w+|[^\w\s]")
Span = tuple[int, int]
Member = tuple[int, int]  # which trace, which of its tokens
GONE = 1 << 30  # a place after every word


@checked
def align(first: Trace, second: Trace, texts: tuple[str, str]) -> AlignedTraces:
    """Two traces side by side, with their tokens aligned; `texts` are what they read.

    Words are aligned with as few insertions, deletions and replacements as possible (a replacement by a word is one change, of a word
    by a sign two). Tokens that share letters of aligned words belong to one unit.

    >>> bert, gpt2 = ex.load("bert"), ex.load("gpt2")
    >>> found = ex.analysis.align(ex.trace(bert, "A dog ran."), ex.trace(gpt2, "A cat ran."), ("A dog ran.", "A cat ran."))
    >>> found.words[2], found.kinds[2]
    (('dog', 'cat'), 'changed')
    """
    if not isinstance(first, Trace) or not isinstance(second, Trace):
        raise ChoiceError("align takes two traces and their texts: ex.analysis.align(trace, other, (text, other_text)).")
    for trace, text in zip((first, second), texts, strict=True):
        _check(trace, text)
    path = aligned_words(*texts)
    groups = _groups((first.source, second.source), texts, path)
    return _aligned_record(first, second, (texts[0], texts[1]), groups)


def aligned_words(text: str, other: str) -> list[tuple[Span | None, Span | None]]:
    """The words of two texts side by side, None where one has none, with as few changes as possible.

    >>> [pair for pair in aligned_words("a dog ran", "a big dog")]
    [((0, 1), (0, 1)), (None, (2, 5)), ((2, 5), (6, 9)), ((6, 9), None)]
    """
    ours, theirs = ([match.span() for match in WORDS.finditer(each)] for each in (text, other))
    a, b = [text[slice(*span)] for span in ours], [other[slice(*span)] for span in theirs]
    costs = _costs(a, b)
    i, j = len(a), len(b)
    path: list[tuple[Span | None, Span | None]] = []
    while i or j:
        if i and j and costs[i, j] == costs[i - 1, j - 1] + _cost(a[i - 1], b[j - 1]):
            i, j = i - 1, j - 1
            path.append((ours[i], theirs[j]))
        elif i and costs[i, j] == costs[i - 1, j] + 1:
            i -= 1
            path.append((ours[i], None))
        else:
            j -= 1
            path.append((None, theirs[j]))
    return path[::-1]


def _cost(word: str, other: str) -> int:
    """What it costs to put one word for another: nothing, one, or as much as leaving one out and putting one in."""
    return 0 if word == other else 1 if word[0].isalnum() == other[0].isalnum() else 2


def _costs(a: Sequence[str], b: Sequence[str]) -> np.ndarray:
    """The fewest changes between the beginnings of two lists of words [i, j]."""
    costs = np.zeros((len(a) + 1, len(b) + 1), int)
    costs[:, 0], costs[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i, word in enumerate(a):
        for j, other in enumerate(b):
            costs[i + 1, j + 1] = min(costs[i, j] + _cost(word, other), costs[i, j + 1] + 1, costs[i + 1, j] + 1)
    return costs


def _check(trace: Trace, text: str) -> None:
    """A trace of one text, the one that is given."""
    ends = [end for _, end in trace.source.offsets]
    if max(ends, default=0) > len(text) or (not any(ends) and text.strip()):
        raise ChoiceError(
            "A trace read another text than the one that is given with it, or only ids. Give each trace with its text."
        )
    if len({part for part, special in zip(trace.source.segments, trace.source.special, strict=True) if not special}) > 1:
        raise ChoiceError("A trace read a pair of texts. Trace each text by itself to align them.")


def _groups(
    tokens: tuple[Tokens, Tokens], texts: Sequence[str], path: Sequence[tuple[Span | None, Span | None]]
) -> list[list[Member]]:
    """The tokens that belong together, in the order of the texts."""
    links: dict[Member, Member] = {(number, row): (number, row) for number in (0, 1) for row in range(len(tokens[number]))}
    places: dict[Member, int] = {}

    def root(member: Member) -> Member:
        while links[member] != member:
            member = links[member]
        return member

    letters = [_letters(member) for member in tokens]
    for place, pair in enumerate(path):
        for linked in _linked(letters, texts, pair):
            for member in linked:
                places.setdefault(member, place)
                links[root(member)] = root(linked[0])
    for number in (0, 1):
        _join_spaces(tokens[number], number, links, places)
    for number, rows in enumerate(_outside(member) for member in tokens):
        places |= {(number, row): -GONE + n if n < rows[1] else GONE + n - len(rows[0]) for n, row in enumerate(rows[0])}
    _join_specials(tokens, links)
    groups: dict[Member, list[Member]] = {}
    for member in sorted(links):
        groups.setdefault(root(member), []).append(member)
    return sorted(groups.values(), key=lambda group: (min(places[member] for member in group), group[0]))


def _letters(tokens: Tokens) -> dict[int, list[int]]:
    """For each letter of a text the tokens that hold it."""
    owners: dict[int, list[int]] = {}
    for row, (start, end) in enumerate(tokens.offsets):
        for letter in range(start, end):
            owners.setdefault(letter, []).append(row)
    return owners


def _linked(
    letters: Sequence[dict[int, list[int]]], texts: Sequence[str], pair: tuple[Span | None, Span | None]
) -> list[list[Member]]:
    """The tokens of a pair of words that belong together: those that hold the same letter of one word, else all of both words."""
    ours, theirs = pair
    if ours and theirs and texts[0][slice(*ours)] == texts[1][slice(*theirs)]:
        steps = range(ours[1] - ours[0])
        every = [
            [(0, row) for row in letters[0].get(ours[0] + n, ())] + [(1, row) for row in letters[1].get(theirs[0] + n, ())]
            for n in steps
        ]
    else:
        spans = [(number, span) for number, span in enumerate(pair) if span]
        every = [[(number, row) for number, span in spans for n in range(*span) for row in letters[number].get(n, ())]]
    return [members for members in every if members]


def _join_spaces(tokens: Tokens, number: int, links: dict[Member, Member], places: dict[Member, int]) -> None:
    """Tokens that hold no letter of a word belong to the one after them, or before them at the end."""
    text = [row for row, (start, end) in enumerate(tokens.offsets) if end > start]
    placed = [row for row in text if (number, row) in places]
    for row in text:
        if (number, row) not in places:
            near = next((other for other in placed if other > row), placed[-1] if placed else None)
            places[number, row] = 0 if near is None else places[number, near]
            if near is not None:
                links[number, row] = (number, near)


def _outside(tokens: Tokens) -> tuple[list[int], int]:
    """The rows of the special tokens that stand for no letters, and how many of them come before the text."""
    rows = [row for row, (start, end) in enumerate(tokens.offsets) if end <= start]
    first = next((row for row, (start, end) in enumerate(tokens.offsets) if end > start), len(tokens))
    return rows, sum(row < first for row in rows)


def _join_specials(tokens: tuple[Tokens, Tokens], links: dict[Member, Member]) -> None:
    """Special tokens belong together by their places before and after the text."""
    (ours, first), (theirs, second) = (_outside(side) for side in tokens)
    before = list(zip(ours[:first], theirs[:second], strict=False))
    after = list(zip(ours[first:][::-1], theirs[second:][::-1], strict=False))
    for row, other in (*before, *after):
        links[1, other] = (0, row)


def _aligned_record(first: Trace, second: Trace, texts: tuple[str, str], groups: Sequence[Sequence[Member]]) -> AlignedTraces:
    """The record."""
    units = (np.zeros(len(first.source), int), np.zeros(len(second.source), int))
    spans = np.full((len(groups), 2, 2), -1)
    words, kinds = [], []
    for number, group in enumerate(groups):
        read = ["", ""]
        for which, trace in enumerate((first, second)):
            rows = [row for number_of, row in group if number_of == which]
            units[which][rows] = number
            if rows:
                read[which], spans[number, which] = _unit_text(trace.source, rows, texts[which])
        words.append((read[0], read[1]))
        special = all(
            (first, second)[which].source.offsets[row][1] <= (first, second)[which].source.offsets[row][0]
            for which, row in group
        )
        kinds.append(_kind(read, {which for which, _ in group}, special=special))
    return AlignedTraces(texts, first, second, tuple(kinds), tuple(words), spans, units)


def _unit_text(tokens: Tokens, rows: Sequence[int], text: str) -> tuple[str, Span]:
    """What some tokens read, and from where to where in the text; special ones by their names."""
    start, end = min(tokens.offsets[row][0] for row in rows), max(tokens.offsets[row][1] for row in rows)
    if end <= start:
        return " ".join(tokens.texts[row] for row in rows), (-1, -1)
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return text[start:end] or tokens.texts[rows[0]], (start, end)


def _kind(read: Sequence[str], where: set[int], *, special: bool) -> str:
    """What a unit is."""
    if where != {0, 1}:
        return "only first" if 0 in where else "only second"
    return "special" if special else "same" if read[0] == read[1] else "changed"
