"""Static word vectors and sentence vectors: pairs drawn, analogies, planes, similarities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.softmax import cosine
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class Drawn(Record):
    """What word2vec learns from one text, drawn once: pairs of words that occur near each other, and negative samples for each.

    At every position of the text: `share` of the word in all texts, its share of the negative samples, `noise`, the chance that it
    is `kept`, and how far its `window` reaches (0: it was left out this time). `pairs` [pair, 2] are the positions of the word in
    the middle and of the one near it; `negatives` [pair] are words drawn at random. `said` [pair, 1 + negative] is what a model
    makes of them: the chance σ(w·c) that a pair is a real one, first for the near word.
    """

    model: str
    tokens: Tokens
    share: np.ndarray
    noise: np.ndarray
    kept: np.ndarray
    window: np.ndarray
    pairs: np.ndarray
    negatives: tuple[tuple[str, ...], ...]
    said: np.ndarray

    def of(self, place: int) -> list[int]:
        """The numbers of the pairs in which the word of this place is the one in the middle, from left to right."""
        mine = np.flatnonzero(self.pairs[:, 0] == place)
        return sorted(mine.tolist(), key=lambda pair: int(self.pairs[pair, 1]))


@dataclass(frozen=True, eq=False)
class Solved(Record):
    """Analogies by relation: how many were asked, one of them, and three shares [relation].

    `forbidden` are solved where no word of the question may be the answer, `allowed` where every word may, and `echoed` is how
    often the nearest of all words is one of the three that were asked about.
    """

    shapes = dict.fromkeys(("relations", "examples", "counts", "forbidden", "allowed", "echoed"), ("relation",))
    model: str
    relations: tuple[str, ...]
    examples: tuple[str, ...]
    counts: np.ndarray
    forbidden: np.ndarray
    allowed: np.ndarray
    echoed: np.ndarray

    def total(self, name: str) -> float:
        """One of the shares over all questions."""
        return float((getattr(self, name) * self.counts).sum() / self.counts.sum())


@dataclass(frozen=True, eq=False)
class Ratios(Record):
    """P(k | a) / P(k | b) for some words k, counted in texts and as word vectors have it.

    `often` [2, word] is how often k occurs near a and near b (each time counts 1/distance), `chances` [2, word] the same as shares of
    all words there, `said` [word] the ratio of the vectors; `kinds` says why each k was chosen. `alike` is the correlation of
    both logarithms over all `compared` words that occur near a and near b.
    """

    shapes = dict.fromkeys(("words", "kinds", "said"), ("word",))
    model: str
    pair: tuple[str, str]
    words: tuple[str, ...]
    kinds: tuple[str, ...]
    often: np.ndarray
    chances: np.ndarray
    said: np.ndarray
    alike: float
    compared: int
    texts: int

    @property
    def ratio(self) -> np.ndarray:
        """The counted ratio [word]."""
        return np.asarray(self.chances[0] / self.chances[1])


@dataclass(frozen=True, eq=False)
class SkipgramNetwork(Record):
    """A pair of words in the network of skip-gram, with the words to which it gives the largest scores.

    `words` begin with the pair; for each of them its number, its row of W (`vectors`) and of C (`contexts`) [word, dim], the `scores`
    w·c with the centre word and their softmax over all `size` words.
    """

    shapes = dict.fromkeys(("words", "ids", "scores", "chances"), ("word",))
    model: str
    pair: tuple[str, str]
    words: tuple[str, ...]
    ids: np.ndarray
    size: int
    vectors: np.ndarray
    contexts: np.ndarray
    scores: np.ndarray
    chances: np.ndarray

    @property
    def sigma(self) -> np.ndarray:
        """σ(w·c) of each word [word]: how probable negative sampling takes it to be that the pair is a real one."""
        return np.asarray(1 / (1 + np.exp(-self.scores)))


@dataclass(frozen=True, eq=False)
class GloveRow(Record):
    """One row of the table that GloVe fits: the words near one word, how `often` (X), and what the vectors make of it (`said`).

    `place` is the cell looked at. Counts are those of `texts` texts, multiplied by `scale`; from `full` on they have the weight 1.
    """

    shapes = dict.fromkeys(("words", "often", "said"), ("word",))
    model: str
    pair: tuple[str, str]
    words: tuple[str, ...]
    place: int
    often: np.ndarray
    said: np.ndarray
    full: float
    power: float
    texts: int
    scale: float

    @property
    def weight(self) -> np.ndarray:
        """f(X) of each cell."""
        return self.weight_of(self.often)

    @property
    def loss(self) -> np.ndarray:
        """f(X) (w·w̃ + b + b̃ − log X)² of each cell."""
        return np.asarray(self.weight * (self.said - np.log(self.often)) ** 2)

    def weight_of(self, counts: np.ndarray) -> np.ndarray:
        """f at these counts."""
        return np.asarray(np.minimum(1.0, (np.asarray(counts) / self.full) ** self.power))


@dataclass(frozen=True, eq=False)
class Plane(Record):
    """Words on the plane on which they lie furthest apart: `points` [word, 2], and the share of all variance along each direction.

    `links` are pairs of words that have the relation, as indices in `words`.
    """

    model: str
    relation: str
    words: tuple[str, ...]
    points: np.ndarray
    shares: np.ndarray
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class Likeness(Record):
    """How alike each way makes every two of some sentences: `cosines` [way, text, text], NaN where a way has no vector for any word.

    `unseen` [way, text] is the share of the tokens that were not in the training texts of the way's model.
    """

    shapes = {"cosines": ("way", "first", "second"), "unseen": ("way", "first")}
    texts: tuple[str, ...]
    ways: tuple[str, ...]
    cosines: np.ndarray
    unseen: np.ndarray


@dataclass(frozen=True, eq=False)
class Ranked(Record):
    """How well each way of making a vector ranks pairs of new sentences: the rank correlation of its cosines with the gold grades.

    `scores` [kind, way, seed] are asked on each of `kinds` of new sentences; `intervals` [kind, way, 3] their mean and its 95%
    interval over the seeds; `gains` [kind, way, 3] the same for the way `best` minus each way. `grades` [pair] and `cosines`
    [way, pair] are those of the first kind and the first seed.
    """

    kinds: tuple[str, ...]
    ways: tuple[str, ...]
    best: str
    scores: np.ndarray
    intervals: np.ndarray
    gains: np.ndarray
    grades: np.ndarray
    cosines: np.ndarray
    note: str = ""


@dataclass(frozen=True, eq=False)
class Nearer(Record):
    """How often each way finds that of two sentences the one with the same meaning is nearer, though the other shares more words.

    `scores` [kind, way, seed] are shares of the questions of each of `kinds`; `intervals` [kind, way, 3] their mean and its 95%
    interval over the seeds. `examples` [kind] are a sentence, the one with the same meaning, and the other.
    """

    kinds: tuple[str, ...]
    ways: tuple[str, ...]
    scores: np.ndarray
    intervals: np.ndarray
    examples: tuple[tuple[str, str, str], ...]
    note: str = ""


@dataclass(frozen=True, eq=False)
class Edited(Record):
    """A small corpus before and after an edit, counted as GloVe counts: `table` [before or now, word, word] is how often words occur
    near each other, each time 1/distance, for the words of `pair`, a and b, and then for `words`, which occur near one of them.

    `totals` [before or now, a or b] counts all words near a and near b, and `texts` the number of sentences, before and now.
    """

    pair: tuple[str, str]
    words: tuple[str, ...]
    table: np.ndarray
    totals: np.ndarray
    texts: tuple[int, int]

    @property
    def chances(self) -> np.ndarray:
        """P(k | a) and P(k | b) of every word k, [before or now, a or b, word]."""
        return self.table[:, :2, 2:] / np.where(self.totals > 0, self.totals, 1.0)[..., None]

    @property
    def ratios(self) -> np.ndarray:
        """P(k | a) / P(k | b), [before or now, word]; infinite where k never occurs near b, not a number where it occurs near neither."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.chances[:, 0] / self.chances[:, 1])

    @property
    def alike(self) -> np.ndarray:
        """The cosine between the rows of counts of a and b over the words that are shown, [before or now]."""
        a, b = self.table[:, 0, 2:], self.table[:, 1, 2:]
        return cosine(a, b)
