"""What a model predicts beside its target, one-hot or smoothed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class SmoothedTargets(Record):
    """`logp` [prediction, token of the vocabulary] beside the `right` tokens [prediction]; `rows` are the positions of `tokens` at which
    the model predicts. `texts` are those of the vocabulary.
    """

    model: str
    tokens: Tokens
    rows: np.ndarray
    right: np.ndarray
    texts: tuple[str, ...]
    logp: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def target(self, number: int, smoothing: float) -> np.ndarray:
        """The target distribution of one prediction [token]: 1 − ε for the right token, and ε shared equally among all tokens."""
        probabilities = np.full(self.logp.shape[1], smoothing / self.logp.shape[1])
        probabilities[self.right[number]] += 1 - smoothing
        return probabilities

    def loss(self, smoothing: float) -> np.ndarray:
        """The cross-entropy of each prediction with its smoothed target, in nats [prediction]."""
        logp = self.logp.astype(np.float64)
        right = -np.take_along_axis(logp, self.right[:, None], 1)[:, 0]
        return np.asarray((1 - smoothing) * right - smoothing * logp.mean(1))

    def least(self, smoothing: float) -> float:
        """The smallest loss that any prediction can have: the entropy of the target."""
        shares = self.target(0, smoothing)
        shares = shares[shares > 0]
        return float(-(shares * np.log(shares)).sum())
