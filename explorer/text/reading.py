"""What may be given as a text, whatever kind of model reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from explorer.errors import TextError
from explorer.records import Tokens
from explorer.text.tokenizers import Tokenizer

Text = str | tuple[str, str] | Tokens | Sequence[int]


def as_tokens(text: Any, tokenizer: Tokenizer) -> Tokens:
    """Tokens for whatever was given as a text: a string or a pair (special pieces are added), Tokens or ids (taken as they are)."""
    if isinstance(text, Tokens):
        tokens = text
    elif isinstance(text, str):
        tokens = tokenizer.encode(_not_blank(text))
        if len(tokens) == len(tokenizer.encode("")):
            raise TextError("Nothing in this text is a piece for this tokenizer. Give at least one word.")
    elif isinstance(text, tuple) and len(text) == 2 and all(isinstance(part, str) for part in text):
        tokens = tokenizer.encode(_not_blank(text[0]), _not_blank(text[1]))
    elif isinstance(text, (list, tuple, np.ndarray)):
        tokens = tokenizer.tokens(list(text))
    else:
        raise TextError(f"A text must be a string, a pair of strings, Tokens or a list of ids; this is {type(text).__name__}.")
    if not len(tokens):
        raise TextError("There is no piece in this text. Give at least one word.")
    return tokens


def _not_blank(text: str) -> str:
    if not text.strip():
        raise TextError("The text is empty. Give at least one word.")
    return text
