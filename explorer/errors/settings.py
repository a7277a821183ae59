"""A setting as it is typed on the command line."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from explorer.errors import ChoiceError

OPTIONS = (
    "size",
    "steps",
    "seed",
    "corpus",
    "field",
    "document",
    "encoding",
    "folder",
    "device",
    "precision",
    "processes",
)  # of fit, never by --set


def setting_in(text: str, separate: Sequence[str] = OPTIONS) -> tuple[str, Any]:
    """NAME=VALUE as a name and a number, a truth value or a word; what has a `separate` option is refused.

    >>> setting_in("dropout=0.1"), setting_in("tokenizer=bpe")
    (('dropout', 0.1), ('tokenizer', 'bpe'))
    """
    name, sign, value = text.partition("=")
    if not (sign and name.isidentifier()):
        raise ChoiceError(f"--set {text!r} must be NAME=VALUE, for example --set dropout=0.1.")
    if name in separate:
        raise ChoiceError(f"--set {text!r}: this has a separate option. Write --{name} {value}.")
    if name == "what":
        raise ChoiceError(f"--set {text!r}: the system is the argument of fit. Write explorer fit {value}.")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value
