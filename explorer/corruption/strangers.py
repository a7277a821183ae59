"""From which text the second half of a pair is taken where it does not follow: from any, or from one about the same subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.text.examples import Example

STRANGERS = ("any", "alike")


@dataclass(frozen=True)
class Subjects:
    """What each text is about: its token of largest tf–idf, how often the text has it × ln (texts ÷ texts that have it).

    A second half from any text can often be told by a name that the first half does not have. From a text about the same token it
    cannot.
    """

    weights: np.ndarray  # ln (texts ÷ texts that have it), by token
    groups: dict[int, np.ndarray]  # the numbers of the texts about a token

    @classmethod
    def of(cls, examples: Sequence[Example], size: int) -> Subjects:
        """The subjects of all texts over a vocabulary of so many tokens."""
        met = np.zeros(size)
        for example in examples:
            met[np.unique(example.ids)] += 1
        weights = np.log(len(examples) / np.maximum(met, 1))
        about = np.array([subject(example.ids, weights) for example in examples])
        order = np.argsort(about, kind="stable")
        tokens, starts = np.unique(about[order], return_index=True)
        return cls(weights, dict(zip(tokens.tolist(), np.split(order, starts[1:]), strict=True)))

    def draw(self, ids: np.ndarray, rng: np.random.Generator) -> int | None:
        """The number of a text about what these tokens are about; None where there is none."""
        group = self.groups.get(subject(ids, self.weights))
        return None if group is None else int(group[int(rng.integers(len(group)))])


def subject(ids: np.ndarray, weights: np.ndarray) -> int:
    """The token that these tokens are about: how often it is among them × its weight is largest."""
    tokens, counts = np.unique(ids, return_counts=True)
    return int(tokens[np.argmax(counts * weights[tokens])])
