"""What word vectors are trained on: the pairs of one text as they are drawn, and how often words occur near two others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.word_vectors import ids_of
from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.models.vectors import StaticModel
from explorer.records import Drawn, Ratios
from explorer.text.cooccurrence import WINDOW, CountedExamples, negatives, windows, within
from explorer.text.examples import Example

ENOUGH = 5.0  # the ratio of a word that occurs near a pair more rarely says little


@checked
def skipgrams(model: StaticModel, text: str, counted: CountedExamples, *, seed: int = 0) -> Drawn:
    """The pairs of one text as word2vec draws them for one step, where words are as frequent as in `counted`.

    >>> model = ex.load("word2vec")
    >>> read = ex.text.counted_examples(ex.microworld.texts(50, 1), model.tokenizer)
    >>> ex.analysis.skipgrams(model, "A dog ran.", read).model
    'word2vec'
    """
    if not isinstance(text, str) or not text.strip():
        raise TextError("The text is empty. Give at least one word.")
    if model.config.counts:
        raise ChoiceError(f"{model.name} is fitted to counts, it never draws pairs. Give a word2vec.")
    model.tokens(text)  # raises an error where the text is too long
    tokens = model.tokenizer.encode(text, special=False)
    rng, ids = np.random.default_rng((seed, 6)), tokens.ids.astype(np.int64)
    places, wide = windows(counted.keep_probability[ids], rng)
    middle, near = within(wide, np.zeros_like(wide))
    pairs = np.stack((places[middle], places[near]), axis=1)
    window = np.zeros(len(ids), np.int64)
    window[places] = wide
    others = negatives(counted, len(pairs), rng)
    noise = np.diff(counted.noise_cdf, prepend=0.0)
    return Drawn(
        model.name,
        tokens,
        (counted.counts / counted.counts.sum())[ids],
        noise[ids],
        counted.keep_probability[ids],
        window,
        pairs,
        tuple(tuple(model.tokenizer.text_of(int(n)) for n in row) for row in others),
        _pair_probabilities(model, ids[pairs[:, 0]], np.hstack((ids[pairs[:, 1:]], others))),
    )


def _pair_probabilities(model: StaticModel, middle: np.ndarray, near: np.ndarray) -> np.ndarray:
    """σ(w·c) of every centre word with each word of its row [pair, word]."""
    w, c = tables(model)
    return 1 / (1 + np.exp(-np.einsum("pd,pnd->pn", w[middle], c[near])))


def tables(model: StaticModel) -> tuple[np.ndarray, np.ndarray]:
    """Both vectors of every word [word, dim]: as the centre word, and as a context word."""
    module = model.module
    return tuple(part.weight.detach().double().cpu().numpy() for part in (module.words, module.near))  # type: ignore[return-value]


def near_counts(stories: Sequence[Example], ids: Sequence[int], size: int) -> np.ndarray:
    """How often every word occurs within five positions of each of these [id, word]; each time counts 1/distance, as in GloVe."""
    gap = np.full(WINDOW, -1)
    flat = np.concatenate([gap, *(part for story in stories for part in (story.ids, gap))])
    counts = np.zeros((len(ids), size))
    for row, number in enumerate(ids):
        at = np.flatnonzero(flat == number)
        for step in range(1, WINDOW + 1):
            beside = np.concatenate((flat[at + step], flat[at[at >= step] - step]))
            counts[row] += np.bincount(beside[beside >= 0], minlength=size) / step
    return counts


@checked
def count_ratios(model: StaticModel, a: str, b: str, stories: Sequence[Example], *, many: int = 3) -> Ratios:
    """The words whose ratio P(k | a) / P(k | b) is largest, smallest, and near 1, counted in `stories` and as the vectors have it.

    >>> glove = ex.load("glove")
    >>> read = ex.text.counted_examples(ex.microworld.texts(1000, 1), glove.tokenizer)
    >>> ex.analysis.count_ratios(glove, "he", "she", read).pair
    ('he', 'she')
    """
    if a == b:
        raise ChoiceError(f"Both words are {a!r}. Give two different words.")
    numbers = ids_of(model, (a, b))
    counts = near_counts(stories, numbers, model.tokenizer.vocabulary.size)
    totals = counts.sum(1, keepdims=True)
    usable = (counts.min(0) > 0) & (counts.max(0) >= ENOUGH)
    usable[[*model.tokenizer.vocabulary.special, *numbers]] = False
    known = [n for n in np.flatnonzero(usable) if model.tokenizer.text_of(int(n)).isalpha()]
    if len(known) < 4 * many:
        raise ChoiceError(
            f"Only {len(known)} words occur near both {a!r} and {b!r} in these texts. Choose two that are more frequent."
        )
    chances = counts / totals.clip(1e-12)
    check_whole("many", many, 1)
    chosen = _chosen(chances[:, known], many)
    words = [known[n] for n, _ in chosen]
    log_ratio = _log_ratio(model, (numbers[0], numbers[1]), totals[:, 0])
    real = np.log(chances[0, known] / chances[1, known])
    alike = float(np.corrcoef(real, log_ratio[known])[0, 1])
    named = tuple(model.tokenizer.text_of(int(n)) for n in words)
    kinds = tuple(kind for _, kind in chosen)
    return Ratios(
        model.name, (a, b), named, kinds, counts[:, words], chances[:, words], np.exp(log_ratio[words]), alike, len(known), len(stories)
    )  # fmt: skip


KINDS = ("near the first", "near the second", "often near both", "rarely near both")


def _chosen(chances: np.ndarray, many: int) -> list[tuple[int, str]]:
    """So many words of each kind, none twice: largest and smallest ratio; of those near 1 the most and the least frequent."""
    ratio, together = np.log(chances[0] / chances[1]), np.log(chances).sum(0)
    order = [*np.argsort(-ratio, kind="stable")[:many], *np.argsort(ratio, kind="stable")[:many]]
    even = [n for n in np.argsort(np.abs(ratio), kind="stable") if n not in order][: max(2 * many, len(ratio) // 4)]
    by_chance = sorted(even, key=lambda n: -together[n])
    order += [*by_chance[:many], *by_chance[-many:]]
    return [(int(n), KINDS[place // many]) for place, n in enumerate(order)]


def _log_ratio(model: StaticModel, pair: tuple[int, int], totals: np.ndarray) -> np.ndarray:
    """log P(k | a) / P(k | b) computed from the vectors, for every word k: (w_a − w_b)·w̃_k, with GloVe's biases in place of log
    X.
    """
    w, c = tables(model)
    a, b = pair
    log_ratio: np.ndarray = c @ (w[a] - w[b])
    if model.module.word_bias is not None:
        bias = model.module.word_bias.weight.detach().double().cpu().numpy()[:, 0]
        log_ratio = log_ratio + bias[a] - bias[b] - np.log(totals[0] / totals[1])
    return log_ratio
