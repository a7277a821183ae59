"""What masked models say at hidden places: one alone, SpanBERT from two sides, ELECTRA of replaced pieces, a student and its teacher."""

from __future__ import annotations

import numpy as np
import torch

from explorer.corruption.prediction import Sampler
from explorer.corruption.strategies import corrupt
from explorer.errors import ChoiceError
from explorer.model import OwnModel, Text, check_settled
from explorer.nn.heads import borders
from explorer.objectives import TEMPERATURE
from explorer.records import Copied, Corruption, Detection, Guess, SpanGuess, log_softmax, softmax


def guess(model: OwnModel, corruption: Corruption, *, top: int = 5) -> Guess:
    """Let a masked model read a corruption that keeps every piece at its place, such as mlm's."""
    _check_guessable(model, corruption, top)
    shares = softmax(model.logits(corruption.source))
    best, texts = _likeliest(shares, model, top)
    truth = shares[np.arange(len(shares)), corruption.original.ids]
    return Guess(model.name, corruption, texts, best, truth)


@torch.no_grad()
def guess_spans(model: OwnModel, corruption: Corruption, *, top: int = 3) -> SpanGuess:
    """The same for SpanBERT's two heads at once, at the hidden places only: at each place itself, and from the span's boundaries."""
    _check_guessable(model, corruption, top)
    head, scored, source = model.module.span_boundary, corruption.scored, model.tokens(corruption.source)
    if head is None:
        raise ChoiceError(f"{model.name} has no head for span boundaries. Take spanbert.")
    if not scored.any() or scored[0] or scored[-1]:
        raise ChoiceError(
            "A hidden span needs a piece on both sides. Hide something, between [CLS] and [SEP] or inside the text."
        )
    check_settled(model.module, model.name)
    ids, covered, parts = (torch.as_tensor(np.array([x]), device=model.device) for x in (source.ids, scored, source.segments))
    hidden, where = model.module(ids, parts if model.config.segments else None), covered[0].nonzero()[:, 0]
    both = (model.module.head(hidden[0, where]), head(hidden, covered, where, model.module.embeddings.tokens.weight))
    shares = [softmax(said.float().cpu().numpy()) for said in both]
    places, answers = np.flatnonzero(scored), corruption.original.ids[scored]
    best, texts = zip(*(_likeliest(one, model, top) for one in shares), strict=True)
    left, right = (side[0].cpu().numpy()[places] for side in borders(covered)[:2])
    truth = np.stack([one[np.arange(len(places)), answers] for one in shares])
    return SpanGuess(model.name, corruption, places, left, right, texts, np.stack(best), truth)


def _likeliest(shares: np.ndarray, model: OwnModel, top: int) -> tuple[np.ndarray, tuple[tuple[str, ...], ...]]:
    """The largest probabilities of each row [row, rank], and the pieces that have them."""
    best = np.argsort(-shares, axis=1, kind="stable")[:, :top]
    texts = tuple(tuple(model.tokenizer.text_of(i) for i in row) for row in best)
    return np.take_along_axis(shares, best, axis=1), texts


def _check_guessable(model: OwnModel, corruption: Corruption, top: int) -> None:
    """Refuse a model that fills no blanks, and a corruption whose places have no answer."""
    vocabulary = model.tokenizer.vocabulary
    if model.family != "encoder" or vocabulary.mask is None:
        raise ChoiceError(f"Guessing at a blank needs a masked model, such as bert; {model.name} is an {model.family}.")
    if corruption.target is not None or len(corruption.source) != len(corruption.original):
        raise ChoiceError(f"{corruption.strategy} moves pieces or writes a new text, so places have no answer. Use mlm.")
    if not 1 <= top <= vocabulary.size:
        raise ChoiceError(f"top={top!r} must be a whole number from 1 to {vocabulary.size}.")


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


def copied(teacher: OwnModel, student: OwnModel, corruption: Corruption, *, top: int = 5) -> Copied:
    """Let a teacher and its student read the same corruption; as they are, and as flat as the student learns from."""
    for model in (teacher, student):
        _check_guessable(model, corruption, top)
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
