"""What may be given as a text, whatever kind of model reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.records import Tokens
from explorer.text.tokenizers import AS_ELMO, MOST, Tokenizer

BLANK = "___"
Text = str | tuple[str, str] | Tokens | Sequence[int]


@checked
def first_tokens(stories: Iterable[Sequence[str]], tokenizer: Tokenizer, count: int) -> Tokens:
    """The first tokens of some stories, sentence after sentence, as one text without special tokens.

    >>> import explorer as ex
    >>> len(first_tokens([["A dog ran.", "It was red."]], ex.load("bert").tokenizer, 6))
    6
    """
    check_whole("count", count, 1, MOST)
    rows = (tokenizer.encode(sentence, special=False).ids.tolist() for story in stories for sentence in story)
    return tokenizer.tokens(list(islice(chain.from_iterable(rows), count)))


def as_tokens(text: Any, tokenizer: Tokenizer) -> Tokens:
    """Tokens for whatever was given as a text: a string or a pair (special tokens are added), Tokens or ids (taken as they are)."""
    if isinstance(text, Tokens):
        tokens = _of_this_tokenizer(text, tokenizer)
    elif isinstance(text, str):
        tokens = tokenizer.encode(_not_blank(text))
        if len(tokens) == len(tokenizer.encode("")):
            raise TextError("Nothing in this text is a token for this tokenizer. Give at least one word.")
    elif isinstance(text, tuple) and len(text) == 2 and all(isinstance(part, str) for part in text):
        tokens = tokenizer.encode(_not_blank(text[0]), _not_blank(text[1]))
    elif isinstance(text, (list, tuple)) or (isinstance(text, np.ndarray) and text.ndim):
        tokens = tokenizer.tokens(list(text))
    else:
        raise TextError(f"A text must be a string, a pair of strings, Tokens or a list of ids; this is {type(text).__name__}.")
    if not len(tokens):
        raise TextError("There is no token in this text. Give at least one word.")
    return tokens


def blanks_as_tokens(text: Text, tokenizer: Tokenizer) -> Text:
    """The text with the mask token at every blank, or T5's sentinels in their order."""
    if not isinstance(text, str) or BLANK not in text:
        return text
    known, (first, *others) = tokenizer.vocabulary, text.split(BLANK)
    marks = known.sentinels if known.mask is None else (known.mask,) * len(others)
    if len(marks) < len(others):
        raise TextError(
            f"The text has {len(others)} blanks ({BLANK}), and this model knows {len(marks) or 'none'}. Write it out."
        )
    around = " " if tokenizer.style == "inside" else ""
    names = (f"{around}{tokenizer.core.id_to_token(mark)}{around}" for mark in marks)
    return first + "".join(name + part for name, part in zip(names, others, strict=False))


def knows_blanks(family: str, tokenizer: Tokenizer) -> bool:
    """Whether a model has something to read where a text has a blank: a mask or a sentinel, and what comes after it."""
    return family != "decoder" and (tokenizer.vocabulary.mask is not None or bool(tokenizer.vocabulary.sentinels))


def are_several(text: Any) -> bool:
    """Whether these are several texts and not one: a list of strings, pairs, Tokens or lists of ids. Two strings in a tuple are a pair.

    >>> are_several(["A dog.", "A cat."]), are_several(("A dog.", "A cat.")), are_several([3, 4])
    (True, False, False)
    """
    if isinstance(text, (str, Tokens)) or not isinstance(text, (list, tuple)) or not text:
        return False
    pair = isinstance(text, tuple) and len(text) == 2 and all(isinstance(part, str) for part in text)
    return not pair and all(isinstance(part, (str, Tokens, list, tuple, np.ndarray)) for part in text)


def refuse_target(name: str, target: Text | None) -> None:
    """Say that a model reads one text, where it was given two."""
    if target is not None:
        raise ChoiceError(f"{name} reads one text and takes no target. Leave `target` out.")


def _of_this_tokenizer(tokens: Tokens, tokenizer: Tokenizer) -> Tokens:
    """Refuse tokens of another tokenizer: most of their ids then are other tokens here.

    An unknown word has one id and many texts, and the last byte of a letter is shown with the whole letter before it.
    """
    here = [tokenizer.text_of(i) for i in tokens.ids.tolist()]
    pairs = zip(tokens.ids.tolist(), tokens.texts, here, strict=True)
    other = [(i, there, text) for i, there, text in pairs if not there.endswith(text) and i != tokenizer.vocabulary.unknown]
    if 2 * len(other) > len(tokens):
        number, there, text = other[len(other) // 2]
        raise TextError(
            f"These are tokens of another tokenizer: id {number} is {there!r} there and {text!r} here. Give the text itself."
        )
    if tokens.characters is None and tokenizer.core.token_to_id(AS_ELMO) is not None:
        raise TextError("These tokens hold no letters, and this model reads words by their letters. Give the text itself.")
    return tokens


def _not_blank(text: str) -> str:
    if not text.strip():
        raise TextError("The text is empty. Give at least one word.")
    return text
