"""A curve on the stage."""

from __future__ import annotations

import numpy as np


def points(across: np.ndarray, values: np.ndarray, low: float, high: float) -> list[list[float]]:
    """The points of a curve as the stage draws them: from 0 to 1, from the left and from the top.

    >>> points(np.array([0.0, 1.0]), np.array([3.0, 1.5]), 1, 3)
    [[0.0, 0.0], [1.0, 0.75]]
    """
    return np.stack([across, (high - values) / max(high - low, 1e-9)], 1).round(4).tolist()
