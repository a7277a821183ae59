"""What strategies do over many draws, from whole batches of the same text."""

from __future__ import annotations

from collections.abc import Callable
from math import comb, exp, factorial
from typing import Any

import numpy as np

from explorer.corruption.masking import lengths_of_spans
from explorer.corruption.rows import INSERTED, MASKED, Corrupted, Rows, hidden_share, rows_of
from explorer.corruption.sentences import gaps, rouge
from explorer.corruption.strategies import applied, nominal_rate, row_of
from explorer.errors import ChoiceError, TextError, unknown
from explorer.records import GapSentences, Rates, SpanLengths, Tokens
from explorer.text.tokenizers import Tokenizer

COINS = "mlm, coin flips"
COUNTED: dict[str, tuple[str, dict[str, Any]]] = {
    "mlm": ("mlm", {}),
    COINS: ("mlm", {"exact": False}),
    **{name: (name, {}) for name in ("whole-word", "spanbert", "electra", "t5", "bart-mask", "bart-delete", "bart-infill")},
    **{name: (name, {}) for name in ("pegasus", "cloze-reorder", "cloze-insert")},
}


def rates(text: str | Tokens, *, tokenizer: Tokenizer, draws: int = 500, seed: int = 0) -> Rates:
    """How much of this text every strategy with a rate hides, in as many draws.

    "mlm" takes an exact share; "mlm, coin flips" lets every piece be chosen on its own. T5 is left out where the tokenizer
    has no sentinels.
    """
    rows = copies(text, tokenizer, draws)
    names = [name for name, (strategy, _) in COUNTED.items() if strategy != "t5" or tokenizer.vocabulary.sentinels]
    realised = []
    for name in names:
        strategy, options = COUNTED[name]
        made = applied(strategy, rows, tokenizer, np.random.default_rng(seed), options)
        realised.append(hidden_share(rows, made))
    nominal = [nominal_rate(*COUNTED[name]) for name in names]
    return Rates(tuple(names), np.array(nominal), np.array(realised), int(rows.free[0].sum()))


def copies(text: str | Tokens, tokenizer: Tokenizer, count: int) -> Rows:
    """A batch that holds one text many times."""
    if count < 1:
        raise ChoiceError(f"draws={count!r} must be at least 1.")
    tokens = text if isinstance(text, Tokens) else tokenizer.encode(text)
    one = row_of(tokens)
    if not one.free.any():
        raise TextError("There is nothing to hide: the text is empty. Write a sentence.")
    return rows_of(*(np.repeat(part, count, axis=0) for part in (one.ids, one.real, one.words, one.sentences)))


def span_lengths(text: str | Tokens, strategy: str, *, tokenizer: Tokenizer, draws: int = 500, seed: int = 0) -> SpanLengths:
    """How long the spans of "spanbert", "bart-infill" or "t5" are in this text, beside the law that they are drawn from."""
    if strategy not in LAWS:
        raise unknown("strategy with spans", strategy, LAWS)
    rows = copies(text, tokenizer, draws)
    made = applied(strategy, rows, tokenizer, np.random.default_rng(seed), {})
    found = _words_of(rows, made) if strategy == "spanbert" else _pieces_of(made)
    law = LAWS[strategy](int(rows.free[0].sum()))
    size = max(len(law), int(found.max(initial=0)) + 1)
    least = 0 if law[0] else 1  # only BART's spans may be empty
    counts = np.bincount(found, minlength=size)[least:]
    nominal = np.pad(law, (0, size - len(law)))[least:]
    unit, pieces = "words" if strategy == "spanbert" else "pieces", int(rows.free[0].sum())
    return SpanLengths(
        strategy, unit, np.arange(least, size), nominal, counts / max(1, counts.sum()), int(counts.sum()), pieces
    )


def _words_of(rows: Rows, made: Corrupted) -> np.ndarray:
    """How many words each span of whole words touches."""
    span = made.labels["span"]
    row, place = np.nonzero(span >= 0)
    words = np.unique(np.stack([row, span[row, place], rows.words[row, place]], axis=1), axis=0)
    return np.unique(words[:, :2], axis=0, return_counts=True)[1]


def _pieces_of(made: Corrupted) -> np.ndarray:
    """How many pieces stand behind each mark that was put in."""
    return made.source.count[made.source.real & np.isin(made.source.action, (MASKED, INSERTED))]


def spanbert_law(pieces: int) -> np.ndarray:
    """Geometric, truncated at ten and renormalised: mean 3.8 words."""
    return np.concatenate([[0.0], lengths_of_spans()[1]])


def infill_law(pieces: int, mean: float = 3.0) -> np.ndarray:
    """Poisson with mean 3, zero included; cut where less than a millionth is left."""
    return np.array([exp(-mean) * mean**n / factorial(n) for n in range(15)])


def t5_law(pieces: int, rate: float = 0.15, mean: float = 3.0) -> np.ndarray:
    """One part of an even random cut of N hidden pieces into k spans: P(l) = C(N−l−1, k−2) / C(N−1, k−1)."""
    hidden = int(min(max(np.rint(pieces * rate), 1), max(pieces - 1, 1)))
    spans = min(max(int(np.rint(hidden / mean)), 1), hidden, max(pieces - hidden, 1))
    if spans == 1:
        return np.eye(hidden + 1)[hidden]
    ways = [0, *(comb(hidden - n - 1, spans - 2) for n in range(1, hidden - spans + 2))]
    return np.array(ways) / comb(hidden - 1, spans - 1)


def gap_sentences(text: str | Tokens, *, tokenizer: Tokenizer, rate: float = 0.3) -> GapSentences:
    """How much each sentence shares with the rest of its text, and which ones PEGASUS hides at this rate."""
    tokens = text if isinstance(text, Tokens) else tokenizer.encode(text)
    rows = copies(tokens, tokenizer, 1)
    free, chosen = rows.free[0], gaps(rows, rate)[0]
    numbers = rows.sentences[0]
    places = [np.flatnonzero(free & (numbers == n)) for n in range(int(numbers.max()) + 1)]
    return GapSentences(
        tuple(tokenizer.decode(tokens.ids[at].tolist()) for at in places),
        rouge(rows.ids[0, free], numbers[free]),
        tuple(bool(chosen[at].all()) for at in places),
        rate,
    )


LAWS: dict[str, Callable[[int], np.ndarray]] = {"spanbert": spanbert_law, "bart-infill": infill_law, "t5": t5_law}
