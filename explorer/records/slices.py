"""Slices of texts by a visitor's rule: what they contain, how long they are, which label they have."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

import numpy as np

from explorer.errors import ChoiceError

RULES = "contains not · without not · words > 8 · words <= 8 · label happy, and several joined by “and”"
COMPARED: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip
PARTS = re.compile(r"\s+and\s+(?=(?:contains|without|words|label)\b)", re.IGNORECASE)
LENGTH = re.compile(r"words\s*(>=|<=|>|<|=)\s*(\d{1,6})", re.IGNORECASE)
WORDS = re.compile(r"(contains|without|label)\s+(\S.*)", re.IGNORECASE)


def slice_of(rule: str, texts: Sequence[str], labels: Sequence[str] = ()) -> np.ndarray:
    """Which texts a rule takes [text], for example "contains not and words > 6". Capital letters do not matter; words are whole.

    >>> slice_of("without dog", ["The dog ran.", "The hotdog was warm."]).tolist()
    [False, True]
    """
    inside = np.ones(len(texts), bool)
    for part in PARTS.split(rule.strip()):
        if match := LENGTH.fullmatch(part):
            compare, count = COMPARED[match[1]], int(match[2])
            inside &= np.array([compare(len(text.split()), count) for text in texts], bool)
        elif (match := WORDS.fullmatch(part)) and not (match[1].lower() == "label" and not labels):
            inside &= _with(match[1].lower(), match[2].strip(), texts, labels)
        else:
            raise ChoiceError(f"{part!r} is not a rule for a slice. Write one like these: {RULES}.")
    return inside


def _with(kind: str, given: str, texts: Sequence[str], labels: Sequence[str]) -> np.ndarray:
    """The texts with these words, without them, or with this label."""
    if kind == "label":
        return np.array([label.lower() == given.lower() for label in labels], bool)
    before, after = (r"\b" if re.match(r"\w", letter) else "" for letter in (given[0], given[-1]))
    words = re.compile(f"{before}{re.escape(given)}{after}", re.IGNORECASE)
    return np.array([bool(words.search(text)) == (kind == "contains") for text in texts], bool)
