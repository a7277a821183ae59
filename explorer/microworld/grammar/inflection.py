"""How words change their ending: English plurals and verb forms, French plurals."""

from __future__ import annotations

VOWELS = "aeiou"
DOUBLED = frozenset(
    {"run", "swim", "cut", "put", "travel", "forget", "begin", "stop", "chat", "hit", "get", "sit", "win", "prefer"}
)


def english_plural(noun: str) -> str:
    """The regular English plural: *cat* → *cats*, *church* → *churches*, *story* → *stories*."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def french_plural(word: str) -> str:
    """The regular French plural, also of masculine adjectives: *chat* → *chats*, *journal* → *journaux*."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("eau", "eu")) and word != "bleu":
        return word + "x"
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + "s"


def english_forms(text: str) -> tuple[str, str, str, str, str]:
    """Base, third person, past, participle, -ing, from *walk* or from *eat ate eaten*."""
    if text == "be":
        return ("be", "is", "was", "been", "being")
    base, *irregular = text.split()
    past, participle = irregular or (_past(base), _past(base))
    third = "has" if base == "have" else "goes" if base == "go" else english_plural(base)
    return base, third, past, participle, _ing(base)


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in VOWELS:
        return base[:-1] + "ied"
    return base + base[-1] * (base in DOUBLED) + "ed"


def _ing(base: str) -> str:
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + base[-1] * (base in DOUBLED) + "ing"
