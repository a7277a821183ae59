"""What a fine-tuned model reads: one text or two as a row of tokens, with the place of every token in its text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from explorer.errors import TextError
from explorer.text.tokenizers import Tokenizer


class AskedText(NamedTuple):
    """A text, or a text and a second one; `words` are the stretches of the first that are asked about, in characters."""

    text: str
    pair: str | None = None
    words: tuple[tuple[int, int], ...] = ()

    @property
    def given(self) -> str | tuple[str, str]:
        """The text, or both."""
        return self.text if self.pair is None else (self.text, self.pair)


@dataclass(frozen=True)
class TaskRow:
    """One row of tokens. `part` is the text that each token belongs to: 0, 1, or −1 for a special token."""

    ids: np.ndarray
    segments: np.ndarray
    part: np.ndarray
    offsets: np.ndarray  # [position, 2]: where a token begins and ends in its text
    letters: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def inside(self, start: int, end: int, part: int = 0) -> np.ndarray:
        """The positions of the tokens of a stretch of a text, in part or whole."""
        there = (self.part == part) & (self.offsets[:, 0] < end) & (self.offsets[:, 1] > start)
        return np.flatnonzero(there)

    def first(self, words: Sequence[tuple[int, int]]) -> np.ndarray:
        """The position of the first token of every word; −1 for a word that was cut off."""
        places = [self.inside(start, end) for start, end in words]
        return np.array([positions[0] if len(positions) else -1 for positions in places], np.int64)


def task_row(tokenizer: Tokenizer, text: str, pair: str | None = None) -> TaskRow:
    """A row with the special tokens of the tokenizer: [CLS] a [SEP] b [SEP], or a decoder's [START] a [DELIM] b [EXTRACT]."""
    whole = tokenizer.encode(text, pair)
    special = np.array(whole.special, bool)
    first = sum(not flag for flag in tokenizer.encode(text, special=False).special)
    part = np.where(special, -1, (np.cumsum(~special) > first).astype(int))
    return TaskRow(whole.ids, np.array(whole.segments), part, np.array(whole.offsets).reshape(-1, 2), whole.characters)


def cut_row(row: TaskRow, longest: int) -> TaskRow:
    """A row without the last tokens of its longer text, so that it fits."""
    over = len(row) - longest
    if over <= 0:
        return row
    counts = [int((row.part == part).sum()) for part in (0, 1)]
    part = int(counts[1] > counts[0])
    if counts[part] <= over:
        raise TextError(f"A pair of texts has {len(row)} tokens, and {longest} fit. Shorten both texts.")
    kept = np.ones(len(row), bool)
    kept[np.flatnonzero(row.part == part)[-over:]] = False
    letters = None if row.letters is None else row.letters[kept]
    return replace(
        row, ids=row.ids[kept], segments=row.segments[kept], part=row.part[kept], offsets=row.offsets[kept], letters=letters
    )


def words_in(text: str) -> tuple[tuple[int, int], ...]:
    """Where the words and marks of a text stand."""
    return tuple(word.span() for word in WORD.finditer(text))


WORD = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
