"""ELMo: character filters, two directions, contexts, and how tasks mix the layers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.record import Record
from explorer.records.tokens import Tokens

RIDGE = 10.0


@dataclass(frozen=True, eq=False)
class Mixes(Record):
    """Several tasks over several runs: `shares` [task, run, step, layer] are the s_j after each of `steps`, `gammas` [task, run, step].

    `scores` [task, run, way] are those of the mix and of each layer alone, on new texts; `intervals` [task, way, 3] their mean and
    its 95% interval over the biLMs, `gains` [task, way, 3] the same for the mix minus each way. `blind` [task] is the score of who
    always gives the most frequent answer. `runs` names each run by the seeds of its biLM and of its heads.
    """

    tasks: tuple[str, ...]
    metrics: tuple[str, ...]
    runs: tuple[tuple[int, int], ...]
    steps: np.ndarray
    shares: np.ndarray
    gammas: np.ndarray
    ways: tuple[str, ...]
    scores: np.ndarray
    intervals: np.ndarray
    gains: np.ndarray
    blind: np.ndarray
    note: str = ""

    @property
    def heights(self) -> np.ndarray:
        """How high in the stack each task reads, [task, run]: Σ j s_j at the last step, from 0 to the number of the last layer."""
        return self.shares[:, :, -1] @ np.arange(self.shares.shape[-1])


@dataclass(frozen=True, eq=False)
class Bench(Record):
    """One task to mix by hand: layers of examples to learn from [example, layer, dim] and of new ones, with the numbers of their answers.

    `learned` [run, layer] are the shares that the task found by itself, and `blind` the score of the most frequent answer.
    """

    task: str
    classes: tuple[str, ...]
    train: np.ndarray
    gold: np.ndarray
    test: np.ndarray
    asked: np.ndarray
    learned: np.ndarray

    def score(self, shares: np.ndarray) -> float:
        """The share of right answers about the new examples, with these shares of the layers."""
        return float((self.answers(shares) == self.asked).mean())

    def answers(self, shares: np.ndarray) -> np.ndarray:
        """The number of the answer to every new example, with these shares of the layers.

        A linear output layer is fitted again by ridge regression (to +1 for the right answer and −1 for the others), so that it fits the
        mix; γ would only stretch everything and is left out.
        """
        given = np.asarray(shares, np.float64)
        if given.shape != self.train.shape[1:2] or (given < 0).any() or given.sum() <= 0:
            raise ChoiceError(f"There must be {self.train.shape[1]} shares, none below 0 and not all 0.")
        x, new = (mixed(given / given.sum(), layers) for layers in (self.train, self.test))
        wanted = np.where(self.gold[:, None] == np.arange(len(self.classes)), 1.0, -1.0)
        head = np.linalg.solve(x.T @ x + RIDGE * np.eye(x.shape[1]), x.T @ wanted)
        return np.asarray((new @ head).argmax(1))

    @cached_property
    def worth(self) -> tuple[float, ...]:
        """The score with the shares that the task learned (their mean over the runs), then that of every layer alone."""
        return tuple(self.score(shares) for shares in (self.learned.mean(0), *np.eye(self.train.shape[1])))

    @property
    def blind(self) -> float:
        """The share of right answers of who always gives the most frequent one."""
        return float((self.asked == np.bincount(self.gold).argmax()).mean())


def mixed(shares: np.ndarray, layers: np.ndarray) -> np.ndarray:
    """Σ s_j h_j of every example, with a constant beside it: [example, dim + 1]."""
    x = np.einsum("l,nld->nd", shares, layers)
    return np.hstack((x, np.ones((len(x), 1))))


@dataclass(frozen=True, eq=False)
class Filters(Record):
    """What the letter filters of an ELMo find in one word: how wide each is, its strongest answer, and at which letter that begins.

    `known` holds for each filter the words of the vocabulary that move it most, `begins` at which letter of each its answer is largest,
    counted as `places` are: the sign that begins a word is letter 0.
    """

    model: str
    word: str
    letters: tuple[str, ...]
    widths: np.ndarray
    strongest: np.ndarray
    places: np.ndarray
    known: tuple[tuple[str, ...], ...]
    begins: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Highways(Record):
    """What the highway layers of an ELMo do with one word: `states` [layer + 1, unit] are x of each layer and then the result, `gates`
    T(x) and `made` H(x) [layer, unit].
    """

    model: str
    word: str
    states: np.ndarray
    gates: np.ndarray
    made: np.ndarray

    def parts(self, layer: int) -> dict[str, np.ndarray]:
        """Every term of T ∘ H + (1 − T) ∘ x in one layer [unit], by name."""
        x, gate, transformed = self.states[layer], self.gates[layer], self.made[layer]
        return {
            "x": x,
            "H(x)": transformed,
            "T(x)": gate,
            "T ∘ H": gate * transformed,
            "(1 − T) ∘ x": (1 - gate) * x,
            "y": self.states[layer + 1],
        }


@dataclass(frozen=True, eq=False)
class BothSides(Record):
    """What both directions expect at every word of a text: `texts` and `shares` [direction, position, rank], `truth` [direction, position].

    Row 0 is forward, which has read the words before the position; row 1 is backward, which has read those after it. At the first and
    the last position one of them has read nothing, and its shares are not numbers.
    """

    model: str
    tokens: Tokens
    texts: tuple[tuple[tuple[str, ...], ...], ...]
    shares: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True, eq=False)
class Contexts(Record):
    """One word in many texts: its vector in every layer, [layer, use, dim], and what it means in each."""

    shapes = {"texts": ("use",), "senses": ("use",), "vectors": ("layer", "use", "dim")}
    model: str
    word: str
    texts: tuple[str, ...]
    senses: tuple[str, ...]
    vectors: np.ndarray

    def points(self, layer: int) -> np.ndarray:
        """The uses on the plane on which they lie furthest apart, [use, 2]; the same point where nothing differs."""
        apart = np.array(self.vectors[layer], np.float64)
        apart -= apart.mean(0)
        u, s, _ = np.linalg.svd(apart, full_matrices=False)
        plane = np.zeros((len(apart), 2))
        plane[:, : min(2, len(s))] = (u * s)[:, :2]
        return np.where(np.abs(plane) < 1e-9, 0.0, plane)

    def likeness(self, layer: int) -> np.ndarray:
        """The cosine between every two uses, [use, use]."""
        x = np.array(self.vectors[layer], np.float64)
        x /= np.linalg.norm(x, axis=1, keepdims=True).clip(1e-12)
        return x @ x.T

    def nearest(self, layer: int) -> np.ndarray:
        """The other use that is most similar to each, by the cosine."""
        alike = self.likeness(layer)
        np.fill_diagonal(alike, -np.inf)
        return np.asarray(alike.argmax(axis=1))


@dataclass(frozen=True, eq=False)
class Neighbours(Record):
    """What lies near a word, or near b − a + c: `given` are the words asked about, `likeness` the cosine of each found word."""

    shapes = dict.fromkeys(("words", "likeness"), ("neighbour",))
    model: str
    given: tuple[str, ...]
    words: tuple[str, ...]
    likeness: np.ndarray
