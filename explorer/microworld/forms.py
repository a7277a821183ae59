"""The forms of English words by rule: plurals, verb endings, articles."""

from __future__ import annotations

VOWELS = "aeiou"
SILENT = ("hour", "honest")
LIKE_YOU = ("university", "uniform")


def article(word: str) -> str:
    """Put `a` or `an` before a word, by its sound."""
    vowel = (word[0].lower() in VOWELS or word.startswith(SILENT)) and not word.startswith(LIKE_YOU)
    return f"an {word}" if vowel else f"a {word}"


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def plural(noun: str) -> str:
    """The regular plural: cat, cats; box, boxes; story, stories."""
    if noun.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def third(verb: str) -> str:
    """What one other person does: walks, watches, carries, goes."""
    return {"have": "has", "be": "is", "do": "does", "go": "goes"}.get(verb) or plural(verb)


def past(verb: str) -> str:
    """The regular past: walked, used, carried, stopped."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ied"
    return _doubled(verb) + "ed"


def ing(verb: str) -> str:
    """The form in -ing: walking, using, stopping, lying."""
    if verb == "lie":
        return "lying"
    if verb.endswith("e") and verb not in ("be", "see"):
        return verb[:-1] + "ing"
    return _doubled(verb) + "ing"


def _doubled(verb: str) -> str:
    """The last letter twice after one short vowel: stop, stopp(ed); but not in *listen* or *show*."""
    short = len(verb) > 2 and verb[-1] not in "aeiouwxy" and verb[-2] in VOWELS and verb[-3] not in VOWELS
    single = sum(letter in VOWELS for letter in verb) == 1
    return verb + verb[-1] if short and (single or verb in ("forget", "begin", "admit", "travel", "cancel")) else verb
