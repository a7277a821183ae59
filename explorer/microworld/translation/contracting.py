"""Short forms of written English: *did not* is *didn't*, *it is* is *it's*; with the apostrophe of a keyboard or a curly one."""

from __future__ import annotations

from collections.abc import Sequence

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
    form = NOT.get(low, "") if then == "not" else JOINED.get((low, then), "")
    ends = not after[:1].isalpha() or (after.lower() == "not" and then in NOT)
    if then != "not" and ends:
        return ""
    return form[:1].upper() + form[1:] if first[:1].isupper() else form


def contracted(text: str, words: Sequence[str], *, curly: bool = False) -> tuple[str, list[str], list[int]]:
    """An English text and its words with short forms, and for each old word the number of the new one.

    >>> contracted("It did not rain.", ["It", "did", "not", "rain", "."])
    ("It didn't rain.", ['It', "didn't", 'rain', '.'], [0, 1, 1, 2, 3])
    """
    tokens: list[str] = []
    where: list[int] = []
    at = 0
    while at < len(words):
        first, second, after = (*words[at : at + 3], "", "")[:3]
        short = short_form(first, second, after)
        if short:
            short = short.replace("'", CURLY) if curly else short
            text = text.replace(f"{first} {second}", short, 1)
        tokens.append(short or first)
        where += [len(tokens) - 1] * (2 if short else 1)
        at += 2 if short else 1
    return text, tokens, where
