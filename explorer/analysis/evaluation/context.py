"""Text that is kept out of training, and what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.model import OwnModel
from explorer.text.microworld.french import Pair
from explorer.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class Held:
    """Texts that no training step sees: stories as lists of sentences, documents, or translations (source, target).

    `world` names the generator that told them ("microworld"), for the questions that need its gold labels; they are drawn with
    `seed` from `split`. `gold` holds the aligned pairs behind translations. `train` is what a rule
    measured beside the model counts: rows of ids for the n-gram beside a causal one, stories in pieces beside span boundaries.
    `teacher` is the model that a student learned from, to be asked the same.
    """

    texts: Sequence[Any]
    world: str = ""
    split: str = "validation"
    seed: int = 0
    gold: Sequence[Pair] = ()
    train: Sequence[Any] = ()
    teacher: OwnModel | None = None


@dataclass(frozen=True)
class Desk:
    """All that a measure may use to prepare its questions before it meets a model."""

    held: Held
    tokenizer: Tokenizer
    objective: str
    strategy: str
    length: int
    seed: int
    thorough: bool = False

    @property
    def count(self) -> int:
        """How many texts there are: questions of every sort are about as many."""
        return len(self.held.texts)

    def chance(self, salt: int) -> np.random.Generator:
        """A stream of chance for one measure, the same at every check."""
        return np.random.default_rng((self.seed, 3, salt))


def sentences(text: Any) -> list[str]:
    """The sentences of a text, where they are given; a document is one."""
    return [text] if isinstance(text, str) else list(text)


def blank(text: Any) -> bool:
    """Whether there is nothing to read in a text, or in one side of a translation."""
    sides = (text.source, text.target) if hasattr(text, "source") else (plain(text),)
    return not all(side.strip() for side in sides)


def plain(text: Any) -> str:
    """A text as one string."""
    return " ".join(sentences(text))
