"""Every strategy by its name, and one text corrupted by any of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from itertools import groupby
from typing import Any

import numpy as np

from explorer.corruption import masking, noises, prediction, sentences, spans
from explorer.corruption.rows import (
    INSERTED,
    KEPT,
    MASKED,
    MOVED,
    REPLACED,
    SCORED,
    Corrupted,
    Rows,
    hidden_share,
    rows_of,
)
from explorer.errors import ChoiceError, TextError, unknown
from explorer.records import ACTIONS, Corruption, Tokens, Vocabulary
from explorer.text.tokenizers import Tokenizer

PAIRS = ("nsp", "sop")
SHOWN_ELSEWHERE = ("span", "segments")  # in the record these are its spans, and the segments of its source


def corrupt(
    text: str | Tokens, strategy: str, *, tokenizer: Tokenizer, seed: int = 0, corpus: Sequence[str] = (), **options: Any
) -> Corruption:
    """One text as pre-training would show it to a model. The same seed gives the same corruption.

    `options` are the strategy's own, such as `rate`; "nsp" takes its stranger from `corpus`, a list of other texts.
    """
    if not isinstance(strategy, str) or strategy not in (*STRATEGIES, *PAIRS):
        raise unknown("corruption", strategy, [*STRATEGIES, *PAIRS])
    tokens = text if isinstance(text, Tokens) else tokenizer.encode(text)
    if not any(word >= 0 for word in tokens.words):
        raise TextError("There is nothing to hide: the text is empty. Write a sentence.")
    chance = np.random.default_rng(seed)
    rows = row_of(tokens)
    pair = strategy in PAIRS
    made = _pair(tokens, strategy, tokenizer, chance, corpus) if pair else applied(strategy, rows, tokenizer, chance, options)
    return record(strategy, tokens, made, tokenizer, seed, nominal_rate(strategy, options))


def applied(strategy: str, rows: Rows, tokenizer: Tokenizer, chance: np.random.Generator, options: dict[str, Any]) -> Corrupted:
    """A strategy on rows, with its options checked."""
    known = [name for name in signature(STRATEGIES[strategy]).parameters if name not in ("rows", "vocabulary", "chance")]
    for name, value in options.items():
        if name not in known:
            raise unknown(f"option of {strategy}", name, known or ["none"])
        if name == "rate" and not (isinstance(value, (int, float)) and 0 < value <= 1):
            raise ChoiceError(f"rate={value!r} must lie above 0 and at most be 1.")
    return STRATEGIES[strategy](rows, tokenizer.vocabulary, chance, **options)


def row_of(tokens: Tokens) -> Rows:
    """A batch of one text."""
    words, sentence_numbers = np.array([tokens.words]), np.array([tokens.sentences])
    return rows_of(tokens.ids[None].copy(), np.ones((1, len(tokens)), bool), words, sentence_numbers)


def record(strategy: str, original: Tokens, made: Corrupted, tokenizer: Tokenizer, seed: int, nominal: float) -> Corruption:
    """The record of the first row."""
    source = made.source
    length = int(source.real[0].sum())
    start, count, action = source.start[0][:length], source.count[0][:length], source.action[0][:length]
    order = source.order[0].tolist()
    origin = tuple(tuple(order[s : s + c]) for s, c in zip(start.tolist(), count.tolist(), strict=True))
    stood_for = {place for places in origin for place in places}
    target = None if made.target is None else tokenizer.tokens(made.target[0][made.scored[0]].tolist())
    scored = made.scored[0][:length] if target is None else np.ones(len(target), bool)
    same = np.array_equal(source.ids[0][:length], original.ids)
    return Corruption(
        strategy=strategy,
        original=original,
        source=original if same else _pieces(source.ids[0][:length].tolist(), tokenizer, made.labels),
        target=target,
        origin=origin,
        action=tuple(ACTIONS[a] for a in action),
        deleted=tuple(place for place in range(len(original)) if place not in stood_for),
        scored=scored,
        spans=_spans(origin, action, made.labels.get("span")),
        nominal=nominal,
        realised=float(hidden_share(row_of(original), made)[0]),
        seed=seed,
        labels={name: tuple(np.ravel(value[0]).tolist()) for name, value in made.labels.items() if name not in SHOWN_ELSEWHERE},
    )


def _pieces(ids: list[int], tokenizer: Tokenizer, labels: Mapping[str, np.ndarray]) -> Tokens:
    """The pieces that the model reads; a pair has its second segment told apart."""
    tokens = tokenizer.tokens(ids)
    if "segments" not in labels:
        return tokens
    return replace(tokens, segments=tuple(labels["segments"][0].tolist()))


def _spans(origin: Sequence[tuple[int, ...]], action: np.ndarray, span: np.ndarray | None) -> tuple[tuple[int, int], ...]:
    """What is hidden together: a mask for several places is a span, and so are hidden neighbours that stand for one each.

    Where the strategy says itself which span a place belongs to, neighbours of two spans stay apart.
    """
    found: list[tuple[int, int]] = []
    for place, (places, done) in enumerate(zip(origin, action, strict=True)):
        if done not in (MASKED, REPLACED, SCORED) or not places:
            continue
        together = span is None or span[0, place] == span[0, place - 1]
        if found and len(places) == 1 and sum(found[-1]) == places[0] and together:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((places[0], len(places)))
    return tuple(found)


def nominal_rate(strategy: str, options: dict[str, Any]) -> float:
    """The share of the text that a strategy aims at; NaN where it has none."""
    if strategy in PAIRS or "rate" not in signature(STRATEGIES[strategy]).parameters:
        return float("nan")
    return float(options.get("rate", signature(STRATEGIES[strategy]).parameters["rate"].default))


def _pair(tokens: Tokens, strategy: str, tokenizer: Tokenizer, chance: np.random.Generator, corpus: Sequence[str]) -> Corrupted:
    """Two segments between [CLS] and [SEP], with the label that the model should find."""
    vocabulary = tokenizer.vocabulary
    if vocabulary.cls is None or vocabulary.sep is None:
        raise ChoiceError(f"{strategy} needs a tokenizer with [CLS] and [SEP], such as wordpiece.")
    story = _sentences(tokens)
    if len(story) < 2:
        raise TextError(f"{strategy} cuts a text between two sentences. Write at least two.")
    stranger: dict[int, int] = {}
    swapped = False
    if strategy == "sop":
        first, second, label = sentences.sop(story, chance)
        swapped = label == 1
    else:
        if not corpus:
            raise ChoiceError("nsp needs other texts to take a stranger from. Give them as corpus=[…].")
        other = tokenizer.encode(corpus[int(chance.integers(len(corpus)))], special=False)
        first, second, label = sentences.nsp(story, [[-1 - place for place in part] for part in _sentences(other)], chance)
        stranger = {-1 - place: int(i) for place, i in enumerate(other.ids)}
    begin, end = _ends(tokens, vocabulary)
    places = [begin, *(p for part in first for p in part), None, *(p for part in second for p in part), end]
    marks = iter([vocabulary.cls] * (begin is None) + [vocabulary.sep] + [vocabulary.sep] * (end is None))
    ids = [next(marks) if p is None else int(tokens.ids[p]) if p >= 0 else stranger[p] for p in places]
    inserted = np.array([[p is None or p < 0 for p in places]])
    start = np.array([[0 if p is None or p < 0 else p for p in places]])
    shape = np.ones((1, len(ids)), bool)
    text = np.array([[p not in (None, begin, end) for p in places]])
    words = np.where(text & ~inserted, 0, -1)
    action = np.where(inserted, INSERTED, np.where(text & swapped, MOVED, KEPT))
    order = np.arange(len(tokens))[None]
    made = Rows(np.array([ids]), shape, words, words, start, np.where(inserted, 0, 1), action, order)
    segments = np.arange(len(ids))[None] >= 2 + sum(map(len, first))  # [CLS] A [SEP] are segment 0
    labels = {strategy: np.array([[label]]), "segments": segments.astype(np.int64)}
    return Corrupted(made, np.zeros_like(shape), labels=labels)


def _ends(tokens: Tokens, vocabulary: Vocabulary) -> tuple[int | None, int | None]:
    """The places of [CLS] and of the last [SEP], where the text has them already."""
    last = len(tokens) - 1
    return 0 if tokens.ids[0] == vocabulary.cls else None, last if tokens.ids[last] == vocabulary.sep else None


def _sentences(tokens: Tokens) -> list[list[int]]:
    """The places of each sentence."""
    numbered = [(s, place) for place, (s, word) in enumerate(zip(tokens.sentences, tokens.words, strict=True)) if word >= 0]
    return [[place for _, place in part] for _, part in groupby(numbered, key=lambda pair: pair[0])]


STRATEGIES: dict[str, Callable[..., Corrupted]] = {
    "causal": prediction.causal,
    "prefix": prediction.prefix,
    "mlm": masking.mlm,
    "whole-word": masking.whole_word,
    "spanbert": masking.spanbert,
    "t5": spans.t5,
    "bart": noises.bart,
    "bart-mask": noises.mask,
    "bart-delete": noises.delete,
    "bart-infill": noises.infill,
    "bart-permute": noises.permute,
    "bart-rotate": noises.rotate,
    "pegasus": sentences.pegasus,
    "electra": prediction.electra,
    "cloze-substitute": noises.substitute,
    "cloze-reorder": noises.reorder,
    "cloze-delete": noises.delete,
    "cloze-insert": noises.insert,
}
