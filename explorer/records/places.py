"""How a model is told where a word stands, and what it notices when words change places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class Places(Record):
    """One position scheme over the first places of a text.

    `vectors` [place, feature] are added to the embeddings, or None; `angles` [place, pair] say how far each pair of
    features has turned, or None; `scores` [head, query, key] are what the places alone contribute to the scores, which
    `meaning` puts into words. `trained` is False where the numbers are the random ones of a new model.
    """

    scheme: str
    model: str
    slot: str
    meaning: str
    vectors: np.ndarray | None
    angles: np.ndarray | None
    scores: np.ndarray
    causal: bool
    trained: bool = True

    @property
    def label(self) -> str:
        """The scheme, whose it is, and whether it was trained."""
        whose = f" of {self.model}" if self.model else ""
        return f"{self.scheme}{whose}" + ("" if self.trained else ", not trained")


@dataclass(frozen=True, eq=False)
class Shuffle(Record):
    """One text read twice, the second time with its words in another `order` (place i then holds word order[i]).

    Everything is sorted back by word before it is compared. `moved` {"with", "without"} [layer + 1, word] is how far each
    state moved, in shares of its length, with positions and without; NaN where a word of a decoder no longer sees the same
    words. `weights` {"with", "without"} [2, layer, head, query, key] are both runs' attention.
    """

    model: str
    family: str
    tokens: Tokens
    order: np.ndarray
    moved: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]
