"""Words as ELMo reads them: by their letters, written as UTF-8 bytes.

The numbers are those of the published model: 0 is nothing, 1 to 256 are the bytes, 257 and 258 begin and end a sentence, 259 and 260
begin and end a word, and 261 pads to fifty.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

WIDTH = 50
SENTENCE = {"<S>": 257, "</S>": 258}
BEGIN, END, FILL = 259, 260, 261


def letters(words: Sequence[str]) -> np.ndarray:
    """One row of fifty numbers for each word; longer words are cut, and padding is all zeros."""
    rows = np.full((len(words), WIDTH), FILL, dtype=np.int64)
    for row, word in zip(rows, words, strict=True):
        if word in ("<PAD>", "<pad>"):
            row[:] = 0
            continue
        inside = [SENTENCE[word]] if word in SENTENCE else [byte + 1 for byte in word.encode("utf-8")[: WIDTH - 2]]
        row[: len(inside) + 2] = [BEGIN, *inside, END]
    return rows  # [position, letter]
