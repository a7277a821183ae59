"""What a masked model says at the hidden places, how it serves as ELECTRA's generator, and what ELECTRA then finds."""

from __future__ import annotations

import numpy as np

from explorer.corruption.prediction import Sampler
from explorer.corruption.strategies import corrupt
from explorer.errors import ChoiceError
from explorer.model import OwnModel, Text
from explorer.records import Corruption, Detection, Guess, softmax


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


def detect(model: OwnModel, text: Text, *, seed: int = 0, rate: float = 0.15) -> Detection:
    """Let a model's own generator replace some pieces of a text, and the model say of every piece whether it was replaced."""
    if not isinstance(model, OwnModel) or model.generator is None:
        raise ChoiceError(
            "Finding what was replaced needs a model with a generator, such as ex.load('electra'); a checkpoint that was opened "
            "from elsewhere comes without one."
        )
    tokens = model.tokens(text)
    made = corrupt(tokens, "electra", tokenizer=model.tokenizer, seed=seed, rate=rate, sample=generator(model.generator, seed))
    scores = model.outputs(made.source)["rtd"].astype(np.float64)
    return Detection(model.name, made, 1 / (1 + np.exp(-scores)))


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
