"""What learning a vocabulary and cutting a word into its pieces leave behind, one step a record."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Merge(Record):
    """Two neighbouring pieces become one piece, everywhere in the texts.

    `score` is what the pair was chosen by, `count` how many times it was joined, `parts` how often its two pieces stood
    in the texts before. `size` is the vocabulary and `fertility` the pieces per word after it. `before` and `after` are
    the pieces of the sample `words` on both sides of this step.
    """

    step: int
    pair: tuple[str, str]
    piece: str
    by: str
    score: float
    count: int
    parts: tuple[int, int]
    size: int
    fertility: float
    words: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], ...] = ()
    after: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Match(Record):
    """One try of the longest match: is `candidate`, which begins at letter `place` of the word, in the vocabulary?

    `rest` is what is still to be cut, `pieces` are those found so far. Where even one letter is unknown the whole word
    becomes the unknown piece.
    """

    word: str
    place: int
    candidate: str
    found: bool
    rest: str
    pieces: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Join(Record):
    """One step of cutting a word by BPE: of all learned merges that fit, the one learned first is done.

    `rank` is its place in the list of merges, `pieces` is the word after it. The first record of a word has rank −1 and
    holds its letters.
    """

    word: str
    rank: int
    pair: tuple[str, str]
    pieces: tuple[str, ...]
