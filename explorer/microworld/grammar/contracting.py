"""Short forms of written English: *did not* is *didn't*, *it is* is *it's*; with the apostrophe of a keyboard or a curly one."""

from __future__ import annotations

from explorer.microworld.grammar.tree import Lexeme

NOT = {
    "did": "didn't", "does": "doesn't", "do": "don't", "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't",
    "has": "hasn't", "have": "haven't", "had": "hadn't", "will": "won't", "would": "wouldn't", "could": "couldn't",
    "must": "mustn't", "should": "shouldn't",
}  # fmt: skip
JOINED = {
    ("i", "am"): "I'm", ("it", "is"): "it's", ("he", "is"): "he's", ("she", "is"): "she's", ("we", "are"): "we're",
    ("you", "are"): "you're", ("they", "are"): "they're", ("i", "will"): "I'll", ("he", "will"): "he'll", ("she", "will"): "she'll",
    ("we", "will"): "we'll", ("you", "will"): "you'll", ("they", "will"): "they'll", ("it", "will"): "it'll", ("i", "would"): "I'd",
}  # fmt: skip
CURLY = "\N{RIGHT SINGLE QUOTATION MARK}"


def contracted(spoken: list[Lexeme], curly: bool = False) -> list[Lexeme]:
    """The words of a sentence with short forms; a short form translates what its two words translated."""
    short: list[Lexeme] = []
    at = 0
    while at < len(spoken):
        first = spoken[at]
        second, after = ([*spoken[at + 1 : at + 3], Lexeme(""), Lexeme("")])[:2]
        text = "can't" if first.text == "cannot" else _short(first.text.lower(), second.text, after.text)
        if not text:
            short.append(first)
            at += 1
            continue
        single = first.text == "cannot"
        text = text.replace("'", CURLY) if curly else text
        marks = first.marks if single else first.marks + second.marks
        short.append(Lexeme(text, marks, "AUX", first.who, first.number or second.number))
        at += 1 if single else 2
    return short


def _short(first: str, second: str, after: str) -> str:
    """The short form of two words; nothing where there is none, as before a full stop (*yes, it is.*)."""
    if second == "not":
        return NOT.get(first, "")
    ends = not after[:1].isalpha() or (after == "not" and second in NOT)
    return "" if ends else JOINED.get((first, second), "")


def long_forms(text: str) -> str:
    """A text with every *n't* written out: *They don't know.* is *They do not know.*"""
    for full, short in (("cannot", "can't"), *((f"{word} not", short) for word, short in NOT.items())):
        text = text.replace(short, full).replace(short.capitalize(), full.capitalize())
    return text
