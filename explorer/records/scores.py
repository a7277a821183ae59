"""How well generated texts agree with reference texts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class TextScores(Record):
    """BLEU and ROUGE of generated texts against one reference each.

    `matched` and `total` [n − 1] count n-grams for n = 1 to 4 over all texts, `precisions` are their ratios (smoothed where nothing
    matched). `lengths` are the tokens of the generated texts and of the references, and `brevity` is BLEU's penalty for texts that are
    too short. `rouge` [ROUGE-1, ROUGE-2, ROUGE-L; precision, recall, F1] are means over the texts.
    """

    texts: tuple[str, ...]
    references: tuple[str, ...]
    matched: np.ndarray
    total: np.ndarray
    precisions: np.ndarray
    lengths: tuple[int, int]
    brevity: float
    bleu: float
    rouge: np.ndarray
