"""What a strategy is: how it changes rows, and everything that a page shows of it, in one entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc, signature
from typing import Any

import numpy as np

from explorer.corruption.rows import Corrupted
from explorer.records import Vocabulary

GIVEN = ("rows", "vocabulary", "rng", "tokens", "tokenizer", "corpus")  # what strategies are called with; all else are options


@dataclass(frozen=True)
class CorruptionStrategy:
    """`apply(rows, vocabulary, rng, **options)` makes a `Corrupted` of whole rows; the rest is said of it.

    `apply` of a pair of segments (nsp, sop) takes (tokens, tokenizer, rng, corpus) instead. `law` says how likely each length of a
    span is, from 0 on, in a text of so many tokens. `counts` are the options by label with which it is counted over many draws;
    None: once as it is, if it hides a share of the text.
    """

    apply: Callable[..., Corrupted]
    about: str = ""  # what students read about it; empty: the first paragraph of the docstring of `apply`
    needs: tuple[str, ...] = ()  # the special tokens without which it cannot write what it hides, as named in `Vocabulary`
    masked_lm: bool = False  # whether a masked language model can answer it, position for position
    law: Callable[[int], np.ndarray] | None = None
    toggles: Mapping[str, str] = field(default_factory=dict)  # its options that are on or off, with what a page calls them
    counts: Mapping[str, Mapping[str, Any]] | None = None
    takes_corpus: bool = False  # whether a pair takes its second segment from other texts

    @property
    def says(self) -> str:
        """What students read about it."""
        return self.about or (getdoc(self.apply) or "").split("\n\n")[0]

    @property
    def options(self) -> dict[str, Any]:
        """What can be chosen, with what is taken where nobody chooses."""
        return {name: option.default for name, option in signature(self.apply).parameters.items() if name not in GIVEN}

    @property
    def rate(self) -> float:
        """The share of a text that it usually hides; NaN where it has none."""
        return float(self.options.get("rate", float("nan")))

    def counted(self, name: str) -> Mapping[str, Mapping[str, Any]]:
        """With which options it is counted over many draws, by label; `name` is the one that it is registered under."""
        return ({name: {}} if "rate" in self.options else {}) if self.counts is None else self.counts

    def lacks(self, vocabulary: Vocabulary) -> tuple[str, ...]:
        """The special tokens that it needs and this vocabulary does not have."""
        return tuple(name for name in self.needs if getattr(vocabulary, name) in (None, ()))
