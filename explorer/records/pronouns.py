"""What models make of a pronoun in two texts that differ in one reason: the noun, the translation, and where heads attend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.softmax import softmax
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class NounPreference(Record):
    """Which of two nouns a model prefers in the place of a pronoun, in each of two texts; `nouns[n]` is meant in `texts[n]`.

    `reasons` are the words in which the texts differ. `logp` [text, noun] is log P of the noun under masks (`filled`), or of the noun
    and all that follows it.
    """

    model: str
    texts: tuple[str, str]
    reasons: tuple[str, str]
    nouns: tuple[str, str]
    logp: np.ndarray
    filled: bool

    @property
    def shares(self) -> np.ndarray:
        """The probability of each noun as a part of that of both [text, noun]."""
        return softmax(self.logp)

    @property
    def right(self) -> np.ndarray:
        """Whether the noun that is meant is preferred [text]."""
        return np.asarray(np.diagonal(self.shares) > 0.5)


@dataclass(frozen=True, eq=False)
class PronounTranslation(Record):
    """A translation, and the step `at` at which it writes a pronoun (−1: it writes none): `shares` are the probabilities of
    `pronouns` there.

    `cross` [layer, head, source] are the weights of the row that predicts the pronoun. `places` are the tokens of the source that the
    other text does not have, and `reason` is what they say.
    """

    model: str
    text: str
    reason: str
    source: Tokens
    written: str
    at: int
    pronouns: tuple[str, ...]
    shares: np.ndarray
    cross: np.ndarray
    places: tuple[int, ...]

    @property
    def on_reason(self) -> np.ndarray:
        """The weight of each head on these tokens together [layer, head]."""
        return np.asarray(self.cross[..., list(self.places)].sum(-1))


@dataclass(frozen=True, eq=False)
class PronounHeads(Record):
    """How much weight the pronoun gives each of two nouns, in every head and in both texts: `weights` [text, layer, head, noun]."""

    model: str
    texts: tuple[str, str]
    reasons: tuple[str, str]
    nouns: tuple[str, str]
    weights: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """The weight on the first noun as a part of that on both [text, layer, head]; one half where both have none."""
        total = self.weights.sum(-1)
        return np.asarray(np.divide(self.weights[..., 0], total, out=np.full(total.shape, 0.5), where=total > 0))

    @property
    def right(self) -> np.ndarray:
        """The heads [layer, head] that attend more to the noun that is meant, in both texts."""
        first, second = self.shares
        return np.asarray((first > 0.5) & (second < 0.5))

    @property
    def wrong(self) -> np.ndarray:
        """The heads [layer, head] that attend more to the other noun, in both texts."""
        first, second = self.shares
        return np.asarray((first < 0.5) & (second > 0.5))
