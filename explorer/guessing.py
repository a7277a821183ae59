"""What a masked model says at the hidden places, beside its teacher too, and how it serves as ELECTRA's generator."""

from __future__ import annotations

import numpy as np

from explorer.corruption.prediction import Sampler
from explorer.errors import ChoiceError
from explorer.model import OwnModel
from explorer.objectives import TEMPERATURE
from explorer.records import Copied, Corruption, Guess, log_softmax, softmax


def guess(model: OwnModel, corruption: Corruption, *, top: int = 5) -> Guess:
    """Let a masked model read a corruption that keeps every piece at its place, such as mlm's."""
    check_places(model, corruption, top)
    shares = softmax(model.logits(corruption.source))
    best = np.argsort(-shares, axis=1, kind="stable")[:, :top]
    texts = tuple(tuple(model.tokenizer.text_of(i) for i in row) for row in best)
    truth = shares[np.arange(len(shares)), corruption.original.ids]
    return Guess(model.name, corruption, texts, np.take_along_axis(shares, best, axis=1), truth)


def check_places(model: OwnModel, corruption: Corruption, top: int) -> None:
    """Refuse what has no answer at each place, and who cannot give one."""
    vocabulary = model.tokenizer.vocabulary
    if model.family != "encoder" or vocabulary.mask is None:
        raise ChoiceError(f"Guessing at a blank needs a masked model, such as bert; {model.name} is an {model.family}.")
    if corruption.target is not None or len(corruption.source) != len(corruption.original):
        raise ChoiceError(f"{corruption.strategy} moves pieces or writes a new text, so places have no answer. Use mlm.")
    if not 1 <= top <= vocabulary.size:
        raise ChoiceError(f"top={top!r} must be a whole number from 1 to {vocabulary.size}.")


def copied(teacher: OwnModel, student: OwnModel, corruption: Corruption, *, top: int = 5) -> Copied:
    """Let a teacher and its student read the same corruption; as they are, and as flat as the student learns from."""
    for model in (teacher, student):
        check_places(model, corruption, top)
    if teacher.tokenizer.core.to_str() != student.tokenizer.core.to_str():
        raise ChoiceError(f"{teacher.name} and {student.name} have different tokenizers, so their answers cannot be compared.")
    scores = np.stack([model.logits(corruption.source).astype(np.float64) for model in (teacher, student)])
    logp = np.stack([log_softmax(scores / temperature) for temperature in (1.0, TEMPERATURE)])  # [T, who, place, vocab]
    shares = np.exp(logp)
    best = np.argsort(-shares[0].sum(0), axis=1, kind="stable")[:, :top]
    texts = tuple(tuple(teacher.tokenizer.text_of(i) for i in row) for row in best)
    gap = (shares[:, 0] * (logp[:, 0] - logp[:, 1])).sum(-1)
    shown = np.take_along_axis(shares, best[None, None], axis=-1)
    return Copied((teacher.name, student.name), corruption, texts, (1.0, TEMPERATURE), shown, gap)


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
