"""What masked language models predict: at hidden positions, SpanBERT from two sides, ELECTRA for replaced tokens, a student and
its teacher.
"""

from __future__ import annotations

import numpy as np
import torch

from explorer.corruption.prediction import Sampler
from explorer.corruption.strategies import corrupt
from explorer.errors import ChoiceError, an, check_seed
from explorer.errors.kinds import checked
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.model import check_eval_mode
from explorer.models.top_tokens import top_tokens
from explorer.models.transformer import TransformerModel
from explorer.nn.heads import borders
from explorer.nn.losses import TEMPERATURE
from explorer.records import Copied, Corruption, Detection, Guess, SpanGuess, log_softmax, softmax
from explorer.text.reading import Text


@checked
def guess(model: TransformerModel, corruption: Corruption, *, top: int = 5) -> Guess:
    """Let a masked language model predict a corruption that keeps every token at its position, such as mlm's.

    >>> bert = ex.load("bert")
    >>> found = ex.guess(bert, ex.hide("A dog ran.", ["dog"], tokenizer=bert.tokenizer))
    >>> len(found.texts[2])
    5
    """
    _check_guessable(model, corruption, top)
    shares = softmax(model.logits(corruption.source))
    best, texts = _likeliest(shares, model, top)
    truth = shares[np.arange(len(shares)), corruption.original.ids]
    return Guess(model.name, corruption, texts, best, truth)


@checked
@torch.no_grad()
def guess_spans(model: TransformerModel, corruption: Corruption, *, top: int = 3) -> SpanGuess:
    """The same for SpanBERT's two output layers, at the hidden positions: from the position itself, and from the span's boundaries.

    >>> model = ex.load("spanbert")
    >>> hidden = ex.corrupt("A dog ran. It was red.", "spanbert", tokenizer=model.tokenizer, rate=0.3)
    >>> ex.analysis.guess_spans(model, hidden).model
    'spanbert'
    """
    _check_guessable(model, corruption, top)
    head, scored, source = model.module.span_boundary, corruption.scored, model.tokens(corruption.source)
    if head is None:
        raise ChoiceError(f"{model.name} has no output layer for span boundaries. Take spanbert.")
    if not scored.any() or scored[0] or scored[-1]:
        raise ChoiceError(
            "A hidden span needs a token on both sides. Hide something, between [CLS] and [SEP] or inside the text."
        )
    check_eval_mode(model.module, model.name)
    ids, covered, parts = (torch.as_tensor(np.array([x]), device=model.device) for x in (source.ids, scored, source.segments))
    hidden, where = model.module(ids, parts if model.config.segments else None), covered[0].nonzero()[:, 0]
    both = (model.module.head(hidden[0, where]), head(hidden, covered, where, model.module.embeddings.tokens.weight))
    shares = [softmax(scores.float().cpu().numpy()) for scores in both]
    places, answers = np.flatnonzero(scored), corruption.original.ids[scored]
    best, texts = zip(*(_likeliest(chances, model, top) for chances in shares), strict=True)
    left, right = (side[0].cpu().numpy()[places] for side in borders(covered)[:2])
    truth = np.stack([chances[np.arange(len(places)), answers] for chances in shares])
    return SpanGuess(model.name, corruption, places, left, right, texts, np.stack(best), truth)


def _likeliest(shares: np.ndarray, model: TransformerModel, top: int) -> tuple[np.ndarray, tuple[tuple[str, ...], ...]]:
    """The largest probabilities of each row [row, rank], and the tokens that have them."""
    best, texts = top_tokens(shares, top, model.tokenizer.text_of)
    return np.take_along_axis(shares, best, axis=1), texts


def _check_guessable(model: TransformerModel, corruption: Corruption, top: int) -> None:
    """Refuse a model that fills no blanks, and a corruption whose positions have no label."""
    vocabulary = model.tokenizer.vocabulary
    if model.family != "encoder" or vocabulary.mask is None:
        raise ChoiceError(f"Guessing at a blank needs a masked model, such as bert; {model.name} is {an(model.family)}.")
    if corruption.target is not None or len(corruption.source) != len(corruption.original):
        raise ChoiceError(f"{corruption.strategy} moves tokens or writes a new text, so positions have no label. Use mlm.")
    if not 1 <= top <= vocabulary.size:
        raise ChoiceError(f"top={top!r} must be a whole number from 1 to {vocabulary.size}.")


@checked
def detect(model: TransformerModel, text: Text, *, seed: int = 0, rate: float = 0.15) -> Detection:
    """Let a model's own generator replace some tokens of a text, and the model predict of every token whether it was replaced.

    >>> found = ex.detect(ex.load("electra"), "A dog ran. It was red.", rate=0.3)
    >>> len(found.chances) == len(found.corruption.source)
    True
    """
    if not isinstance(model, TransformerModel) or model.generator is None:
        raise ChoiceError(
            "Finding what was replaced needs a model with a generator, such as ex.load('electra'); a checkpoint that was opened "
            "from elsewhere comes without one."
        )
    tokens = model.tokens(text)
    corruption = corrupt(
        tokens, "electra", tokenizer=model.tokenizer, seed=seed, rate=rate, sample=generator(model.generator, seed)
    )
    scores = model.outputs(corruption.source)["rtd"].astype(np.float64)
    return Detection(model.name, corruption, 1 / (1 + np.exp(-scores)))


@checked
def teacher_and_student(
    teacher: TransformerModel, student: TransformerModel, corruption: Corruption, *, top: int = 5
) -> Copied:
    """Let a teacher and its student predict the same corruption, at temperature 1 and at the temperature of distillation.

    >>> teacher, student = ex.load("bert"), ex.load("distilbert")
    >>> hidden = ex.corrupt("A dog ran.", "mlm", tokenizer=student.tokenizer)
    >>> ex.analysis.teacher_and_student(teacher, student, hidden).names
    ('bert', 'distilbert')
    """
    for model in (teacher, student):
        _check_guessable(model, corruption, top)
    if teacher.tokenizer.core.to_str() != student.tokenizer.core.to_str():
        raise ChoiceError(f"{teacher.name} and {student.name} have different tokenizers, so their answers cannot be compared.")
    scores = np.stack([model.logits(corruption.source).astype(np.float64) for model in (teacher, student)])
    logp = np.stack([log_softmax(scores / temperature) for temperature in (1.0, TEMPERATURE)])  # [T, who, place, vocab]
    shares = np.exp(logp)
    best, texts = top_tokens(shares[0].sum(0), top, teacher.tokenizer.text_of)
    gap = (shares[:, 0] * (logp[:, 0] - logp[:, 1])).sum(-1)
    shown = np.take_along_axis(shares, best[None, None], axis=-1)
    return Copied((teacher.name, student.name), corruption, texts, (1.0, TEMPERATURE), shown, gap)


@cache_policy(CachePolicy(keeps=False))
@checked
def generator(model: TransformerModel, seed: int = 0) -> Sampler:
    """A masked model as ELECTRA's generator: at every mask a token drawn by its probabilities. For `sample=` of "electra".

    >>> bert = ex.load("bert")
    >>> made = ex.corrupt("A dog ran.", "electra", tokenizer=bert.tokenizer, sample=ex.analysis.generator(bert, seed=1))
    >>> "[MASK]" in made.source.texts
    False
    """
    if model.family != "encoder":
        raise ChoiceError(f"A generator fills masks, so it must be a masked model; {model.name} is {an(model.family)}.")
    rng = np.random.default_rng(check_seed(seed))
    special = list(model.tokenizer.vocabulary.special)

    def sample(ids: np.ndarray, where: np.ndarray) -> np.ndarray:
        """A sampled token for every requested position; elsewhere the given one."""
        drawn = ids.copy()
        for row, places in enumerate(where):
            shares = softmax(model.logits(ids[row].tolist()))
            shares[:, special] = 0  # a generator samples no special tokens
            for place in np.flatnonzero(places):
                drawn[row, place] = rng.choice(shares.shape[1], p=shares[place] / shares[place].sum())
        return drawn

    return sample
