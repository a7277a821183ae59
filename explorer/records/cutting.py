"""Which pieces may be drawn: temperature, and the cuts that leave out the tail of a distribution.

All work on rows of scores [row, vocab] in this order, each on what the one before left: temperature, top k, top p, min p, typical p.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from explorer.records.shares import softmax

KEPT, FORBIDDEN = 0, -1
CUTS = ("top_k", "top_p", "min_p", "typical_p")


def cut(scores: np.ndarray, temperature: float = 1.0, **limits: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Scores ÷ temperature with −∞ where a limit cuts, and who cut each piece: 0 nobody, otherwise 1 + the place in CUTS.

    `limits` are top_k, top_p, min_p and typical_p; None leaves one out. A piece that has −∞ from the start belongs to nobody: −1.
    """
    left = np.asarray(scores / temperature if temperature != 1.0 else scores)
    why = np.where(np.isneginf(left), FORBIDDEN, KEPT)
    for number, name in enumerate(CUTS, 1):
        limit = limits.get(name)
        if limit is not None:
            fall = _RULES[name](left, limit) & (why == KEPT)
            why = np.where(fall, number, why)
            left = np.where(fall, -np.inf, left)
    return left, why


def below_rank(scores: np.ndarray, k: float) -> np.ndarray:
    """Top k: what has a smaller score than the k-th largest."""
    rank = min(int(k), scores.shape[-1]) - 1
    return scores < -np.partition(-scores, rank, axis=-1)[..., rank : rank + 1]


def beyond_mass(scores: np.ndarray, p: float) -> np.ndarray:
    """Top p: what is not needed to gather the share p, taking the likeliest pieces first. The likeliest always stays."""
    order = np.argsort(scores, axis=-1, kind="stable")  # smallest first
    mass = np.cumsum(np.take_along_axis(softmax(scores), order, axis=-1), axis=-1)
    fall = mass <= 1 - p
    fall[..., -1] = False
    return _back(fall, order)


def below_share(scores: np.ndarray, p: float) -> np.ndarray:
    """Min p: what is less probable than p times the likeliest piece."""
    shares = softmax(scores)
    return shares < p * shares.max(axis=-1, keepdims=True)


def not_typical(scores: np.ndarray, p: float) -> np.ndarray:
    """Typical p: keep the pieces whose surprise −log P is nearest to the entropy until they gather the share p; cut the others."""
    shares = softmax(scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = -np.log(shares)
        entropy = np.nansum(shares * surprise, axis=-1, keepdims=True)
    away = np.abs(surprise - entropy)
    order = np.argsort(away, axis=-1, kind="stable")  # most typical first
    mass = np.cumsum(np.take_along_axis(shares, order, axis=-1), axis=-1)
    last = np.minimum((mass < p).sum(axis=-1, keepdims=True), scores.shape[-1] - 1)
    ranked = np.take_along_axis(away, order, axis=-1)
    fall = ranked > np.take_along_axis(ranked, last, axis=-1)
    fall[..., 0] = False
    return _back(fall, order)


def _back(marks: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Marks of sorted places, at the places where these came from."""
    found = np.empty_like(marks)
    np.put_along_axis(found, order, marks, axis=-1)
    return found


_RULES: Mapping[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "top_k": below_rank,
    "top_p": beyond_mass,
    "min_p": below_share,
    "typical_p": not_typical,
}
