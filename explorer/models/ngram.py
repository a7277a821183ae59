"""The n-gram language model: the next piece guessed from the few pieces before it, by counting.

It is what every neural language model has to beat. Perplexity is a price per piece, so two perplexities can only be compared
when both models predict *the same pieces of the same texts*; across tokenizers compare bits per character.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from explorer.errors import ChoiceError, TextError, check_index, outside, unknown
from explorer.records import Tokens
from explorer.text.counts import SMOOTHINGS, Counts, Level, count, find, find_contexts
from explorer.text.reading import Text, as_tokens
from explorer.text.tokenizers import Tokenizer, check_text

Rows = Iterable[Sequence[int] | np.ndarray]


class NGram:
    """An n-gram language model over the ids of a tokenizer.

    The probability of a piece mixes what followed the longest known context with what followed ever shorter ones, down to
    1 / size for every piece alike. So nothing is impossible, and after any context the probabilities sum to one.
    `smoothing` decides how much each context hands down to the shorter one. A row's left edge is filled up with `begin`.
    """

    family = "ngram"

    def __init__(
        self, counts: Counts, smoothing: str, begin: int, tokenizer: Tokenizer | None = None, name: str = "ngram"
    ) -> None:
        self.counts, self.smoothing, self.begin, self.tokenizer, self.name = counts, smoothing, begin, tokenizer, name
        self.size, self.order = counts.levels[0].size, len(counts.levels)
        self._splits = [SMOOTHINGS[smoothing](level) for level in counts.levels]

    def logp(self, rows: Rows) -> list[np.ndarray]:
        """For every row the natural logarithm of the probability of its pieces, from the second on.

        The first piece is what the model starts from, as for a neural model: number i is about piece i + 1. Give the same
        rows to both (begin piece, text, end piece) and they predict the same pieces.
        """
        flat, lengths = flattened(rows, self.size)
        pieces, before = events(flat, lengths, self.order, self.begin)
        chances = np.full(len(pieces), 1 / self.size)
        for level, own, down, heads in self._levels(before, len(pieces)):
            place = find(level.grams, heads * self.size + pieces)
            mixed = np.where(place >= 0, own[place], 0) + down[heads] * chances
            chances = np.where(heads >= 0, mixed, chances)  # a context never met leaves it to the shorter one
        return np.split(np.log(chances), np.cumsum(np.maximum(lengths - 1, 0)))[:-1]

    def perplexity(self, rows: Rows) -> float:
        """Among how many equally likely pieces the model hesitates, on average: exp of the mean −log P over all pieces of `rows`.

        Compare it only with a perplexity on the same pieces: a tokenizer with longer pieces makes fewer and harder guesses.
        """
        return perplexity(self.logp(rows))

    def bits_per_character(self, rows: Rows, texts: Sequence[str]) -> float:
        """How many bits a character of `texts` costs, where `rows` are their pieces. It can be compared across tokenizers."""
        return bits_per_character(self.logp(rows), texts)

    def next(self, context: Sequence[int] | np.ndarray) -> np.ndarray:
        """The probability [size] of every piece to come next after these ids. Only the last order − 1 of them matter."""
        row = checked(np.asarray(context).reshape(-1), self.size)
        near = [row[-j] if len(row) >= j else self.begin for j in range(1, self.order)]
        return self._distributions([np.array([piece]) for piece in near], 1)[0]

    def tokens(self, text: Text) -> Tokens:
        """The pieces that the model would read."""
        if self.tokenizer is None:
            raise ChoiceError(
                f"{self.name} was trained on ids without a tokenizer, so it cannot read a text. Use logp or next."
            )
        return as_tokens(text, self.tokenizer)

    def logits(self, text: Text) -> np.ndarray:
        """log P over the vocabulary, [position, vocab]: row i is about piece i + 1, as in any causal model."""
        row = checked(self.tokens(text).ids, self.size)
        _, before = events(np.append(row, 0), np.array([len(row) + 1]), self.order, self.begin)
        return np.log(self._distributions(before, len(row)))

    def outputs(self, text: Text) -> dict[str, np.ndarray]:
        """What the model predicts: `lm`, its `logits`."""
        return {"lm": self.logits(text)}

    def _distributions(self, before: Sequence[np.ndarray], many: int) -> np.ndarray:
        """The whole distribution after each of `many` contexts, [context, size]."""
        chances = np.full((many, self.size), 1 / self.size)
        for level, own, down, heads in self._levels(before, many):
            met = np.flatnonzero(heads >= 0)
            first, last = (np.searchsorted(level.grams, (heads[met] + k) * self.size) for k in (0, 1))
            chances[met] *= down[heads[met], None]
            row = np.repeat(met, last - first)
            gram = np.arange(len(row)) + np.repeat(first - np.append(0, np.cumsum(last - first)[:-1]), last - first)
            chances[row, level.grams[gram] % self.size] += own[gram]  # a context has each next piece once, so += adds once
        return chances

    def _levels(self, before: Sequence[np.ndarray], many: int) -> Iterator[tuple[Level, np.ndarray, np.ndarray, np.ndarray]]:
        """From the shortest to the longest: n-grams, what each keeps, what each context hands down, and the contexts asked about."""
        found = find_contexts(self.counts, before, many)
        for level, (own, down), heads in zip(self.counts.levels, self._splits, found, strict=True):
            yield level, own, down, heads


def train(
    rows: Rows,
    tokenizer: Tokenizer | None = None,
    *,
    order: int = 4,
    smoothing: str = "kneser-ney",
    size: int | None = None,
    begin: int | None = None,
) -> NGram:
    """Count the n-grams of `rows` (lists of ids, one a text) up to `order` pieces.

    Every row starts with a piece that is given and not predicted, as the neural models' rows do; beyond it, the left context
    is filled up with `begin`. `size` (how many ids there are) and `begin` come from the tokenizer unless you say them.
    """
    if isinstance(order, bool) or not hasattr(order, "__index__") or not 1 <= order <= 4:
        raise ChoiceError(f"order={order!r} must be 1, 2, 3 or 4: how many pieces an n-gram has at most.")
    if smoothing not in SMOOTHINGS:
        raise unknown("smoothing", smoothing, SMOOTHINGS)
    size, begin = _size_and_begin(tokenizer, size, begin)
    flat, lengths = flattened(rows, size)
    pieces, before = events(flat, lengths, order, begin)
    if not len(pieces):
        raise TextError("There is nothing to count: no row has two pieces. Give rows of ids that begin with a begin piece.")
    return NGram(count(pieces, before, size), smoothing, begin, tokenizer)


def rows_of(texts: Iterable[str], tokenizer: Tokenizer) -> list[np.ndarray]:
    """Each text as a row of ids, from its begin piece to its end piece, where the tokenizer has them."""
    if isinstance(texts, str):
        raise TextError("rows_of takes a list of texts. Put the text into a list.")
    coded = tokenizer.core.encode_batch([check_text(text) for text in texts], add_special_tokens=False)
    begin, end = _edges(tokenizer)
    first, last = ([] if edge is None else [edge] for edge in (begin, end))
    return [np.array([*first, *one.ids, *last], dtype=np.int64) for one in coded]


def perplexity(logp: Sequence[np.ndarray]) -> float:
    """exp of the mean −log P, over all pieces of all rows together; `logp` may come from any model."""
    return math.exp(-float(_joined(logp).mean()))


def bits_per_character(logp: Sequence[np.ndarray], texts: Sequence[str]) -> float:
    """The sum of −log₂ P over all pieces, the end piece too, divided by the number of characters; `logp` from any model."""
    if isinstance(texts, str) or len(logp) != len(texts):
        raise TextError(f"There are {len(logp)} rows, so there must be {len(logp)} texts in a list, in the same order.")
    characters = sum(map(len, texts))
    if not characters:
        raise TextError("These texts have no characters. Give the texts that the rows were made from.")
    return -float(_joined(logp).sum()) / math.log(2) / characters


def flattened(rows: Rows, size: int) -> tuple[np.ndarray, np.ndarray]:
    """All ids in one array, and the length of each row."""
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Iterable):
        raise TextError("An n-gram model reads a list of rows of ids, for example [[0, 17, 4, 0]].")
    held = [np.asarray(row) for row in rows]
    if any(row.ndim != 1 for row in held):
        raise TextError("Every row must be a list of ids. Put a single row into a list.")
    lengths = np.array([len(row) for row in held], dtype=np.int64)
    full = [row for row in held if len(row)]
    return checked(np.concatenate(full) if full else np.zeros(0, dtype=np.int64), size), lengths


def checked(ids: np.ndarray, size: int) -> np.ndarray:
    """The ids, if every one is a piece of this vocabulary."""
    if len(ids) and ids.dtype.kind not in "iu":
        raise TextError(f"Ids must be whole numbers, for example [0, 17, 4, 0]; these are {ids.dtype}.")
    wrong = ids[(ids < 0) | (ids >= size)]
    if len(wrong):
        raise outside("piece", int(wrong[0]), size)
    return ids.astype(np.int64)


def events(flat: np.ndarray, lengths: np.ndarray, order: int, begin: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """What is predicted, and for each the pieces 1, 2, … order − 1 places to its left, with `begin` beyond the row's edge."""
    place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # [piece] its number in its row
    at = np.flatnonzero(place)  # the first piece of a row is given
    return flat[at], [np.where(place[at] >= j, flat[at - j], begin) for j in range(1, order)]


def _joined(logp: Sequence[np.ndarray]) -> np.ndarray:
    joined = np.concatenate([np.asarray(row, dtype=np.float64) for row in logp]) if len(logp) else np.zeros(0)
    if not len(joined):
        raise TextError("No row has two pieces, so nothing was predicted. Give rows that begin with a begin piece.")
    return joined


def _edges(tokenizer: Tokenizer) -> tuple[int | None, int | None]:
    known = tokenizer.vocabulary
    return known.cls if known.begin is None else known.begin, known.sep if known.end is None else known.end


def _size_and_begin(tokenizer: Tokenizer | None, size: int | None, begin: int | None) -> tuple[int, int]:
    least = 1 if tokenizer is None else tokenizer.vocabulary.size
    if tokenizer is not None:
        size = least if size is None else size
        begin = _edges(tokenizer)[0] if begin is None else begin
    if isinstance(size, bool) or not isinstance(size, int) or size < least:
        raise ChoiceError(f"size={size!r} must say how many ids there are, at least as many as the tokenizer has.")
    if begin is None:
        raise ChoiceError("Nothing says which piece begins a text. Give begin=…, the id that every row starts with.")
    return size, check_index("piece", begin, size)
