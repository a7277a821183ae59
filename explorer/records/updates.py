"""One update of the weights: what the loss of one prediction asks of them, and the loss after they were moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens

PROJECTIONS = ("W_Q", "W_K", "W_V", "W_O")


@dataclass(frozen=True, eq=False)
class TokenUpdate(Record):
    """The loss of one predicted token, its gradients, and the loss after plain SGD with several learning rates.

    The model reads `tokens` and predicts `label` at `row`; `vocabulary` holds the texts of all tokens, `probabilities` and
    `scores_slope` (∂L/∂scores) are [vocab]. `states_slope` holds the length of ∂L/∂h [layer + 1, position] of the stack that predicts.
    The rest is one attention: its `weights` and `weights_slope` [head, query, key] and its four `matrices` with their `slopes` [out, in],
    in which the rows of a head of W_Q, W_K and W_V lie together, and the columns of W_O. "E" is the embedding: only the rows `ids`.
    `places` [matrix, 2] is the weight of each matrix with the largest gradient, `steepest` [matrix, 2] that weight and its gradient,
    `differences` [matrix] the same gradient as a finite difference of the loss.
    `losses` [rate] are those after all weights of the model moved by −rate · gradient, `others` [rate] the mean of other predictions of the
    text after the same update (NaN where there are none); the first rate is 0. `slope` is the squared length of the gradient.
    """

    model: str
    tokens: Tokens
    row: int
    label: int
    vocabulary: tuple[str, ...]
    probabilities: np.ndarray
    scores_slope: np.ndarray
    states_slope: np.ndarray
    stream: str
    layer: int
    weights: np.ndarray
    weights_slope: np.ndarray
    matrices: Mapping[str, np.ndarray]
    slopes: Mapping[str, np.ndarray]
    ids: np.ndarray
    places: np.ndarray
    steepest: np.ndarray
    differences: np.ndarray
    slope: float
    rates: np.ndarray
    losses: np.ndarray
    others: np.ndarray

    @property
    def loss(self) -> float:
        """−log P of the right token before the update."""
        return float(self.losses[0])

    @property
    def heads(self) -> int:
        """How many heads the attention has."""
        return len(self.weights)

    @property
    def masked_scores_slope(self) -> np.ndarray:
        """∂L/∂ the scores of the softmax [head, query, key], by its rule: ∂s = a (∂a − Σ a ∂a), each row by itself."""
        a, da = self.weights.astype(np.float64), self.weights_slope.astype(np.float64)
        return np.asarray(a * (da - (a * da).sum(-1, keepdims=True)))

    @property
    def one_hot(self) -> np.ndarray:
        """y [vocab]: 1 at the right token, 0 elsewhere."""
        y = np.zeros(len(self.vocabulary))
        y[self.label] = 1
        return y

    def of_head(self, name: str, head: int) -> np.ndarray:
        """The part of ∂L/∂W that one head has [dim of a head, dim]; keys and values may be shared by several heads."""
        slope = self.slopes[name].T if name == "W_O" else self.slopes[name]
        wide = len(self.slopes["W_O"].T) // self.heads
        group = head if name in ("W_Q", "W_O") else head * (len(slope) // wide) // self.heads
        return np.asarray(slope[group * wide : (group + 1) * wide])

    def expected(self, rates: np.ndarray) -> np.ndarray:
        """The loss after an update if the loss were a plane: L − η |g|²."""
        return np.asarray(self.loss - rates * self.slope)


@dataclass(frozen=True, eq=False)
class PairUpdate(Record):
    """One pair of word2vec with its negative samples: the vector `centre` [dim] of the centre word, the `contexts` [word, dim] of the
    context word (first) and of the negative samples. σ(w·c) should be 1 for the first and 0 for the others.
    """

    model: str
    word: str
    words: tuple[str, ...]
    centre: np.ndarray
    contexts: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """y [word]: 1 for the context word, 0 for the negative samples."""
        return np.asarray(np.arange(len(self.words)) == 0, np.float64)

    @property
    def sigma(self) -> np.ndarray:
        """σ(w·c) of each word before the update [word]."""
        return _sigma(self.contexts @ self.centre)

    @property
    def errors(self) -> np.ndarray:
        """∂L/∂(w·c) = σ − y of each word [word]."""
        return np.asarray(self.sigma - self.labels)

    @property
    def centre_slope(self) -> np.ndarray:
        """∂L/∂w = Σ (σ − y) c [dim]."""
        return np.asarray(self.errors @ self.contexts)

    @property
    def contexts_slope(self) -> np.ndarray:
        """∂L/∂c = (σ − y) w of each word [word, dim]."""
        return np.asarray(np.outer(self.errors, self.centre))

    def moved(self, rate: float) -> PairUpdate:
        """The same pair after one update of all its vectors."""
        centre, contexts = self.centre - rate * self.centre_slope, self.contexts - rate * self.contexts_slope
        return PairUpdate(self.model, self.word, self.words, centre, contexts)

    @property
    def loss(self) -> float:
        """−log σ(w·c) of the context word − Σ log σ(−w·c) of the negative samples."""
        signs = 2 * self.labels - 1
        return float(np.logaddexp(0, -signs * (self.contexts @ self.centre)).sum())

    def difference(self, number: int, step: float = 1e-5) -> float:
        """∂L/∂ one number of the centre word's vector as a finite difference: (L(w + ε) − L(w − ε)) / 2ε."""
        near = []
        for sign in (1, -1):
            centre = self.centre.copy()
            centre[number] += sign * step
            near.append(PairUpdate(self.model, self.word, self.words, centre, self.contexts).loss)
        return (near[0] - near[1]) / (2 * step)


@dataclass(frozen=True, eq=False)
class TokensOverSteps(Record):
    """The tokens of one text over a training: `places` are those of `tokens` that are predicted, `steps` the snapshots.

    `chances` [snapshot, place] is the probability of the right token, `right` whether it is the most probable one, and `best`
    [snapshot][place] the most probable one.
    """

    model: str
    tokens: Tokens
    places: np.ndarray
    steps: np.ndarray
    chances: np.ndarray
    right: np.ndarray
    best: tuple[tuple[str, ...], ...]

    @property
    def first(self) -> np.ndarray:
        """The number of the snapshot at which each token first was the most probable one [place]; −1 where it never was."""
        return np.where(self.right.any(0), self.right.argmax(0), -1)


def _sigma(scores: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-scores)))
