"""One sentence before several architectures: who may see whom, what each expects at one word, and how that word's vector moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class Sight(Record):
    """Who may see whom: `seen` [row, column], a row for each piece that reads, 1 where it may see the piece of the column.

    The rows and columns are the pieces of `tokens`; of an encoder-decoder those of `target`, which its decoder reads, follow. In a
    model of two directions that never meet, 1 is what the forward half sees, 2 what the backward half sees, and 3 both. `place` names
    the pieces of the word that the page is about.
    """

    model: str
    family: str
    tokens: Tokens
    target: Tokens | None
    seen: np.ndarray
    place: tuple[int, ...] = ()
    trained: bool = True


@dataclass(frozen=True, eq=False)
class Answer(Record):
    """What a model expects where one word stands that it cannot see: `texts` and `shares` [side, rank], `truth` [side].

    `reads` holds for each side what it is given; ELMo has two sides, the others one. `right` is the piece that stands there: the first
    one, where the word is several.
    """

    model: str
    family: str
    word: str
    right: str
    reads: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    shares: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True, eq=False)
class Moved(Record):
    """One word's vector in a text against the same word's in other texts, by layer; layer 0 is what enters the first layer.

    `likeness` [other, layer] are cosines, `changed` [other, layer] the shares of the vector's numbers that differ, `around` [layer] the
    mean cosine with the other pieces of the same text: what is usual for two pieces that stand in one text.
    """

    model: str
    family: str
    word: str
    text: str
    others: tuple[str, ...]
    likeness: np.ndarray
    changed: np.ndarray
    around: np.ndarray
