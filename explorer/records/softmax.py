"""Softmax and cosine in NumPy, as everything here that shows a probability or a similarity computes them."""

from __future__ import annotations

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Each row of scores as shares that sum to one, in double precision; −∞ becomes 0."""
    powers = np.exp(_shifted(scores))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def log_softmax(scores: np.ndarray) -> np.ndarray:
    """The logarithms of the shares of each row, in double precision."""
    shifted = _shifted(scores)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _shifted(scores: np.ndarray) -> np.ndarray:
    """Scores with the largest of each row at 0, so that no power overflows; the shares are the same."""
    scores = np.asarray(scores, np.float64)
    return np.asarray(scores - scores.max(axis=-1, keepdims=True))


def cosine(first: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cosine of vectors along the last axis; 0 where one of them has no length."""
    lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(other, axis=-1)
    return np.asarray((first * other).sum(-1) / lengths.clip(1e-12))
