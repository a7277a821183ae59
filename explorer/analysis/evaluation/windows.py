"""Held-out texts that are longer than a model reads, cut into windows that it reads whole: every measure sees all of a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from explorer.analysis.evaluation.context import EvalContext, EvalData, plain, sentences
from explorer.text.tokenizers import Tokenizer

SENTENCE = re.compile(r"(?<=[.!?…])\s+")  # between two sentences of a document
MOST = 256  # so many windows, spread over all texts, are looked at while a model trains; a card looks at all of them
Fits = Callable[[str], bool]


def in_windows(context: EvalContext) -> EvalData:
    """The held-out texts, those that are too long as several. Texts that fit are as they were; translations are never cut."""
    texts, windows = context.held.texts, list[Any]()
    for text in texts:
        separator = int(context.pairs and len(sentences(text)) > 1)  # between the parts of a pair
        windows += cut(text, context.tokenizer, context.length - separator)
    if len(windows) > max(MOST, len(texts)) and not context.thorough:
        windows = [windows[n * len(windows) // MOST] for n in range(MOST)]
    return context.held if len(windows) == len(texts) else replace(context.held, texts=windows)


def cut(text: Any, tokenizer: Tokenizer, length: int) -> list[Any]:
    """A text as windows of at most `length` tokens with their special tokens: whole sentences where they fit, else words, else letters.

    >>> tokenizer = ex.load("bert").tokenizer
    >>> cut("The dog ran home. It was hungry.", tokenizer, 8)
    ['The dog ran home.', 'It was hungry.']
    """

    def fits(part: str) -> bool:
        return tokenizer.count(part) <= length

    if hasattr(text, "source") or fits(plain(text)):
        return [text]
    every = SENTENCE.split(text.strip()) if isinstance(text, str) else text
    windows = fitting_groups((part for sentence in every for part in _short(sentence, fits)), fits)
    return [" ".join(window) for window in windows] if isinstance(text, str) else windows


def fitting_groups(parts: Iterable[str], fits: Fits) -> list[list[str]]:
    """Parts of a text in their order, as many together as fit."""
    groups: list[list[str]] = []
    for part in parts:
        if groups and fits(" ".join([*groups[-1], part])):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def _short(sentence: str, fits: Fits) -> Iterator[str]:
    """A sentence, or parts of it that fit: some of its words, or half of the letters of a word."""
    if fits(sentence) or len(sentence) < 2:
        yield sentence
    elif len(words := sentence.split()) > 1:
        yield from (" ".join(group) for group in fitting_groups((part for word in words for part in _short(word, fits)), fits))
    else:
        middle = len(sentence) // 2
        yield from (part for half in (sentence[:middle], sentence[middle:]) for part in _short(half, fits))
