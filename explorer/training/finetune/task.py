"""What a task is: questions about words, texts or pairs of texts, whose right answers are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from explorer.errors.kinds import called
from explorer.training.finetune.metrics import METRICS


class TokenPosition(NamedTuple):
    """A stretch of one of the texts, in characters: a word, a sentence, or the whole text."""

    text: int
    start: int
    end: int


class LabelledExample(NamedTuple):
    """One question: the places that it is about, and the right answer."""

    places: tuple[TokenPosition, ...]
    label: str


@dataclass(frozen=True)
class Questions:
    """Texts, and what is asked about them; every question is about as many places."""

    texts: tuple[str, ...]
    examples: tuple[LabelledExample, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The right answers."""
        return tuple(example.label for example in self.examples)

    @property
    def about(self) -> tuple[int, ...]:
        """The number of the text that each question is about; of several, the first."""
        return tuple(example.places[0].text for example in self.examples)


def about_whole_texts(items: Iterable[tuple[tuple[str, ...], str]]) -> Questions:
    """Questions about whole texts, or pairs of them: each is its texts and the right answer."""
    texts: list[str] = []
    examples = []
    for parts, label in items:
        places = tuple(TokenPosition(len(texts) + n, 0, len(part)) for n, part in enumerate(parts))
        examples.append(LabelledExample(places, label))
        texts += parts
    return Questions(tuple(texts), tuple(examples))


@called("a task of ex.tasks(), or your own texts: ex.tasks.from_file('mine.csv')")
@dataclass(frozen=True)
class Task:
    """A task by its name. `make(count, split)` asks about so many texts of a split; `join` says how the vectors of an example's
    places become one: "side by side", or "compared" as [u; v; |u − v|; u ∘ v].
    """

    name: str
    kind: str  # token, sentence or pair; graded (a pair and a number), question (a stretch of a text) or text (another text)
    about: str
    make: Callable[..., Questions]  # (count, split), and the seed of other texts where there are any
    join: str = "side by side"
    metric: str = "accuracy"
    report: str = ""  # of a task from a file: what was read

    def __repr__(self) -> str:
        return f"Task({self.name!r}: {self.kind}, {self.about}, {self.metric})"

    def score(self, answers: Sequence[str], gold: Sequence[str]) -> float:
        """How good these answers are."""
        return METRICS[self.metric](answers, gold)


def majority(gold: Sequence[str]) -> str:
    """The most frequent answer, the first in the alphabet among equals."""
    names, counts = np.unique(np.array(gold), return_counts=True)
    return str(names[counts.argmax()])
