"""Why scores are divided by √d: what a softmax does to sums of ever more products."""

from __future__ import annotations

import numpy as np

from explorer.errors import check_whole
from explorer.errors.kinds import checked
from explorer.records import Saturation, softmax

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512)


MOST_KEYS, MOST_DRAWS = 1000, 100_000


@checked
def saturation(*, keys: int = 10, draws: int = 2000, seed: int = 0) -> Saturation:
    """Draw queries and keys with independent parts of mean 0 and variance 1, and look at the softmax of their scores.

    >>> found = ex.analysis.saturation(draws=50)
    >>> bool(found.largest[-1, 0] > found.largest[-1, 1])
    True
    """
    check_whole("keys", keys, 2, MOST_KEYS)
    check_whole("draws", draws, 1, MOST_DRAWS)
    rng = np.random.default_rng(seed)
    shown, measured = [], []
    for width in WIDTHS:
        q, k = rng.standard_normal((draws, width)), rng.standard_normal((draws, keys, width))
        scores = np.einsum("nd,nkd->nk", q, k)
        shown.append(scores[0])
        measured.append([_measure(scores), _measure(scores / np.sqrt(width))])
    figures = np.array(measured)  # [width, without or with, figure]
    return Saturation(np.array(WIDTHS), np.array(shown), figures[..., 0], figures[..., 1], figures[..., 2], draws)


def slope(shares: np.ndarray) -> np.ndarray:
    """How strongly each row of shares answers to its scores: ‖diag(α) − α αᵀ‖, the size of ∂α/∂s."""
    jacobian = shares[..., :, None] * (np.eye(shares.shape[-1]) - shares[..., None, :])
    return np.sqrt((jacobian**2).sum(axis=(-1, -2)))


def _measure(scores: np.ndarray) -> tuple[float, float, float]:
    shares = softmax(scores)
    return float(shares.max(-1).mean()), float(slope(shares).mean()), float((shares.max(-1) > 0.99).mean())
