"""What pre-training hides. Each strategy works on rows of ids at once, with NumPy, and says where the loss falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.errors import ChoiceError
from explorer.records import Vocabulary


@dataclass(frozen=True)
class Hidden:
    """A batch after corruption: what the model reads, what it should say, and where that is scored. All [row, position]."""

    source: np.ndarray
    target: np.ndarray
    scored: np.ndarray


def mlm(ids: np.ndarray, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15) -> Hidden:
    """BERT's masking: an exact share of each row's text is chosen; of those 80 % become [MASK], 10 % another piece, 10 % stay."""
    if vocabulary.mask is None:
        raise ChoiceError("Masking needs a tokenizer with a mask piece, such as wordpiece.")
    if not 0 < rate <= 1:
        raise ChoiceError(f"rate={rate!r} must lie above 0 and at most be 1.")
    text = ~np.isin(ids, vocabulary.special)  # [row, position]
    lots = np.where(text, chance.random(ids.shape), np.inf)
    wanted = np.maximum(1, np.rint(rate * text.sum(axis=1))).astype(int)  # at least one in each row
    order = np.argsort(np.argsort(lots, axis=1), axis=1)
    scored = (order < wanted[:, None]) & text
    fate = chance.random(ids.shape)
    ordinary = np.setdiff1d(np.arange(vocabulary.size), vocabulary.special)
    source = np.where(scored & (fate < 0.8), vocabulary.mask, ids)
    source = np.where(scored & (fate >= 0.8) & (fate < 0.9), chance.choice(ordinary, ids.shape), source)
    return Hidden(source, ids, scored)
