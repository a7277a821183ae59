"""The best tokens of every row of scores, readable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def top_tokens(scores: np.ndarray, count: int, text_of: Callable[[int], str]) -> tuple[np.ndarray, tuple[tuple[str, ...], ...]]:
    """The `count` best tokens of every row of `scores` [row, vocab], best first: their ids [row, rank] and their texts.

    Of equal scores the token with the lower id comes first.
    """
    ids = np.argsort(-scores, axis=1, kind="stable")[:, :count]
    return ids, tuple(tuple(text_of(token) for token in row) for row in ids.tolist())
