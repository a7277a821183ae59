"""Where nothing is hidden but what comes next, and where tokens are exchanged for likely ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from explorer.corruption.rows import MASKED, REPLACED, SCORED, Corrupted, Rows, chosen_count, drawn, ordinary
from explorer.corruption.strategy import CorruptionStrategy
from explorer.errors import ChoiceError
from explorer.records import Vocabulary

Sampler = Callable[[np.ndarray, np.ndarray], np.ndarray]  # ids with masks, and where: a token for every position


def causal(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator) -> Corrupted:
    """Nothing is hidden: every token but the first is predicted from those before it."""
    return Corrupted(rows, _after(rows, np.ones(len(rows.ids), np.int64)))


def prefix(rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator) -> Corrupted:
    """The text is cut at a random position: the model sees the first part as a whole and predicts the rest."""
    count = rows.attention_mask.sum(axis=1)
    cut = 1 + np.floor(rng.random(len(count)) * np.maximum(count - 1, 1)).astype(np.int64)
    return Corrupted(rows, _after(rows, cut), labels={"prefix": cut})


def _after(rows: Rows, cut: np.ndarray) -> np.ndarray:
    return rows.attention_mask & (np.arange(rows.ids.shape[1]) >= cut[:, None])


def electra(
    rows: Rows, vocabulary: Vocabulary, rng: np.random.Generator, *, rate: float = 0.15, sample: Sampler | None = None
) -> Corrupted:
    """Some tokens are replaced by what a small generator finds likely there; for every token: is it the original?

    `sample` is the generator; without one, tokens are drawn evenly from the vocabulary. A draw that happens to be the
    original counts as original.
    """
    chosen = drawn(rows.free, chosen_count(rows.free, rate), rng)
    if sample is None:
        new = rng.choice(ordinary(vocabulary), chosen.shape)
    else:
        if vocabulary.mask is None:
            raise ChoiceError("A generator fills masks, so the tokenizer needs a mask token.")
        new = np.asarray(sample(rows.changed(chosen, vocabulary.mask, MASKED).ids, chosen))
    source = rows.changed(chosen, np.where(chosen, new, rows.ids), SCORED)
    replaced = chosen & (source.ids != rows.ids)
    source = source.changed(replaced, source.ids, REPLACED)
    return Corrupted(source, rows.free, labels={"rtd": replaced.astype(np.int64)})


ONWARD: dict[str, CorruptionStrategy] = {
    "causal": CorruptionStrategy(
        causal,
        about="**GPT.** The text is left as it is. What is hidden is the future: each token is predicted from those before it.",
    ),
    "prefix": CorruptionStrategy(
        prefix, about="**Prefix LM.** The first part is read in both directions, the rest is predicted from left to right."
    ),
}
DETECTION: dict[str, CorruptionStrategy] = {
    "electra": CorruptionStrategy(
        electra,
        about="**ELECTRA.** A small generator replaces the hidden tokens by tokens drawn from its predictions. For *every* token the model "
        "predicts whether it is the original. Where the generator drew the original, it counts as original. On this page the model that "
        "you chose is the generator.",
        needs=("mask",),
    )
}
