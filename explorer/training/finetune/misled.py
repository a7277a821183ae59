"""Sentences for which counting shared words chooses wrongly, as questions and as pairs to learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.microworld.derived.misleading import Misleading, misleading
from explorer.training.finetune.sentences import shared_words
from explorer.training.finetune.siamese import Pairs

DRAWN = 3  # so many are drawn for each that is wanted: in some the same event shares more words


def misled(many: int, seed: int, split: str = "train") -> list[Misleading]:
    """`many` sentences, of both kinds in turn, whose words are shared more by another event than by the same one."""
    drawn = list(misleading(DRAWN * many, seed, split))
    texts = [pair.text for pair in drawn]
    near, far = (
        shared_words(texts, partners) for partners in ([pair.same for pair in drawn], [pair.another for pair in drawn])
    )
    wrong = [pair for pair, same, another in zip(drawn, near, far, strict=True) if another > same]
    kinds = dict.fromkeys(pair.kind for pair in wrong)
    each = [[pair for pair in wrong if pair.kind == kind][: -(-many // len(kinds))] for kind in kinds]
    return [pair for row in zip(*each, strict=True) for pair in row][:many]


def as_pairs(misleading: Sequence[Misleading]) -> Pairs:
    """Two pairs of each: with the same event (1) and with the other (0)."""
    first = tuple(pair.text for pair in misleading for _ in range(2))
    second = tuple(partner for pair in misleading for partner in (pair.same, pair.another))
    return Pairs(first, second, np.tile([1.0, 0.0], len(misleading)))
