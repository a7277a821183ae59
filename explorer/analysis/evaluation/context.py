"""Text that is kept out of training, and what is known about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.microworld import VERSION
from explorer.microworld.grammar.pairing import Pair
from explorer.models.transformer import TransformerModel
from explorer.text.tokenizers import Tokenizer


@dataclass(frozen=True)
class EvalData:
    """Texts that no training step sees: stories as lists of sentences, documents, or translations (source, target).

    `world` names the generator that wrote them ("microworld"), for the questions that need its gold labels; they are drawn with
    `seed` from `split`. `gold` holds the aligned pairs behind translations. `train` is what a rule
    measured beside the model counts: rows of ids for the n-gram beside a causal one, examples beside span boundaries.
    `teacher` is the model that a student learned from, to be asked the same. `version` is that of the world.
    """

    texts: Sequence[Any]
    world: str = ""
    split: str = "validation"
    seed: int = 0
    gold: Sequence[Pair] = ()
    train: Sequence[Any] = ()
    teacher: TransformerModel | None = None
    version: str = VERSION


@dataclass(frozen=True)
class EvalContext:
    """All that a metric may use to prepare its questions before it gets a model."""

    held: EvalData
    tokenizer: Tokenizer
    strategy: str
    length: int
    seed: int = 0
    thorough: bool = False
    pairs: bool = False  # whether the model read its texts in two parts, the second of which may not belong to the first

    @property
    def count(self) -> int:
        """How many texts there are: questions of every sort are about as many."""
        return len(self.held.texts)

    def rng(self, salt: int) -> np.random.Generator:
        """A random generator for one metric, the same at every check."""
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
