"""The matrices of queries, keys and values at several steps of a training run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record

MATRICES = ("W_Q", "W_K", "W_V")


@dataclass(frozen=True, eq=False)
class Projections(Record):
    """W_Q, W_K and W_V of every head: `weights` [step, matrix, layer, head, dim, dim of a head] at these `steps`."""

    model: str
    steps: np.ndarray
    weights: np.ndarray

    def of(self, matrix: str, layer: int, head: int) -> np.ndarray:
        """One matrix of one head at every step [step, dim, dim of a head]."""
        return np.asarray(self.weights[:, MATRICES.index(matrix), layer, head])

    def strengths(self, matrix: str, layer: int, head: int) -> np.ndarray:
        """Its singular values at every step, the largest first [step, dim of a head]: how strongly it passes each direction on."""
        return np.asarray(np.linalg.svd(self.of(matrix, layer, head), compute_uv=False))
