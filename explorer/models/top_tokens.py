"""The best tokens of every row of scores, readable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def top_tokens(scores: np.ndarray, count: int, text_of: Callable[[int], str]) -> tuple[np.ndarray, tuple[tuple[str, ...], ...]]:
    """The `count` best tokens of every row of `scores` [row, vocab], best first: their ids [row, rank] and their texts.

    Of equal scores the token with the lower id comes first.
    """
    ids = best_ids(scores, count)
    return ids, tuple(tuple(text_of(token) for token in row) for row in ids.tolist())


def best_ids(scores: np.ndarray, count: int) -> np.ndarray:
    """The ids of the `count` best tokens of each row. Only those are sorted, but for rows where others score as much as the last one."""
    costs = -np.asarray(scores)
    if not 0 < count < costs.shape[1]:
        return np.argsort(costs, axis=1, kind="stable")[:, :count]
    among = costs <= np.partition(costs, count - 1, axis=1)[:, count - 1, None]
    clear = among.sum(axis=1) == count
    best = np.empty((len(costs), count), np.intp)
    ids = np.nonzero(among[clear])[1].reshape(-1, count)
    order = np.argsort(np.take_along_axis(costs[clear], ids, axis=1), axis=1, kind="stable")
    best[clear] = np.take_along_axis(ids, order, axis=1)
    best[~clear] = np.argsort(costs[~clear], axis=1, kind="stable")[:, :count]
    return best
