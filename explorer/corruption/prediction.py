"""Where nothing is hidden but what comes next, and where pieces are exchanged for likely ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from explorer.corruption.rows import MASKED, REPLACED, SCORED, Corrupted, Rows, budget, drawn, ordinary
from explorer.errors import ChoiceError
from explorer.records import Vocabulary

Sampler = Callable[[np.ndarray, np.ndarray], np.ndarray]  # ids with masks, and where: a piece for every place


def causal(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator) -> Corrupted:
    """Nothing is hidden: every piece but the first is predicted from those before it."""
    return Corrupted(rows, _after(rows, np.ones(len(rows.ids), np.int64)))


def prefix(rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator) -> Corrupted:
    """The text is cut at a random place: the model sees the first part as a whole and predicts the rest."""
    count = rows.real.sum(axis=1)
    cut = 1 + np.floor(chance.random(len(count)) * np.maximum(count - 1, 1)).astype(np.int64)
    return Corrupted(rows, _after(rows, cut), labels={"prefix": cut})


def _after(rows: Rows, cut: np.ndarray) -> np.ndarray:
    return rows.real & (np.arange(rows.ids.shape[1]) >= cut[:, None])


def electra(
    rows: Rows, vocabulary: Vocabulary, chance: np.random.Generator, *, rate: float = 0.15, sample: Sampler | None = None
) -> Corrupted:
    """Some pieces are replaced by what a small generator finds likely there; for every piece: is it the original?

    `sample` is the generator; without one, pieces are drawn evenly from the vocabulary. A draw that happens to be the
    original counts as original.
    """
    chosen = drawn(rows.free, budget(rows.free, rate), chance)
    if sample is None:
        new = chance.choice(ordinary(vocabulary), chosen.shape)
    else:
        if vocabulary.mask is None:
            raise ChoiceError("A generator fills masks, so the tokenizer needs a mask piece.")
        new = np.asarray(sample(rows.changed(chosen, vocabulary.mask, MASKED).ids, chosen))
    made = rows.changed(chosen, np.where(chosen, new, rows.ids), SCORED)
    replaced = chosen & (made.ids != rows.ids)
    made = made.changed(replaced, made.ids, REPLACED)
    return Corrupted(made, rows.free, labels={"rtd": replaced.astype(np.int64)})
