"""The states of many words in every layer of a model, and how alike the layers of two models are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class WordStates(Record):
    """The state of every word of some texts in every layer, `vectors` [layer, word, dim].

    `kinds` are the parts of speech, or empty; `numbers` [word] says to which of the texts each word belongs.
    """

    model: str
    texts: tuple[str, ...]
    words: tuple[str, ...]
    kinds: tuple[str, ...]
    numbers: np.ndarray
    vectors: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

    def components(self, layer: int, count: int = 3) -> tuple[np.ndarray, np.ndarray]:
        """The words on their first principal components [word, count], and the share of the variance that each keeps [count].

        Of the two directions of a component the one in which its largest number is positive is taken.
        """
        apart = np.array(self.vectors[layer], np.float64)
        apart -= apart.mean(0)
        u, s, _ = np.linalg.svd(apart, full_matrices=False)
        axes, shares = np.zeros((len(apart), count)), np.zeros(count)
        kept = min(count, len(s))
        points = (u * s)[:, :kept]
        turned = np.where(np.take_along_axis(points, np.abs(points).argmax(0)[None], 0)[0] < 0, -1.0, 1.0)
        axes[:, :kept] = points * turned
        shares[:kept] = s[:kept] ** 2 / max(float((s**2).sum()), 1e-300)
        return axes, shares


@dataclass(frozen=True, eq=False)
class LayerLikeness(Record):
    """How alike the layers of two models are over the same words: linear CKA, `likeness` [layer of the first, layer of the second].

    `chance` is the same with the words of the second model exchanged at random. NaN where all words have one state.
    """

    shapes = dict.fromkeys(("likeness", "chance"), ("layer of the first", "layer of the second"))
    models: tuple[str, str]
    texts: int
    words: int
    likeness: np.ndarray
    chance: np.ndarray


@dataclass(frozen=True, eq=False)
class SimilarUses(Record):
    """The uses of words that are nearest to one word in its sentence, by the cosine of their states after `layer` layers.

    `query` is that word in its surroundings, `uses` are those found, the word in brackets, with their `likeness` [use]; `searched` is
    how many words there were.
    """

    model: str
    layer: int
    query: str
    word: str
    words: tuple[str, ...]
    uses: tuple[str, ...]
    likeness: np.ndarray
    searched: int


@dataclass(frozen=True, eq=False)
class UnitFirings(Record):
    """The texts in which a unit of a feed-forward layer is most active, by the largest of its activations in each.

    `uses` are those texts around the token at which it is, in brackets, `tokens` these tokens, `activations` [text]; `values` are the
    activations at every token of every text [token].
    """

    model: str
    stream: str
    layer: int
    unit: int
    tokens: tuple[str, ...]
    uses: tuple[str, ...]
    activations: np.ndarray
    values: np.ndarray

    @property
    def searched(self) -> int:
        """At how many tokens it was looked at."""
        return len(self.values)

    @property
    def active(self) -> float:
        """At which share of the tokens it is above 0."""
        return float((self.values > 0).mean())
