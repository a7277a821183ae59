"""Every strategy by its name, and one text corrupted by any of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_type_hints

import numpy as np

from explorer.corruption import masking, noises, prediction, sentences, spans
from explorer.corruption.rows import MASKED, REPLACED, SCORED, Corrupted, Rows, hidden_share, rows_of
from explorer.corruption.strategy import CorruptionStrategy
from explorer.errors import ChoiceError, TextError, check_seed, repeated, unknown
from explorer.errors.kinds import check_kind, checked, python_own
from explorer.records import ACTIONS, Corruption, Tokens
from explorer.text.opening import AnyTokenizer, as_tokenizer
from explorer.text.tokenizers import Tokenizer

SHOWN_ELSEWHERE = ("span", "segments")  # in the record these are its spans, and the segments of its source


@checked
def corrupt(
    text: str | Tokens, strategy: str, *, tokenizer: AnyTokenizer, seed: int = 0, corpus: Sequence[str] = (), **options: Any
) -> Corruption:
    """One text as pre-training would show it to a model. The same seed gives the same corruption.

    `tokenizer` is ours, the path of a tokenizer.json, or one of the `tokenizers` or `transformers` library.
    `options` are the strategy's own, such as `rate`; "nsp" takes its unrelated second part from `corpus`, a list of other texts.

    >>> made = ex.corrupt("A dog ran. It was red.", "mlm", tokenizer=ex.load("bert").tokenizer, seed=1, rate=0.5)
    >>> int(made.scored.sum())
    4
    """
    entry, seed, tokenizer = entry_of(strategy), check_seed(seed), as_tokenizer(tokenizer)
    tokens = text if isinstance(text, Tokens) else tokenizer.encode(text)
    if not any(word >= 0 for word in tokens.words):
        raise TextError("There is nothing to hide: the text is empty. Write a sentence.")
    rng = np.random.default_rng(seed)
    rows = row_of(tokens)
    pair = strategy in PAIRS
    corrupted = entry.apply(tokens, tokenizer, rng, corpus) if pair else applied(strategy, rows, tokenizer, rng, options)
    return corruption_record(strategy, tokens, corrupted, tokenizer, seed, nominal_rate(strategy, options))


def entry_of(strategy: str) -> CorruptionStrategy:
    """The entry of a strategy or of a pair."""
    if not isinstance(strategy, str) or strategy not in (*STRATEGIES, *PAIRS):
        raise unknown("corruption", strategy, [*STRATEGIES, *PAIRS])
    return STRATEGIES.get(strategy) or PAIRS[strategy]


def applied(strategy: str, rows: Rows, tokenizer: Tokenizer, rng: np.random.Generator, options: Mapping[str, Any]) -> Corrupted:
    """A strategy on rows, with its options checked."""
    known, kinds = list(STRATEGIES[strategy].options), get_type_hints(STRATEGIES[strategy].apply)
    for name, value in options.items():
        if name not in known:
            raise unknown(f"option of {strategy}", name, known or ["none"])
        check_kind(name, value, kinds.get(name, Any))
        if name == "rate" and not 0 < value <= 1:
            raise ChoiceError(f"rate={repeated(value)} must be above 0 and at most 1.")
    return STRATEGIES[strategy].apply(rows, tokenizer.vocabulary, rng, **python_own(dict(options)))


def row_of(tokens: Tokens) -> Rows:
    """A batch of one text."""
    words, sentence_numbers = np.array([tokens.words]), np.array([tokens.sentences])
    return rows_of(tokens.ids[None].copy(), np.ones((1, len(tokens)), bool), words, sentence_numbers)


def corruption_record(
    strategy: str, original: Tokens, corrupted: Corrupted, tokenizer: Tokenizer, seed: int, nominal: float
) -> Corruption:
    """The record of the first row."""
    source = corrupted.source
    length = int(source.attention_mask[0].sum())
    start, count, action = source.start[0][:length], source.count[0][:length], source.action[0][:length]
    order = source.order[0].tolist()
    origin = tuple(tuple(order[s : s + c]) for s, c in zip(start.tolist(), count.tolist(), strict=True))
    stood_for = {place for places in origin for place in places}
    target = None if corrupted.target is None else tokenizer.tokens(corrupted.target[0][corrupted.scored[0]].tolist())
    scored = corrupted.scored[0][:length] if target is None else np.ones(len(target), bool)
    same = np.array_equal(source.ids[0][:length], original.ids)
    return Corruption(
        strategy=strategy,
        original=original,
        source=original if same else _damaged_tokens(source.ids[0][:length].tolist(), tokenizer, corrupted.labels),
        target=target,
        origin=origin,
        action=tuple(ACTIONS[a] for a in action),
        deleted=tuple(place for place in range(len(original)) if place not in stood_for),
        scored=scored,
        spans=_spans(origin, action, corrupted.labels.get("span")),
        nominal=nominal,
        realised=float(hidden_share(row_of(original), corrupted)[0]),
        seed=seed,
        labels={
            name: tuple(np.ravel(value[0]).tolist()) for name, value in corrupted.labels.items() if name not in SHOWN_ELSEWHERE
        },
    )


def _damaged_tokens(ids: list[int], tokenizer: Tokenizer, labels: Mapping[str, np.ndarray]) -> Tokens:
    """The tokens that the model reads; of a pair, with its two segments."""
    tokens = tokenizer.tokens(ids)
    if "segments" not in labels:
        return tokens
    return replace(tokens, segments=tuple(labels["segments"][0].tolist()))


def _spans(origin: Sequence[tuple[int, ...]], action: np.ndarray, span: np.ndarray | None) -> tuple[tuple[int, int], ...]:
    """What is hidden together: a mask for several positions is a span, and so are hidden neighbours that stand for one each.

    Where the strategy says itself which span a position belongs to, neighbours of two spans stay apart.
    """
    spans: list[tuple[int, int]] = []
    for place, (places, done) in enumerate(zip(origin, action, strict=True)):
        if done not in (MASKED, REPLACED, SCORED) or not places:
            continue
        together = span is None or span[0, place] == span[0, place - 1]
        if spans and len(places) == 1 and sum(spans[-1]) == places[0] and together:
            spans[-1] = (spans[-1][0], spans[-1][1] + 1)
        else:
            spans.append((places[0], len(places)))
    return tuple(spans)


def nominal_rate(strategy: str, options: Mapping[str, Any]) -> float:
    """The share of the text that a strategy aims at; NaN where it has none."""
    usual = entry_of(strategy).rate
    return usual if math.isnan(usual) else float(options.get("rate", usual))


STRATEGIES: dict[str, CorruptionStrategy] = {
    **prediction.ONWARD, **masking.MASKING, **spans.SPANS, **noises.NOISES, **sentences.GAPS, **prediction.DETECTION, **noises.CLOZE,
}  # fmt: skip
PAIRS: dict[str, CorruptionStrategy] = dict(sentences.PAIRS)  # two segments of one text; their `apply` takes more than rows
