"""What keeps a text from repeating itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def repeated_less(scores: np.ndarray, texts: Sequence[Sequence[int]], penalty: float) -> np.ndarray:
    """Scores [beam, vocab] with lower scores for tokens that are in a beam's text already: negative × penalty, positive ÷."""
    changed = scores.copy()
    for row, text in zip(changed, texts, strict=True):
        ids = np.unique(np.asarray(text, np.int64))
        before = row[ids]
        row[ids] = np.where(before < 0, before * penalty, before / penalty)
    return changed


def repeating_tokens(text: Sequence[int], n: int) -> list[int]:
    """The tokens that would write an n-gram of the text once more."""
    if len(text) < n:
        return []
    end = tuple(text[len(text) + 1 - n :])
    return [text[at + n - 1] for at in range(len(text) - n + 1) if tuple(text[at : at + n - 1]) == end]
