"""The states of all words of some texts in every layer of a model, and how alike the layers of two models are by them (CKA)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from explorer.analysis.word_contexts import states_of
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.microworld import Story
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.elmo import ElmoModel
from explorer.models.model import Model, check_eval_mode
from explorer.records import LayerLikeness, WordStates

WORD = re.compile(r"\w+|[^\w\s]")
Word = tuple[int, int, str]  # its first letter, the one after its last, its kind


@cache_policy(CachePolicy(on_disk=True))
@checked
def word_states(model: Model | ElmoModel, texts: Sequence[str | Story]) -> WordStates:
    """The state of every word of some texts in every layer: the mean over the tokens of the word. Texts with gold labels give each word
    its part of speech. A text that the model cannot read whole is left out.

    >>> made = ex.analysis.word_states(ex.load("bert"), ["A dog ran.", "It was tired."])
    >>> made.words, made.vectors.shape
    (('A', 'dog', 'ran', '.', 'It', 'was', 'tired', '.'), (5, 8, 128))
    """
    read = _readable((model,), texts)
    vectors, kept = _states((model,), read)
    words = [(text[begin:end], kind, number) for number, (text, spans) in enumerate(read) for begin, end, kind in spans]
    texts_of_words, kinds, numbers = zip(*(word for word, keep in zip(words, kept, strict=True) if keep), strict=True)
    return WordStates(
        model.name, tuple(text for text, _ in read), texts_of_words, kinds, np.array(numbers), vectors[0].astype(np.float32)
    )


@cache_policy(CachePolicy(on_disk=True))
@checked
def cka(first: Model | ElmoModel, second: Model | ElmoModel, texts: Sequence[str | Story], *, seed: int = 0) -> LayerLikeness:
    """Linear centred kernel alignment (CKA) of each layer of one model with each layer of another over the words of some texts
    (Kornblith et al. 2019): 1 where the states differ only by a rotation and a scale, 0 where they have nothing in common.

    `chance` is the same after the words of the second model were exchanged at random.

    >>> bert = ex.load("bert")
    >>> made = ex.analysis.cka(bert, bert, ["A dog ran.", "It was tired."])
    >>> [round(float(value), 4) for value in made.likeness.diagonal()]
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    models = (first, second)
    read = _readable(models, texts)
    (ours, theirs), kept = _states(models, read)
    if kept.sum() < 3:
        raise TextError("CKA compares words, and there are fewer than three. Give more text.")
    order = np.random.default_rng((seed, 7)).permutation(int(kept.sum()))
    return LayerLikeness(
        (first.name, second.name),
        len(read),
        int(kept.sum()),
        *cka_of_layers(ours, theirs, order),
    )


def cka_of_layers(ours: np.ndarray, theirs: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The CKA of each layer [layer, word, dim] with each other one, and with its words in another order: what belongs to one layer is
    computed once.
    """
    xs, ys = ([_centred(states) for states in side] for side in (ours, theirs))
    scale = np.outer([_size(x) for x in xs], [_size(y) for y in ys])
    with np.errstate(invalid="ignore"):
        alike, chance = (
            np.array([[np.linalg.norm(y[way].T @ x) ** 2 for y in ys] for x in xs]) / scale for way in (slice(None), order)
        )
    return alike, chance


def _centred(states: np.ndarray) -> np.ndarray:
    """Each feature around its mean."""
    return np.asarray(states, np.float64) - np.asarray(states, np.float64).mean(0)


def _size(centred: np.ndarray) -> float:
    """‖XᵀX‖."""
    return float(np.linalg.norm(centred.T @ centred))


def _readable(models: Sequence[Model | ElmoModel], texts: Sequence[str | Story]) -> list[tuple[str, list[Word]]]:
    """The texts that all models can read whole, each with its words."""
    for model in models:
        if not hasattr(model, "tokens"):
            raise ChoiceError(f"This takes a model, for example ex.load('bert'); this is {type(model).__name__}.")
        check_eval_mode(model.module, model.name)
    readable = []
    for text in texts:
        if not isinstance(text, (str, Story)):
            raise TextError(f"A text must be a text or a story with labels; this is {type(text).__name__}.")
        written = text if isinstance(text, str) else text.text
        words = [(*match.span(), "") for match in WORD.finditer(written)] if isinstance(text, str) else _labelled(text)
        if words and all(_fits(model, written) for model in models):
            readable.append((written, words))
    if not readable:
        raise TextError("None of the texts holds a word and can be read whole. Give shorter ones, of a few sentences.")
    return readable


def _labelled(story: Story) -> list[Word]:
    return [(word.start, word.end, word.pos) for word in story.words]


def _fits(model: Model | ElmoModel, text: str) -> bool:
    try:
        model.tokens(text)
    except TextError:
        return False
    return True


def _states(models: Sequence[Model | ElmoModel], read: Sequence[tuple[str, list[Word]]]) -> tuple[list[np.ndarray], np.ndarray]:
    """The states of every word in every layer of each model [layer, word, dim], and which words all models have tokens of."""
    each = {  # a model beside itself reads once
        id(model): np.concatenate(
            [_of_text(model, *entry) for entry in with_progress(read, f"Reading with {model.name}")], axis=1
        )
        for model in {id(entry): entry for entry in models}.values()
    }
    stacks = [each[id(model)] for model in models]
    kept = np.all([~np.isnan(states[0]).any(-1) for states in stacks], axis=0)
    if not kept.any():
        raise TextError("No word of these texts is one token. Give other texts.")
    return [states[:, kept] for states in stacks], kept


def _of_text(model: Model | ElmoModel, text: str, words: Sequence[Word]) -> np.ndarray:
    """The state of each word of one text [layer, word, dim], the mean over its tokens; NaN where a word has none."""
    tokens = model.tokens(text)
    states = (model.layers([tokens])[0] if isinstance(model, ElmoModel) else states_of(model, text)).astype(np.float64)
    vectors = np.full((len(states), len(words), states.shape[-1]), np.nan)
    spans, real = np.array(tokens.offsets).reshape(-1, 2), ~np.array(tokens.special)
    for number, (begin, end, _) in enumerate(words):
        inside = real & (spans[:, 0] < end) & (spans[:, 1] > begin)
        if inside.any():
            vectors[:, number] = states[:, inside].mean(1)
    return vectors
