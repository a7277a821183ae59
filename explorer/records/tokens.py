"""What a tokenizer made of a text, and what it knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record


@dataclass(frozen=True, eq=False)
class Vocabulary(Record):
    """The size of a vocabulary and the ids of its special pieces (None where it has none)."""

    size: int
    mask: int | None = None
    pad: int | None = None
    cls: int | None = None
    sep: int | None = None
    begin: int | None = None
    end: int | None = None
    unknown: int | None = None
    sentinels: tuple[int, ...] = ()

    @property
    def last(self) -> int | None:
        """The piece with which a text ends: the end piece, or the separator of a vocabulary that has none."""
        return self.sep if self.end is None else self.end

    @property
    def special(self) -> tuple[int, ...]:
        """The ids that are no text: never hidden, never replaced, never drawn at random."""
        named = (self.mask, self.pad, self.cls, self.sep, self.begin, self.end, self.unknown)
        return tuple(sorted({i for i in named if i is not None} | set(self.sentinels)))


@dataclass(frozen=True, eq=False)
class Tokens(Record):
    """One text (or pair of texts) as pieces.

    `texts` are readable in every script; `words` numbers the words (−1 for special pieces);
    `segments` tells sentence A (0) from B (1); `offsets` are (start, end) in the text given;
    `unseen` marks pieces of words never met in training, None where that is not known.
    """

    ids: np.ndarray
    texts: tuple[str, ...]
    words: tuple[int, ...]
    sentences: tuple[int, ...]
    segments: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    special: tuple[bool, ...]
    unseen: tuple[bool, ...] | None = None
    characters: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def unseen_share(self) -> float:
        """The share of the pieces that are text and were never met in training."""
        if self.unseen is None:
            return float("nan")
        return sum(self.unseen) / max(1, len(self) - sum(self.special))
