"""What a masked model says at the hidden places, and how it serves as ELECTRA's generator."""

from __future__ import annotations

import numpy as np

from explorer.corruption.prediction import Sampler
from explorer.errors import ChoiceError
from explorer.model import OwnModel
from explorer.records import Corruption, Guess, softmax


def guess(model: OwnModel, corruption: Corruption, *, top: int = 5) -> Guess:
    """Let a masked model read a corruption that keeps every piece at its place, such as mlm's."""
    vocabulary = model.tokenizer.vocabulary
    if model.family != "encoder" or vocabulary.mask is None:
        raise ChoiceError(f"Guessing at a blank needs a masked model, such as bert; {model.name} is an {model.family}.")
    if corruption.target is not None or len(corruption.source) != len(corruption.original):
        raise ChoiceError(f"{corruption.strategy} moves pieces or writes a new text, so places have no answer. Use mlm.")
    if not 1 <= top <= vocabulary.size:
        raise ChoiceError(f"top={top!r} must be a whole number from 1 to {vocabulary.size}.")
    shares = softmax(model.logits(corruption.source))
    best = np.argsort(-shares, axis=1, kind="stable")[:, :top]
    texts = tuple(tuple(model.tokenizer.text_of(i) for i in row) for row in best)
    truth = shares[np.arange(len(shares)), corruption.original.ids]
    return Guess(model.name, corruption, texts, np.take_along_axis(shares, best, axis=1), truth)


def generator(model: OwnModel, seed: int = 0) -> Sampler:
    """A masked model as ELECTRA's generator: at every mask a piece drawn by its probabilities. For `sample=` of "electra"."""
    if model.family != "encoder":
        raise ChoiceError(f"A generator fills masks, so it must be a masked model; {model.name} is an {model.family}.")
    chance = np.random.default_rng(seed)
    special = list(model.tokenizer.vocabulary.special)

    def sample(ids: np.ndarray, where: np.ndarray) -> np.ndarray:
        """A piece for every place that is asked for; elsewhere what stands there."""
        drawn = ids.copy()
        for row, asked in enumerate(where):
            shares = softmax(model.logits(ids[row].tolist()))
            shares[:, special] = 0  # a generator writes text, no marks
            for place in np.flatnonzero(asked):
                drawn[row, place] = chance.choice(shares.shape[1], p=shares[place] / shares[place].sum())
        return drawn

    return sample
