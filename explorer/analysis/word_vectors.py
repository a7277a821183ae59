"""The nearest neighbours of a word, and of b − a + c, among the word vectors of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.models.model import Model
from explorer.models.vectors import StaticModel
from explorer.records import Neighbours, Plane
from explorer.text.tokenizers import check_text

LONGEST = 40  # letters of a word in a message


def unit(model: object) -> np.ndarray:
    """Every word's vector with length 1 [word, dim]; special tokens have none."""
    if not isinstance(model, StaticModel):
        raise ChoiceError(f"This needs word vectors, for example ex.fit('word2vec'); this is {type(model).__name__}.")
    vectors = model.vectors.astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    vectors[list(model.tokenizer.vocabulary.special)] = 0
    return vectors


def ids_of(model: StaticModel, words: Sequence[str]) -> list[int]:
    """The numbers of words, each of which must have a vector."""
    special = model.tokenizer.vocabulary.special
    ids = [model.tokenizer.core.token_to_id(check_text(word)) for word in words]
    for word, number in zip(words, ids, strict=True):
        if number is None or number in special:
            short = word if len(word) <= LONGEST else f"{word[:LONGEST]}…"
            raise ChoiceError(f"{model.name} has no vector for {short!r}: it did not occur in training, or too rarely.")
    return [number for number in ids if number is not None]


@checked
def neighbours(model: StaticModel, word: str, *, top: int = 10) -> Neighbours:
    """The nearest neighbours of a word by cosine similarity.

    >>> len(ex.analysis.neighbours(ex.load("word2vec"), "king", top=5).words)
    5
    """
    vectors = unit(model)
    (number,) = ids_of(model, [word])
    return _nearest(model, (word,), vectors @ vectors[number], [number], top)


@checked
def analogy(model: StaticModel, a: str, b: str, c: str, *, top: int = 10, forbid: bool = True) -> Neighbours:
    """a is to b as c is to …: the nearest neighbours of b − a + c (all of length 1), by cosine.

    By convention none of the three words may be the answer; `forbid=False` lets them.

    >>> ex.analysis.analogy(ex.load("word2vec"), "he", "she", "king", top=3).words.__len__()
    3
    """
    vectors, numbers = unit(model), ids_of(model, (a, b, c))
    wanted = vectors[numbers[1]] - vectors[numbers[0]] + vectors[numbers[2]]
    wanted /= np.linalg.norm(wanted).clip(1e-12)
    return _nearest(model, (a, b, c), vectors @ wanted, numbers if forbid else [], top)


@checked
def plane(model: StaticModel, pairs: Sequence[tuple[str, str]], *, relation: str = "") -> Plane:
    """Pairs of words on the first two principal components of their vectors (of length 1).

    >>> pairs = [("he", "she"), ("king", "queen")]
    >>> ex.analysis.plane(ex.load("word2vec"), pairs).words
    ('he', 'she', 'king', 'queen')
    """
    words = tuple(dict.fromkeys(word for pair in pairs for word in pair))
    if len(words) < 3:
        raise ChoiceError(f"A plane needs at least three words; there are {len(words)}.")
    apart = unit(model)[ids_of(model, words)]
    apart -= apart.mean(0)
    u, s, _ = np.linalg.svd(apart, full_matrices=False)
    links = tuple((words.index(a), words.index(b)) for a, b in pairs)
    return Plane(model.name, relation, words, (u * s)[:, :2], s[:2] ** 2 / np.square(s).sum().clip(1e-12), links)


@checked
def two_uses(model: Model, word: str, texts: tuple[str, str]) -> np.ndarray:
    """The cosine between the vectors of one word in two texts, layer by layer; a word vector has one layer and no context.

    >>> ex.analysis.two_uses(ex.load("word2vec"), "dog", ("A dog ran.", "The dog slept.")).shape
    (1,)
    """
    vectors = []
    for text in texts:
        traced = trace(model, text)
        places = [n for n, (begin, end) in enumerate(traced.source.offsets) if text[begin:end].strip() == word]
        if not places:
            raise TextError(f"{model.name} reads no token {word!r} in {text!r}. Give a text in which it is a token.")
        vectors.append(next(iter(traced.hidden.values()))[:, places[0]].astype(np.float64))
    first, other = (x / np.linalg.norm(x, axis=1, keepdims=True).clip(1e-12) for x in vectors)
    return np.asarray((first * other).sum(1))


def _nearest(
    model: StaticModel, given: tuple[str, ...], likeness: np.ndarray, forbidden: Sequence[int], top: int
) -> Neighbours:
    """The most similar words, without special tokens and without those that are forbidden."""
    open_to = likeness.copy()
    open_to[[*model.tokenizer.vocabulary.special, *forbidden]] = -np.inf
    best = np.argsort(-open_to, kind="stable")[: min(top, int(np.isfinite(open_to).sum()))]
    return Neighbours(model.name, given, tuple(model.tokenizer.text_of(n) for n in best), likeness[best])
