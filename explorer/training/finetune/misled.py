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
    texts = [one.text for one in drawn]
    near, far = (shared_words(texts, said) for said in ([one.same for one in drawn], [one.another for one in drawn]))
    wrong = [one for one, same, another in zip(drawn, near, far, strict=True) if another > same]
    kinds = dict.fromkeys(one.kind for one in wrong)
    each = [[one for one in wrong if one.kind == kind][: -(-many // len(kinds))] for kind in kinds]
    return [one for row in zip(*each, strict=True) for one in row][:many]


def as_pairs(found: Sequence[Misleading]) -> Pairs:
    """Two pairs of each: with the same event (1) and with the other (0)."""
    first = tuple(one.text for one in found for _ in range(2))
    second = tuple(said for one in found for said in (one.same, one.another))
    return Pairs(first, second, np.tile([1.0, 0.0], len(found)))
