"""What strategies do over many draws, from whole batches of the same text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from explorer.corruption.rows import INSERTED, MASKED, Corrupted, Rows, hidden_share, rows_of
from explorer.corruption.sentences import gap_positions, rouge
from explorer.corruption.strategies import STRATEGIES, applied, nominal_rate, row_of
from explorer.errors import TextError, check_seed, check_share, check_whole, unknown
from explorer.errors.kinds import checked
from explorer.records import GapSentences, Rates, SpanLengths, Tokens, Vocabulary
from explorer.text.tokenizers import Tokenizer

MOST, LETTERS = 2_000_000, 8  # tokens in all draws together, and letters for each of them: with more of them a text is too long
LONGEST = 20_000  # tokens of one text: the time that spans take grows with its square


def counted_strategies(vocabulary: Vocabulary) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """What is counted over many draws, by label: a strategy and its options. T5 needs sentinels, and is left out without."""
    usable = {name: entry for name, entry in STRATEGIES.items() if "sentinels" not in entry.lacks(vocabulary)}
    return {label: (name, options) for name, entry in usable.items() for label, options in entry.counted(name).items()}


def laws() -> dict[str, Callable[[int], np.ndarray]]:
    """The strategies whose spans are drawn from a law: how likely each length is, from 0 on, in a text of so many tokens."""
    return {name: entry.law for name, entry in STRATEGIES.items() if entry.law is not None}


@checked
def rates(text: str | Tokens, *, tokenizer: Tokenizer, draws: int = 500, seed: int = 0) -> Rates:
    """How much of this text every strategy with a rate hides, in as many draws.

    "mlm" takes an exact share; "mlm, coin flips" chooses every token independently. T5 is left out where the tokenizer
    has no sentinels.

    >>> "mlm" in ex.corruption.rates("A dog ran.", tokenizer=ex.load("bert").tokenizer, draws=5).names
    True
    """
    rows, seed = copies(text, tokenizer, draws), check_seed(seed)
    ways = counted_strategies(tokenizer.vocabulary)
    realised = []
    for strategy, options in ways.values():
        corrupted = applied(strategy, rows, tokenizer, np.random.default_rng(seed), options)
        realised.append(hidden_share(rows, corrupted))
    nominal = [nominal_rate(strategy, options) for strategy, options in ways.values()]
    return Rates(tuple(ways), np.array(nominal), np.array(realised), int(rows.free[0].sum()))


def copies(text: str | Tokens, tokenizer: Tokenizer, count: int) -> Rows:
    """A batch that holds one text many times."""
    check_whole("draws", count, 1, MOST)
    if isinstance(text, str) and len(text) * count > LETTERS * MOST:
        raise TextError(
            f"{count:,} draws of {len(text):,} letters would take too much memory. Shorten the text, or draw fewer times."
        )
    tokens = text if isinstance(text, Tokens) else tokenizer.encode(text)
    if len(tokens) > LONGEST:
        raise TextError(
            f"The text has {len(tokens):,} tokens. What is hidden is counted in at most {LONGEST:,}: shorten the text."
        )
    if len(tokens) * count > MOST:
        raise TextError(
            f"{count:,} draws of {len(tokens):,} tokens would take too much memory. Shorten the text, or draw fewer times."
        )
    row = row_of(tokens)
    if not row.free.any():
        raise TextError("There is nothing to hide: the text is empty. Write a sentence.")
    return rows_of(*(np.repeat(part, count, axis=0) for part in (row.ids, row.attention_mask, row.words, row.sentences)))


@checked
def span_lengths(text: str | Tokens, strategy: str, *, tokenizer: Tokenizer, draws: int = 500, seed: int = 0) -> SpanLengths:
    """How long the spans of "spanbert", "bart-infill" or "t5" are in this text, beside the law that they are drawn from.

    >>> ex.corruption.span_lengths("A dog ran away.", "spanbert", tokenizer=ex.load("bert").tokenizer, draws=5).unit
    'words'
    """
    if strategy not in laws():
        raise unknown("strategy with spans", strategy, laws())
    rows, seed = copies(text, tokenizer, draws), check_seed(seed)
    corrupted = applied(strategy, rows, tokenizer, np.random.default_rng(seed), {})
    lengths = _words_of(rows, corrupted) if "span" in corrupted.labels else _hidden_by_mark(corrupted)
    law = laws()[strategy](int(rows.free[0].sum()))
    size = max(len(law), int(lengths.max(initial=0)) + 1)
    least = 0 if law[0] else 1  # only BART's spans may be empty
    counts = np.bincount(lengths, minlength=size)[least:]
    nominal = np.pad(law, (0, size - len(law)))[least:]
    unit, tokens = "words" if "span" in corrupted.labels else "pieces", int(rows.free[0].sum())
    return SpanLengths(
        strategy, unit, np.arange(least, size), nominal, counts / max(1, counts.sum()), int(counts.sum()), tokens
    )


def _words_of(rows: Rows, corrupted: Corrupted) -> np.ndarray:
    """How many words each span of whole words touches."""
    span = corrupted.labels["span"]
    row, place = np.nonzero(span >= 0)
    words = np.unique(np.stack([row, span[row, place], rows.words[row, place]], axis=1), axis=0)
    return np.unique(words[:, :2], axis=0, return_counts=True)[1]


def _hidden_by_mark(corrupted: Corrupted) -> np.ndarray:
    """How many tokens each mark that was put in has replaced."""
    return corrupted.source.count[corrupted.source.attention_mask & np.isin(corrupted.source.action, (MASKED, INSERTED))]


@checked
def gap_sentences(text: str | Tokens, *, tokenizer: Tokenizer, rate: float = 0.3) -> GapSentences:
    """How much each sentence shares with the rest of its text, and which ones PEGASUS hides at this rate.

    >>> len(ex.corruption.gap_sentences("A dog ran. It was red.", tokenizer=ex.load("bert").tokenizer).sentences)
    2
    """
    tokens = text if isinstance(text, Tokens) else tokenizer.encode(text)
    rows = copies(tokens, tokenizer, 1)
    free, chosen = rows.free[0], gap_positions(rows, check_share("rate", rate))[0]
    numbers = rows.sentences[0]
    places = [np.flatnonzero(free & (numbers == n)) for n in range(int(numbers.max()) + 1)]
    return GapSentences(
        tuple(tokenizer.decode(tokens.ids[at].tolist()) for at in places),
        rouge(rows.ids[0, free], numbers[free]),
        tuple(bool(chosen[at].all()) for at in places),
        rate,
    )
