"""Short forms of written English: *did not* is *didn't*, *it is* is *it's*; with the apostrophe of a keyboard or a curly one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.microworld.translation.pairing import Pair

NOT = {
    "did": "didn't", "does": "doesn't", "do": "don't", "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't",
    "has": "hasn't", "have": "haven't", "had": "hadn't", "will": "won't", "would": "wouldn't", "can": "can't", "could": "couldn't",
    "must": "mustn't", "should": "shouldn't",
}  # fmt: skip
JOINED = {
    ("i", "am"): "I'm", ("it", "is"): "it's", ("he", "is"): "he's", ("she", "is"): "she's", ("we", "are"): "we're",
    ("you", "are"): "you're", ("they", "are"): "they're", ("i", "will"): "I'll", ("he", "will"): "he'll", ("she", "will"): "she'll",
    ("we", "will"): "we'll", ("you", "will"): "you'll", ("they", "will"): "they'll", ("it", "will"): "it'll",
}  # fmt: skip
CURLY = "\u2019"


def short_form(first: str, second: str, after: str) -> str:
    """The short form of two words; "" where there is none, as before a full stop (*yes, it is.*)."""
    low, then = first.lower(), second.lower()
    made = NOT.get(low, "") if then == "not" else JOINED.get((low, then), "")
    ends = not after[:1].isalpha() or (after.lower() == "not" and then in NOT)
    if then != "not" and ends:
        return ""
    return made[:1].upper() + made[1:] if first[:1].isupper() else made


def contracted(pair: Pair, *, curly: bool = False) -> Pair:
    """The pair with the short forms of English; a short form stands for what its two words stood for.

    >>> from explorer.microworld.translation import pairs
    >>> said = next(pair for pair in pairs(500, 1) if " did not " in pair.english)
    >>> "didn't" in contracted(said).english
    True
    """
    words, where, text = [], [], pair.english
    at = 0
    while at < len(pair.english_words):
        first, second, after = (*pair.english_words[at : at + 3], "", "")[:3]
        made = short_form(first, second, after)
        if made:
            made = made.replace("'", CURLY) if curly else made
            text = text.replace(f"{first} {second}", made, 1)
        words.append(made or first)
        where += [len(words) - 1] * (2 if made else 1)
        at += 2 if made else 1
    aligned = tuple(sorted({(where[i], j) for i, j in pair.alignment}))
    return replace(pair, english=text, english_words=tuple(words), alignment=aligned)
