"""What an n-gram model predicts, and which runs of tokens it counted that for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class BackOff(Record):
    """The most probable next tokens after every position of a text, each probability as a sum over contexts of every length.

    `texts` [position][rank] are the tokens, `parts` [position, rank, source] what each source adds to their probability: source 0 is
    1 / vocabulary, source n the n-grams, whose context has n − 1 tokens. `shares` [position, source] are the same sums over the whole
    vocabulary, and `known` [position] is how many tokens the longest context has that was counted. `truth` [position] is the probability
    of the token that follows, NaN at the last position.
    """

    model: str
    tokens: Tokens
    texts: tuple[tuple[str, ...], ...]
    parts: np.ndarray
    shares: np.ndarray
    known: np.ndarray
    truth: np.ndarray
