"""What stands near what: the pairs that word2vec learns from, step by step, and the counts that GloVe learns from, made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from explorer.training.stories import Story

WINDOW, STRANGERS = 5, 5
POWER = 0.75  # strangers are drawn by the frequencies to this power, so that rare words come more often
GUIDES = 1 << 16  # points on the line of strangers whose words are looked up once
SAMPLE = 1e-3  # a word that makes up more than this share of the text is often left out, by word2vec


class Told(list[Story]):
    """Stories that also know how often each word occurs in all of them."""

    def __init__(self, stories: Sequence[Story], size: int) -> None:
        super().__init__(stories)
        self.size = size

    @cached_property
    def counts(self) -> np.ndarray:
        """How often each word occurs [word]."""
        return np.bincount(np.concatenate([story.ids for story in self]), minlength=self.size)

    @cached_property
    def noise(self) -> np.ndarray:
        """By which shares of [0, 1) strangers are drawn, added up [word]."""
        added = np.cumsum(self.counts**POWER)
        return added / added[-1]

    @cached_property
    def guide(self) -> np.ndarray:
        """In whose part of that line each of many points stands, evenly apart: from there it is never far to the word of a lot."""
        return np.searchsorted(self.noise, np.arange(GUIDES) / GUIDES, side="right")

    @cached_property
    def kept(self) -> np.ndarray:
        """How likely each word is to be kept [word]: √(t/f) + t/f as in the published code, at most 1."""
        share = SAMPLE / np.maximum(self.counts / max(1, self.counts.sum()), 1e-12)
        return np.minimum(1.0, np.sqrt(share) + share)


def pairs_of(stories: Sequence[Story], told: Told, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (middle, near) of stories: frequent words thinned out, each window of a width drawn from 1 to 5."""
    ids = np.concatenate([story.ids for story in stories])
    places, wide = windows(told.kept[ids], chance)
    story = np.repeat(np.arange(len(stories)), [len(story.ids) for story in stories])[places]
    middle, near = within(wide, story)
    ids = ids[places]
    return ids[middle], ids[near]


def windows(kept: np.ndarray, chance: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which places stay, where each stays with the chance `kept` [place], and how far each of them looks."""
    places = np.flatnonzero(chance.random(len(kept)) < kept)
    return places, chance.integers(1, WINDOW + 1, len(places))


def within(wide: np.ndarray, story: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (middle, near) as places among words that stayed: each looks as far as `wide` says, to both sides, in its own story."""
    middle, near = [], []
    for step in range(1, WINDOW + 1):
        at = np.flatnonzero(story[:-step] == story[step:])
        onward, back = at[wide[at] >= step], at[wide[at + step] >= step]
        middle += [onward, back + step]
        near += [onward + step, back]
    return np.concatenate(middle), np.concatenate(near)


def strangers(told: Told, count: int, chance: np.random.Generator) -> np.ndarray:
    """Words drawn by chance [pair, 5]: of each lot from 0 to below 1, the word in whose part of that line it falls."""
    lots = chance.random(count * STRANGERS)
    found = told.guide[(lots * GUIDES).astype(np.int64)]
    while len(short := np.flatnonzero(told.noise[found] <= lots)):
        found[short] += 1
    return found.reshape(count, STRANGERS)


class Cell(NamedTuple):
    """Two words and how often they stand near each other; each time counts 1/distance, as published."""

    middle: int
    near: int
    often: float


def cells(stories: Sequence[Story], size: int) -> list[Cell]:
    """Every pair of words that stand at most five places apart in some story, with its count; both ways round."""
    total: dict[int, float] = {}
    for step in range(1, WINDOW + 1):
        keys = np.concatenate([story.ids[:-step] * size + story.ids[step:] for story in stories])  # shorter stories give none
        for key, count in zip(*np.unique(keys, return_counts=True), strict=True):
            total[int(key)] = total.get(int(key), 0.0) + float(count) / step
    turned = {key: key % size * size + key // size for key in total}
    both = dict.fromkeys((*total, *turned.values()))
    return [Cell(k // size, k % size, total.get(k, 0.0) + total.get(k % size * size + k // size, 0.0)) for k in both]
