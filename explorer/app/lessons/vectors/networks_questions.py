"""One pair of words in word2vec's network and in GloVe's table: what the page says, and what to guess."""

from __future__ import annotations

from explorer.app.prose import prose
from explorer.records import Exercise, SkipgramNetwork

PAIR, CELL = ("coffee", "drank"), ("he", "his")


def used_question(record: SkipgramNetwork) -> Exercise:
    """How many weights of W one centre word uses."""
    size, dim = record.size, record.vectors.shape[1]
    return prose("vectors").question("used question", 0, dim=dim, size=size, weights=size * dim, record=record)
