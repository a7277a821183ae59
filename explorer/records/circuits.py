"""What parts of a model do for a prediction: a sweep of patches, what a part writes to the vocabulary, and how information flows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens

KEPT = "kept"


@dataclass(frozen=True, eq=False)
class PatchSweep(Record):
    """What brings an answer back when it is put from a clean run into a run over a changed text.

    `restored` holds for each part ("state", "attention", "feed-forward") the share of the logit difference between the two
    `answers` that returns [layer, position]: 0 as in the changed run, 1 as in the clean one. The first row of "state" is what
    enters layer 0. `difference` is the logit difference of the clean and of the changed run, at `row`.
    """

    model: str
    stream: str
    clean: Tokens
    changed: Tokens
    row: int
    answers: tuple[str, str]
    difference: tuple[float, float]
    restored: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class VocabularyWrites(Record):
    """What one part adds to the scores of the vocabulary on the direct way through the output layer, around a mean of 0.

    `ids` and `texts` are the tokens that it promotes most and suppresses most, [2, rank], `scores` what it adds to each token of the
    vocabulary. `origin` says which part it is, `notes` what was left out.
    """

    model: str
    origin: str
    scores: np.ndarray
    ids: np.ndarray
    texts: tuple[tuple[str, ...], tuple[str, ...]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Contribution(Record):
    """What one layer of attention takes from each token: `weights` α [head, query, key], the length of v·W_O of each head and token
    `handed` [head, key], and that of the sum of α·v·W_O over all heads `together` [query, key].
    """

    stream: str
    layer: int
    allowed: np.ndarray
    weights: np.ndarray
    handed: np.ndarray
    together: np.ndarray

    def of(self, head: int) -> np.ndarray:
        """‖α·v·W_O‖ of one head [query, key]: a weight is not negative, so it is α times the length of v·W_O."""
        return np.asarray(self.weights[head] * self.handed[head])


@dataclass(frozen=True, eq=False)
class Contributions(Record):
    """How much each token contributes to what attention makes, in every layer."""

    model: str
    source: Tokens
    target: Tokens | None
    layers: tuple[Contribution, ...]

    def axes(self, stream: str) -> tuple[Tokens, Tokens]:
        """The tokens of the rows (queries) and of the columns (keys) in this stream."""
        rows = self.source if stream == "encoder" or self.target is None else self.target
        return rows, rows if stream != "cross" else self.source


@dataclass(frozen=True, eq=False)
class InformationFlow(Record):
    """Of what each state is made, in shares of its residual sum.

    After attention: `attention` [layer, head, query, key] and `kept` [layer, position], the state before; together they sum to one.
    After the feed-forward layer: `feed_forward` [layer, position], the rest being the state before it. `crossed` [layer, position]
    is what cross-attention takes from the source, or None.
    """

    shapes = {
        "attention": ("layer", "head", "query", "key"),
        **dict.fromkeys(("kept", "feed_forward", "crossed"), ("layer", "position")),
    }
    model: str
    tokens: Tokens
    stream: str
    attention: np.ndarray
    kept: np.ndarray
    feed_forward: np.ndarray
    crossed: np.ndarray | None = None

    def edges(self, position: int | None = None, threshold: float = 0.0) -> tuple[tuple[str, int, int, int, float], ...]:
        """The ways into the last state at `position` (None: at every position) whose every step has a share of at least `threshold`.

        Each edge is (kind, layer, query, key, share): "kept" from the state before, "attention" from another position or its own.
        """
        layers, count = self.kept.shape
        needed = set(range(count)) if position is None else {position}
        drawn = []
        for layer in reversed(range(layers)):
            below = set()
            for query in sorted(needed):
                steps = [(KEPT, query, float(self.kept[layer, query]))]
                steps += [("attention", key, float(share)) for key, share in enumerate(self.attention[layer, :, query].sum(0))]
                kept = [(kind, layer, query, key, share) for kind, key, share in steps if share >= threshold and share > 0]
                below |= {key for _, _, _, key, _ in kept}
                drawn += kept
            needed = below
        return tuple(drawn)
