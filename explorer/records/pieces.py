"""One text under several tokenizers, and what that costs by language; labels of words from labels of pieces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.shares import softmax
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class SideBySide(Record):
    """The same text as each of several tokenizers cuts it. `unknown` is the number of each one's unknown piece, −1 for none."""

    text: str
    names: tuple[str, ...]
    tokens: tuple[Tokens, ...]
    unknown: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Fertility(Record):
    """The same sentence in several languages: its `words` by hand, and per tokenizer its pieces and unknown ones [tokenizer, language]."""

    names: tuple[str, ...]
    languages: tuple[str, ...]
    sentences: tuple[str, ...]
    words: np.ndarray
    pieces: np.ndarray
    unknown: np.ndarray


@dataclass(frozen=True, eq=False)
class WordLabels(Record):
    """A label for each word, recovered from the labels of its pieces.

    `shares` [piece, label] is what a tagger that sees one piece at a time gives each piece, `right` the share of words on
    new texts that each way of putting pieces together gets right, over `tried` words.
    """

    tokens: Tokens
    words: tuple[str, ...]
    gold: tuple[str, ...]
    labels: tuple[str, ...]
    shares: np.ndarray
    right: dict[str, float]
    tried: int

    def together(self, way: str) -> np.ndarray:
        """The label shares of each word [word, label], put together from those of its pieces."""
        rows = [self.shares[np.array(self.tokens.words) == number] for number in range(len(self.words))]
        return np.array([WAYS[way](pieces) for pieces in rows])


def first_piece(pieces: np.ndarray) -> np.ndarray:
    """The shares of the first piece of a word; the others are not asked."""
    return pieces[0]


def mean_of_pieces(pieces: np.ndarray) -> np.ndarray:
    """The mean of the shares of all pieces of a word."""
    return pieces.mean(axis=0)


def product_of_pieces(pieces: np.ndarray) -> np.ndarray:
    """The product of the shares of all pieces of a word, made to sum to one."""
    return softmax(np.log(pieces).sum(axis=0))


WAYS = {"first piece": first_piece, "mean of all pieces": mean_of_pieces, "product of all pieces": product_of_pieces}
