"""Which words occur near each other: the pairs that word2vec is trained on, drawn for each step, and the counts that GloVe is
trained on, made once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from explorer.errors.kinds import called, checked
from explorer.text.examples import Example, prepared
from explorer.text.tokenizers import Tokenizer

WINDOW, NEGATIVES = 5, 5
POWER = 0.75  # negative samples are drawn by the frequencies to this power, so that rare words come more often
GUIDES = 1 << 16  # points on the cumulative distribution whose words are looked up once
SAMPLE = 1e-3  # word2vec often leaves out a word that makes up more than this share of the text


@called("the result of ex.text.counted_examples(…)")
class CountedExamples(list[Example]):
    """Stories, with the count of each word in all of them."""

    def __init__(self, stories: Sequence[Example], size: int) -> None:
        super().__init__(stories)
        self.size = size

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each word occurs [word]."""
        return np.bincount(np.concatenate([story.ids for story in self]), minlength=self.size)

    @cached_property
    def noise_cdf(self) -> np.ndarray:
        """The cumulative distribution from which negative samples are drawn [word]."""
        added = np.cumsum(self.counts**POWER)
        return added / added[-1]

    @cached_property
    def guide(self) -> np.ndarray:
        """The word at each of many evenly spaced points of that distribution: from there it is never far to the word of a random
        number.
        """
        return np.searchsorted(self.noise_cdf, np.arange(GUIDES) / GUIDES, side="right")

    @cached_property
    def keep_probability(self) -> np.ndarray:
        """The probability that a word is kept [word]: √(t/f) + t/f as in the published code, at most 1."""
        share = SAMPLE / np.maximum(self.counts / max(1, self.counts.sum()), 1e-12)
        return np.minimum(1.0, np.sqrt(share) + share)


@checked
def counted_examples(texts: Sequence[Sequence[str] | str], tokenizer: Tokenizer) -> CountedExamples:
    """Texts in the words of a tokenizer, with how often each word occurs: what word2vec and GloVe learn from.

    >>> import explorer as ex
    >>> read = counted_examples(["A dog ran.", "A cat ran."], ex.load("word2vec").tokenizer)
    >>> len(read), int(read.counts.sum()) == sum(len(text.ids) for text in read)
    (2, True)
    """
    return CountedExamples(prepared(texts, tokenizer), tokenizer.vocabulary.size)


def pairs_of(stories: Sequence[Example], counted: CountedExamples, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (centre, context) of stories: frequent words subsampled, the width of each window drawn from 1 to 5."""
    ids = np.concatenate([story.ids for story in stories])
    places, wide = windows(counted.keep_probability[ids], rng)
    story = np.repeat(np.arange(len(stories)), [len(story.ids) for story in stories])[places]
    middle, near = within(wide, story)
    ids = ids[places]
    return ids[middle], ids[near]


def windows(kept: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which positions are kept, each with the probability `kept` [position], and the width of the window of each."""
    places = np.flatnonzero(rng.random(len(kept)) < kept)
    return places, rng.integers(1, WINDOW + 1, len(places))


def within(wide: np.ndarray, story: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (centre, context) as positions among the kept words: windows of the widths `wide`, to both sides, within one
    story.
    """
    middle, near = [], []
    for step in range(1, WINDOW + 1):
        at = np.flatnonzero(story[:-step] == story[step:])
        onward, back = at[wide[at] >= step], at[wide[at + step] >= step]
        middle += [onward, back + step]
        near += [onward + step, back]
    return np.concatenate(middle), np.concatenate(near)


def negatives(counted: CountedExamples, count: int, rng: np.random.Generator) -> np.ndarray:
    """Negative samples [pair, 5], by inverse transform sampling: for each number in [0, 1), the word in whose interval of the
    distribution it falls.
    """
    uniforms = rng.random(count * NEGATIVES)
    words = counted.guide[(uniforms * GUIDES).astype(np.int64)]
    while len(short := np.flatnonzero(counted.noise_cdf[words] <= uniforms)):
        words[short] += 1
    return words.reshape(count, NEGATIVES)


class Cooccurrence(NamedTuple):
    """Two words and their co-occurrence count; each time counts 1/distance, as published."""

    middle: int
    near: int
    often: float


def cells(stories: Sequence[Example], size: int) -> list[Cooccurrence]:
    """Every pair of words at most five positions apart in some story, with its count; in both orders."""
    total: dict[int, float] = {}
    for step in range(1, WINDOW + 1):
        keys = np.concatenate([story.ids[:-step] * size + story.ids[step:] for story in stories])  # shorter stories give none
        for key, count in zip(*np.unique(keys, return_counts=True), strict=True):
            total[int(key)] = total.get(int(key), 0.0) + float(count) / step
    turned = {key: key % size * size + key // size for key in total}
    both = dict.fromkeys((*total, *turned.values()))
    return [Cooccurrence(k // size, k % size, total.get(k, 0.0) + total.get(k % size * size + k // size, 0.0)) for k in both]
