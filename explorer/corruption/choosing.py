"""Hiding the words that a person chooses, instead of drawn ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.corruption.rows import MASKED, Corrupted
from explorer.corruption.strategies import corruption_record, row_of
from explorer.errors import ChoiceError, TextError, check_index, repeated
from explorer.errors.kinds import checked
from explorer.records import Corruption, Tokens
from explorer.text.opening import AnyTokenizer, as_tokenizer
from explorer.text.tokenizers import Tokenizer


@checked
def hide(text: str | Tokens, words: Sequence[int | str], *, tokenizer: AnyTokenizer) -> Corruption:
    """A text with some of its words under [MASK]: words by their number, counted from 0, or as they are written.

    >>> ex.hide("A dog ran.", ["dog"], tokenizer=ex.load("bert").tokenizer).source.texts
    ('[CLS]', 'a', '[MASK]', 'ran', '.', '[SEP]')
    """
    tokenizer = as_tokenizer(tokenizer)
    tokens = text if isinstance(text, Tokens) else tokenizer.encode(text)
    if tokenizer.vocabulary.mask is None:
        raise ChoiceError("Hiding needs a tokenizer with a mask token, such as wordpiece.")
    if isinstance(words, str) or not len(words):
        raise ChoiceError(f"words={words!r} must be a list of words or of their numbers, such as ['tired'] or [3].")
    numbers = np.array(tokens.words)
    known = written_words(tokens, tokenizer)
    chosen = np.isin(numbers, [place for word in words for place in _numbers(word, known)])
    rows = row_of(tokens)
    source = rows.changed(chosen[None], tokenizer.vocabulary.mask, MASKED)
    return corruption_record("chosen", tokens, Corrupted(source, chosen[None]), tokenizer, 0, float("nan"))


def written_words(tokens: Tokens, tokenizer: Tokenizer) -> tuple[str, ...]:
    """The words of a text by their number, as the tokenizer writes them."""
    numbers = np.array(tokens.words, dtype=np.int64)
    order, count = np.argsort(numbers, kind="stable"), int(numbers.max(initial=-1)) + 1
    places = np.split(order, np.searchsorted(numbers[order], np.arange(count + 1)))[1:-1]
    return tuple(tokenizer.decode(tokens.ids[at].tolist()).strip() for at in places)


def _numbers(word: int | str, known: tuple[str, ...]) -> list[int]:
    """The numbers of a word: itself, or wherever this word is written."""
    if not isinstance(word, str):
        return [check_index("word", word, len(known))]
    numbers = [n for n, text in enumerate(known) if text.lower() == word.lower().strip()]
    if not numbers:
        raise TextError(f"There is no word {repeated(word)} in this text. Its words are: {' '.join(known)}.")
    return numbers
