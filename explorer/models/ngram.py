"""The n-gram language model: the next token predicted from the few tokens before it, by counting.

It is the baseline of every neural language model. Perplexity is a measure per token, so two perplexities can only be compared when
both models predict *the same tokens of the same texts*; across tokenizers compare bits per character.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from explorer.errors import ChoiceError, TextError, check_index, is_many, unknown
from explorer.models.counts import SMOOTHINGS, Counts, Level, count, find, find_contexts
from explorer.records import Edit, Tokens
from explorer.records.summary import Summarised, Summary
from explorer.text.reading import Text, as_tokens, refuse_target
from explorer.text.tokenizers import Tokenizer, check_text

if TYPE_CHECKING:  # what counts does without torch; only who wants a tensor pays for it
    import torch

MEMORY = 1 << 29  # bytes that the scores of one text may take
Rows = Iterable[Sequence[int] | np.ndarray]


class NGram(Summarised):
    """An n-gram language model over the ids of a tokenizer. It is a `Model` like any other, with a network that is empty.

    The probability of a token interpolates the counts after the longest known context with those after shorter and shorter ones, down
    to 1 / size for every token. So nothing is impossible, and after any context the probabilities sum to one. `smoothing` decides how
    much each context passes on to the shorter one. A row is padded on the left with `begin`.
    """

    family = "ngram"
    streams: dict[str, tuple[int, int]] = {}  # there is no attention that could be looked at or edited
    notes: tuple[str, ...] = ()

    def __init__(
        self, counts: Counts, smoothing: str, begin: int, tokenizer: Tokenizer | None = None, name: str = "ngram"
    ) -> None:
        self.counts, self.smoothing, self.begin, self.name = counts, smoothing, begin, name
        self.tokenizer = cast(Tokenizer, tokenizer)  # None where ids alone were counted: such a model refuses every text
        self.size, self.order = counts.levels[0].size, len(counts.levels)
        self._splits = [SMOOTHINGS[smoothing](level) for level in counts.levels]

    @property
    def module(self) -> torch.nn.Module:
        """A network without weights."""
        import torch

        return torch.nn.Module()

    @property
    def device(self) -> torch.device:
        """It counts on the processor."""
        import torch

        return torch.device("cpu")

    def summary(self) -> Summary:
        """Its order, how it is smoothed, how many different runs of tokens it has counted."""
        counted = f"{sum(len(level.grams) for level in self.counts.levels):,}"
        rows = [
            ("smoothing", self.smoothing),
            ("counted", f"{counted} different runs of tokens"),
            ("vocabulary", f"{self.size:,} tokens"),
        ]
        return f"Model {self.name!r}, {self.order}-gram", rows

    def logp(self, rows: Rows) -> list[np.ndarray]:
        """For every row the natural logarithm of the probability of its tokens, from the second on.

        The first token is what the model starts from, as for a neural model: number i is about token i + 1. Give the same
        rows to both (begin token, text, end token) and they predict the same tokens.
        """
        flat, lengths = flattened(rows, self.size)
        tokens, before = events(flat, lengths, self.order, self.begin)
        chances = np.full(len(tokens), 1 / self.size)
        for level, own, down, heads in self._levels(before, len(tokens)):
            place = find(level.grams, heads * self.size + tokens)
            mixed = np.where(place >= 0, own[place], 0) + down[heads] * chances
            chances = np.where(heads >= 0, mixed, chances)  # an unseen context leaves it to the shorter one
        return np.split(np.log(chances), np.cumsum(np.maximum(lengths - 1, 0)))[:-1]

    def perplexity(self, rows: Rows) -> float:
        """Perplexity: exp of the mean −log P over all tokens of `rows`, as if the model chose among so many equally probable tokens.

        Compare it only with a perplexity on the same tokens: a tokenizer with longer tokens makes fewer and harder predictions.
        """
        return perplexity(self.logp(rows))

    def next(self, context: Sequence[int] | np.ndarray) -> np.ndarray:
        """The probability [size] of every token to come next after these ids. Only the last order − 1 of them matter."""
        distribution: np.ndarray = self._distributions(self._before(context), 1)[0]
        return distribution

    def _before(self, context: Sequence[int] | np.ndarray) -> list[np.ndarray]:
        """The tokens 1, 2, … order − 1 positions to the left of what comes next."""
        row = checked(np.asarray(context).reshape(-1), self.size)
        return [np.array([row[-j] if len(row) >= j else self.begin]) for j in range(1, self.order)]

    def parts(self, context: Sequence[int] | np.ndarray) -> np.ndarray:
        """What makes up the probabilities after these ids [source, size]: row 0 is from 1 / size, row n from the n-grams.

        They sum to `next`. A context passes on what it does not keep, so the n-grams of a longer one leave less to the shorter ones.
        """
        shares = np.zeros((self.order + 1, self.size))
        shares[0] = 1 / self.size
        for n, (level, own, down, heads) in enumerate(self._levels(self._before(context), 1), 1):
            if (head := int(heads[0])) >= 0:
                first, last = np.searchsorted(level.grams, (head * self.size, (head + 1) * self.size))
                shares *= down[head]
                shares[n, level.grams[first:last] % self.size] = own[first:last]
        return shares

    def known(self, context: Sequence[int] | np.ndarray) -> int:
        """How many of the last ids the longest context has that was counted."""
        return max(n for n, (*_, heads) in enumerate(self._levels(self._before(context), 1)) if heads[0] >= 0)

    def tokens(self, text: Text) -> Tokens:
        """The tokens that the model would read."""
        if cast("Tokenizer | None", self.tokenizer) is None:
            raise ChoiceError(
                f"{self.name} was trained on ids without a tokenizer, so it cannot read a text. Use logp or next."
            )
        return as_tokens(text, self.tokenizer)

    def reads(self, target: Text | None) -> None:
        """It has no decoder, so there is no target."""
        refuse_target(self.name, target)

    def refuses(self, edit: Edit) -> str:
        """Every edit: they change attention and hidden states."""
        return "it counts, and has no attention or hidden states."

    def run(self, tokens: Tokens, decoder_tokens: Tokens | None = None) -> dict[str, torch.Tensor]:
        """What it predicts for one text, as a tensor with a batch axis of one."""
        import torch

        return {"lm": torch.from_numpy(self.logits(tokens))[None]}

    def logits(self, text: Text, target: Text | None = None) -> np.ndarray:
        """log P over the vocabulary, [position, vocab]: row i is about token i + 1, as in any causal model."""
        self.reads(target)
        row = checked(self.tokens(text).ids, self.size)
        if 8 * len(row) * self.size > MEMORY:
            raise TextError(
                f"The scores of {len(row):,} tokens over {self.size:,} would take too much memory. Shorten the text."
            )
        _, before = events(np.append(row, 0), np.array([len(row) + 1]), self.order, self.begin)
        logp: np.ndarray = np.log(self._distributions(before, len(row)))
        return logp

    def outputs(self, text: Text, target: Text | None = None) -> dict[str, np.ndarray]:
        """What the model predicts: `lm`, its `logits`."""
        return {"lm": self.logits(text, target)}

    def outputs_many(self, texts: Sequence[Text], targets: Sequence[Text | None] | None = None) -> list[dict[str, np.ndarray]]:
        """The same for several texts."""
        if isinstance(texts, (str, Tokens)):
            raise TextError("outputs_many takes a list of texts; this is one. Use outputs, or put it into a list.")
        return [self.outputs(text, target) for text, target in zip(texts, targets or [None] * len(texts), strict=True)]

    def _distributions(self, before: Sequence[np.ndarray], many: int) -> np.ndarray:
        """The whole distribution after each of `many` contexts, [context, size]."""
        chances = np.full((many, self.size), 1 / self.size)
        for level, own, down, heads in self._levels(before, many):
            met = np.flatnonzero(heads >= 0)
            first, last = (np.searchsorted(level.grams, (heads[met] + k) * self.size) for k in (0, 1))
            chances[met] *= down[heads[met], None]
            row = np.repeat(met, last - first)
            gram = np.arange(len(row)) + np.repeat(first - np.append(0, np.cumsum(last - first)[:-1]), last - first)
            chances[row, level.grams[gram] % self.size] += own[gram]  # a context has each next token once, so += adds once
        return chances

    def _levels(self, before: Sequence[np.ndarray], many: int) -> Iterator[tuple[Level, np.ndarray, np.ndarray, np.ndarray]]:
        """From the shortest to the longest: n-grams, what each keeps, what each context passes on, and the requested contexts."""
        contexts = find_contexts(self.counts, before, many)
        for level, (own, down), heads in zip(self.counts.levels, self._splits, contexts, strict=True):
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
    """Count the n-grams of `rows` (lists of ids, one a text) up to `order` tokens.

    Every row starts with a token that is given and not predicted, as the neural models' rows do; beyond it, the left context is
    filled up with `begin`. `size` (how many ids there are) and `begin` come from the tokenizer unless given.
    """
    if isinstance(order, bool) or not hasattr(order, "__index__") or not 1 <= order <= 4:
        raise ChoiceError(f"order={order!r} must be 1, 2, 3 or 4: how many tokens an n-gram has at most.")
    if smoothing not in SMOOTHINGS:
        raise unknown("smoothing", smoothing, SMOOTHINGS)
    size, begin = _size_and_begin(tokenizer, size, begin)
    flat, lengths = flattened(rows, size)
    tokens, before = events(flat, lengths, order, begin)
    if not len(tokens):
        raise TextError("There is nothing to count: no row has two tokens. Give rows of ids that begin with a begin token.")
    return NGram(count(tokens, before, size), smoothing, begin, tokenizer)


def token_rows(texts: Iterable[str], tokenizer: Tokenizer) -> list[np.ndarray]:
    """Each text as a row of ids, from its begin token to its end token, where the tokenizer has them."""
    if isinstance(texts, str):
        raise TextError("token_rows takes a list of texts. Put the text into a list.")
    coded = tokenizer.plain([check_text(text) for text in texts])
    begin, end = _edges(tokenizer)
    first, last = ([] if edge is None else [edge] for edge in (begin, end))
    return [np.array([*first, *tokens.ids, *last], dtype=np.int64) for tokens in coded]


def perplexity(logp: Sequence[np.ndarray]) -> float:
    """exp of the mean −log P, over all tokens of all rows together; `logp` may come from any model."""
    return math.exp(-float(_joined(logp).mean()))


def flattened(rows: Rows, size: int) -> tuple[np.ndarray, np.ndarray]:
    """All ids in one array, and the length of each row."""
    if isinstance(rows, (str, bytes)) or not is_many(rows):
        raise TextError("An n-gram model reads a list of rows of ids, for example [[0, 17, 4, 0]].")
    arrays = [np.asarray(row) for row in rows]
    if any(row.ndim != 1 for row in arrays):
        raise TextError("Every row must be a list of ids. Put a single row into a list.")
    lengths = np.array([len(row) for row in arrays], dtype=np.int64)
    full = [row for row in arrays if len(row)]
    return checked(np.concatenate(full) if full else np.zeros(0, dtype=np.int64), size), lengths


def checked(ids: np.ndarray, size: int) -> np.ndarray:
    """The ids, if every one is a token of this vocabulary."""
    if len(ids) and ids.dtype.kind not in "iu":
        raise TextError(f"Ids must be whole numbers, for example [0, 17, 4, 0]; these are {ids.dtype}.")
    wrong = ids[(ids < 0) | (ids >= size)]
    if len(wrong):
        check_index("token", int(wrong[0]), size)
    return ids.astype(np.int64)


def events(flat: np.ndarray, lengths: np.ndarray, order: int, begin: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """What is predicted, and for each the tokens 1, 2, … order − 1 positions to its left, with `begin` beyond the row's edge."""
    place = np.arange(len(flat)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # [token] its number in its row
    at = np.flatnonzero(place)  # the first token of a row is given
    return flat[at], [np.where(place[at] >= j, flat[at - j], begin) for j in range(1, order)]


def _joined(logp: Sequence[np.ndarray]) -> np.ndarray:
    joined = np.concatenate([np.asarray(row, dtype=np.float64) for row in logp]) if len(logp) else np.zeros(0)
    if not len(joined):
        raise TextError("No row has two tokens, so nothing was predicted. Give rows that begin with a begin token.")
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
        raise ChoiceError("Nothing says which token begins a text. Give begin=…, the id that every row starts with.")
    return size, check_index("token", begin, size)
