"""The best tokens of rows of scores, as every picture of predictions shows them."""

from __future__ import annotations

import numpy as np
import pytest

from explorer.models.top_tokens import top_tokens


@pytest.mark.parametrize("count", [1, 3, 50])
def test_best_first_and_of_equal_scores_the_lower_id(count: int) -> None:
    scores = np.random.default_rng(count).integers(0, 4, (6, 9)).astype(float)  # few values, so many ties
    scores[2, 4] = -np.inf
    ids, texts = top_tokens(scores, count, "abcdefghi".__getitem__)
    for row, best, names in zip(scores, ids, texts, strict=True):
        wanted = sorted(range(9), key=lambda token: (-row[token], token))[:count]
        assert best.tolist() == wanted and names == tuple("abcdefghi"[token] for token in wanted)
