"""The words of a corpus as tokens, and the two ways to choose which pair of tokens is joined next."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

Pair = tuple[int, int]
Change = tuple[Pair, int, int]  # a pair, how many more times it now occurs in the texts, and in which word
Choice = tuple[Pair, float, list[int]]  # a pair, its score, and the words that may hold it


class Spellings:
    """Every different word of the texts as a list of token numbers, with how often the word and each token occur."""

    def __init__(self, words: Mapping[tuple[int, ...], int]) -> None:
        self.words = [list(word) for word in words]
        self.counts = list(words.values())
        self.often: Counter[int] = Counter()
        for word, count in words.items():
            for piece in word:
                self.often[piece] += count

    def pairs(self) -> Iterator[Change]:
        """Every pair of neighbours, word by word."""
        for number, (word, count) in enumerate(zip(self.words, self.counts, strict=True)):
            for pair in zip(word, word[1:], strict=False):
                yield pair, count, number

    def join(self, pair: Pair, piece: int, where: Iterable[int]) -> tuple[list[Change], int]:
        """Join the pair in these words; give back what changed for its neighbours, and how many times it was joined."""
        changes: list[Change] = []
        total = 0
        for number in where:
            self.words[number], differences, times = joined_pair(self.words[number], pair, piece)
            count = self.counts[number]
            changes += [(other, change * count, number) for other, change in differences]
            total += times * count
        for part in pair:
            self.often[part] -= total
        self.often[piece] += total
        return changes, total

    @property
    def pieces_per_word(self) -> float:
        """How many tokens a word of the running text has on average."""
        return self.often.total() / max(1, sum(self.counts))


def joined_pair(word: Sequence[int], pair: Pair, piece: int) -> tuple[list[int], list[tuple[Pair, int]], int]:
    """One word with the pair joined from left to right, the neighbours that came and went, and how many joins there were."""
    first, second = pair
    out: list[int] = []
    changes: list[tuple[Pair, int]] = []
    place = times = 0
    while place < len(word):
        if word[place] == first and place + 1 < len(word) and word[place + 1] == second:
            if out:
                changes += [((out[-1], first), -1), ((out[-1], piece), 1)]
            if place + 2 < len(word):
                changes += [((second, word[place + 2]), -1), ((piece, word[place + 2]), 1)]
            out.append(piece)
            place, times = place + 2, times + 1
        else:
            out.append(word[place])
            place += 1
    return out, changes, times


class ByCount:
    """The most frequent pair of neighbours; among equals the one with the smaller token numbers, as in the library.

    A pair that was joined never comes up again: between the same two ends the same letters are always joined the same way.
    """

    def __init__(self, changes: Iterable[Change], often: Mapping[int, int]) -> None:
        self.tally: Counter[Pair] = Counter()
        self.queue: list[tuple[int, Pair, int, list[int]]] = []
        self.pushed = 0
        self.update(changes)

    def update(self, changes: Iterable[Change]) -> None:
        """Take note of what changed."""
        fresh: dict[Pair, list[int]] = {}
        for pair, change, word in changes:
            self.tally[pair] += change
            if change > 0:
                where = fresh.setdefault(pair, [])
                if not where or where[-1] != word:  # the changes of a word stand together
                    where.append(word)
        for pair, where in fresh.items():
            self._push(pair, where)

    def best(self) -> Choice | None:
        """The pair to join next, or None when no pair is left."""
        while self.queue:
            count, pair, _, where = heapq.heappop(self.queue)
            if -count == self.tally[pair]:
                return pair, float(-count), where
            self._push(pair, where)  # it became rarer since it was put there
        return None

    def _push(self, pair: Pair, where: list[int]) -> None:
        if self.tally[pair] > 0:
            self.pushed += 1
            heapq.heappush(self.queue, (-self.tally[pair], pair, self.pushed, where))


class ByScore:
    """The lecture's WordPiece score: freq(ab) / (freq(a) · freq(b)); among equals the one with the smaller numbers."""

    def __init__(self, changes: Iterable[Change], often: Mapping[int, int]) -> None:
        self.often = often
        self.places: dict[Pair, int] = {}
        self.where: list[dict[int, None]] = []
        self.pairs = np.zeros((2, 64), dtype=np.int64)
        self.counts = np.zeros(64, dtype=np.float64)
        self.last: Pair | None = None
        self.update(changes)

    def update(self, changes: Iterable[Change]) -> None:
        """Take note of what changed."""
        for pair, change, word in changes:
            place = self._place(pair)
            self.counts[place] += change
            if change > 0:
                self.where[place][word] = None
        if self.last is not None:
            self.counts[self.places[self.last]] = 0  # it was joined everywhere
            self.where[self.places[self.last]].clear()

    def best(self) -> Choice | None:
        """The pair to join next, or None when no pair is left."""
        used = len(self.places)
        often = np.zeros(int(self.pairs.max()) + 1)
        for piece, count in self.often.items():
            if piece < len(often):
                often[piece] = count
        first, second = self.pairs[:, :used]
        scores = self.counts[:used] / np.maximum(often[first] * often[second], 1)
        if not used or scores.max() <= 0:
            return None
        score = float(scores.max())
        self.last = min((int(first[n]), int(second[n])) for n in np.flatnonzero(scores == score))
        return self.last, score, list(self.where[self.places[self.last]])

    def _place(self, pair: Pair) -> int:
        if pair not in self.places:
            place = self.places[pair] = len(self.places)
            if place == len(self.counts):
                self.pairs = np.concatenate([self.pairs, np.zeros_like(self.pairs)], axis=1)
                self.counts = np.concatenate([self.counts, np.zeros_like(self.counts)])
            self.pairs[:, place] = pair
            self.where.append({})
        return self.places[pair]


WAYS: dict[str, type[ByCount] | type[ByScore]] = {"count": ByCount, "score": ByScore}
