"""What a dictionary entry holds, and the tables of the other files read into entries."""

from __future__ import annotations

from explorer.microworld.grammar.conjugation import Conjugation, conjugate
from explorer.microworld.grammar.inflection import (
    english_forms,
    english_plural,
    french_feminine_plural,
    french_plural,
)
from explorer.microworld.grammar.words import Adjective, Noun, TranslatedVerb
from explorer.microworld.translation.adjectives import ADJECTIVE_LINES, COMPARATIVES, INVARIABLE
from explorer.microworld.translation.nouns import FEMININE_LINES, NOUN_LINES
from explorer.microworld.translation.verbs import VERB_LINES


def _rows(lines: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in lines.strip().splitlines()]


def _noun(en: str, fr: str, gender: str, kinds: str) -> Noun:
    singular, _, many = en.partition("/")
    un, _, des = fr.partition("/")
    return Noun(singular, many or english_plural(singular), un, des or french_plural(un), gender, tuple(kinds.split()))


def _adjective(en: str, fr: str, place: str, kinds: str) -> Adjective:
    m, _, f = fr.partition(" ")
    f = f or m
    more, most = COMPARATIVES.get(en, (f"more {en}", f"most {en}"))
    ms, fs = (m, f) if en in INVARIABLE else (french_plural(m), french_feminine_plural(f))
    return Adjective(en, more, most, m, f, ms, fs, place == "before", tuple(kinds.split()), ())


def _conjugated(infinitive: str) -> Conjugation:
    """The forms of a verb. *voudrait* is the one that is used in the conditional: *would like to* is said in no other form."""
    if infinitive != "voudrait":
        return conjugate(infinitive)
    wish = conjugate("vouloir")
    return wish._replace(infinitive=infinitive, present=wish.conditional)


def _verb(en: str, fr: str, subjects: str, objects: str, flags: str) -> TranslatedVerb:
    """One line of the table: `look + for` is a verb and its particle, `avoir besoin + de` a verb, a word and a link."""
    head, _, particle = (part.strip() for part in en.partition("+"))
    whole, _, link = (part.strip() for part in fr.partition("+"))
    infinitive, _, word = whole.partition(" ")
    return TranslatedVerb(
        english_forms(head), _conjugated(infinitive), particle, word, link,
        tuple(subjects.split()), tuple(objects.split()), tuple(flags.split()),
    )  # fmt: skip


NOUNS = tuple(_noun(*row) for row in _rows(NOUN_LINES))
FEMININES = {row[0].partition("/")[0]: _noun(*row) for row in _rows(FEMININE_LINES)}
ADJECTIVES = tuple(_adjective(*row) for row in _rows(ADJECTIVE_LINES))
VERBS = tuple(_verb(*row) for row in _rows(VERB_LINES))
HAVE = TranslatedVerb(english_forms("have had had"), conjugate("avoir"), flags=("state",))


def noun(fr: str) -> Noun:
    """The noun with this French singular (the English one may have several translations)."""
    return next(n for n in NOUNS + tuple(FEMININES.values()) if n.fr == fr)


def adjective(en: str, of: str = "") -> Adjective:
    """The adjective with this English form, where two share it the one that is said of the kind `of`."""
    return next(a for a in ADJECTIVES if a.en == en and (not of or of in a.kinds))


def verb(en: str, fr: str, flag: str = "") -> TranslatedVerb:
    """The verb with this English base form and this French infinitive, as *know* and *savoir*, and where needed a flag."""
    return next(v for v in VERBS if v.en[0] == en and v.fr.infinitive == fr and (not flag or flag in v.flags))
