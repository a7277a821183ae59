"""Choosing: a chance, and the nouns, adjectives, pronouns and tenses that it draws so that they go together."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from explorer.microworld.grammar.tree import NP, Both, Features, Gap, Phrase, Pronoun, ProperName, agreement
from explorer.microworld.grammar.words import Adverb
from explorer.microworld.translation.adverbs import ALREADY, MANNERS, NAMES, OFTEN, TIMES
from explorer.microworld.translation.lexicon import ADJECTIVES, NOUNS, VERBS, Adjective, Noun, TranslatedVerb

T = TypeVar("T")
DENIED = 0.16  # the share of clauses that are denied
BORROWED = ("plural", "plural_game")
OWNED = {"thing", "clothes", "pair", "vehicle", "holder", "home", "pet", "baked", "readable", "room", "idea"}
EXCESS = frozenset(
    ("big", "small", "old", "long", "heavy", "expensive", "dirty", "wide", "narrow", "dangerous", "difficult", "easy", "hot", "cold")
    + ("boring", "sad", "tired", "young", "shy", "lazy", "proud", "serious", "fat", "sick", "angry", "quiet", "modern", "light")
)  # fmt: skip
PLAIN = frozenset(
    (
        "red",
        "blue",
        "green",
        "white",
        "black",
        "yellow",
        "grey",
        "brown",
        "empty",
        "French",
        "English",
        "Italian",
        "bad",
        "wild",
    )
)


@cache
def nouns(*kinds: str) -> tuple[Noun, ...]:
    """Every noun of one of these kinds."""
    return tuple(n for n in NOUNS if set(kinds) & set(n.kinds))


@cache
def adjectives(kinds: tuple[str, ...]) -> tuple[Adjective, ...]:
    """Every adjective that is said of one of these kinds."""
    aged = {"young", "elder"} & set(kinds)
    return tuple(a for a in ADJECTIVES if set(kinds) & set(a.kinds) and not (aged and a.en in ("old", "young")))


@cache
def verbs(flag: str, kind: str = "person", other: str = "") -> tuple[TranslatedVerb, ...]:
    """Every verb with this flag (and the other) that has this kind of subject."""
    return tuple(v for v in VERBS if flag in v.flags and kind in v.subjects and (not other or other in v.flags))


@cache
def transitive(kind: str) -> tuple[TranslatedVerb, ...]:
    """Every verb with an ordinary object whose subject is of this kind."""
    apart = {"swap", "modal", "willing", "able", "gives", "own", "wants", "needs", "game", "music", "puts"}
    return tuple(v for v in VERBS if v.objects and kind in v.subjects and not apart & set(v.flags))


@cache
def times(sort: str) -> tuple[Adverb, ...]:
    """Every time that goes with past, come, habit or now."""
    return tuple(t for t in TIMES if sort in t.tenses.split())


@cache
def manners(sort: str) -> tuple[Adverb, ...]:
    """Every way of doing that goes with skill, pace, care, quiet or joy."""
    return tuple(m for m in MANNERS if sort in m.tenses.split())


SORT = {
    "past": "past", "was": "past", "will": "come", "going": "come", "present": "habit", "used": "habit", "progressive": "now",
}  # fmt: skip
TENSES = {
    "act": ("present",) * 4 + ("past",) * 4 + ("progressive", "perfect", "will", "will", "going", "was", "used"),
    "once": ("past",) * 4 + ("perfect", "will", "will", "going"),
    "now": ("present", "past", "past", "perfect", "will"),
    "state": ("present", "present", "past"),
    "daily": ("present", "past", "will", "going"),
    "être": ("past", "past", "will", "present", "perfect", "going"),
}


class Draw:
    """Chance, in the shape of language. Only `random()` of the generator is used, whose numbers no version of Python changes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self.random() * len(items))]

    def maybe(self, share: float) -> bool:
        """True in this share of the cases."""
        return self.random() < share

    def two(self, items: Sequence[T]) -> tuple[T, T]:
        """Two different items."""
        first = int(self.random() * len(items))
        second = int(self.random() * (len(items) - 1))
        return items[first], items[second + (second >= first)]

    def adjective(self, noun: Noun, *, before: bool | None = None) -> Adjective | None:
        """An adjective that can be said of the noun, if there is one."""
        fitting = adjectives(noun.kinds)
        if noun.gender == "m" and "person" in noun.kinds:
            fitting = tuple(a for a in fitting if a.en not in ("beautiful", "pretty"))
        if before is not None:
            fitting = tuple(a for a in fitting if a.before is before)
        return self.pick(fitting) if fitting else None

    def described(self, noun: Noun, share: float = 0.3) -> tuple[Adjective, ...]:
        """No adjective, one, or now and then two, of which French puts one on each side."""
        if not self.maybe(share):
            return ()
        if self.maybe(0.15):
            first, second = self.adjective(noun, before=True), self.adjective(noun, before=False)
            return (first, second) if first and second and first.en != "bad" else ()
        word = self.adjective(noun)
        return (word,) if word else ()

    def name(self) -> ProperName:
        """A name."""
        return self.pick(NAMES)

    def pronoun(self) -> Pronoun:
        """A pronoun as subject, of a person."""
        return self.pick(PEOPLE)

    def who(self) -> NP:
        """Somebody, as the subject of a sentence."""
        kind = self.random()
        if kind < 0.26:
            return self.pronoun()
        if kind < 0.52:
            return self.name()
        if kind < 0.58:
            return Both(*self.two(NAMES))
        return self.person()

    def person(self, share: float = 0.2) -> Phrase:
        """A person who is no name: *my old uncle*, *the farmers*."""
        noun = self.pick(nouns("person"))
        plural = self.maybe(0.25)
        if "kin" in noun.kinds and self.maybe(0.5 if "elder" in noun.kinds else 1.0):
            owner = self.pick(OWNERS)
            kind = self.adjective(noun, before=True) if "elder" not in noun.kinds and self.maybe(share) else None
            return Phrase(noun, plural=plural and "elder" not in noun.kinds, adjectives=(kind,) if kind else (), owner=owner)
        if "elder" in noun.kinds:
            return Phrase(noun, owner=self.name())
        determiner = (
            self.pick(("the", "the", "the", "these", "two", "several")) if plural else self.pick(("the",) * 5 + ("a", "this"))
        )
        return Phrase(noun, "this" if determiner == "these" else determiner, plural, self.described(noun, share))

    def animal(self) -> Phrase:
        """An animal as a subject."""
        noun = self.pick(nouns("animal"))
        plural = self.maybe(0.25)
        return Phrase(noun, self.pick(("the", "the", "this", "a")) if not plural else "the", plural, self.described(noun))

    def owner(self, subject: NP) -> Pronoun | ProperName:
        """Whose it is: mostly the subject's, so that *his* and *her* never leave open who is meant."""
        if self.maybe(0.12):
            return self.name()
        if isinstance(subject, Pronoun):
            return subject if self.maybe(0.7) else Pronoun(1, subject.person == 1)
        features = agreement(subject)
        if self.maybe(0.2):
            return self.pick(PEOPLE[:3])
        return Pronoun(3, features.plural, features.gender, thing="person" not in _kinds(subject))

    def thing(self, noun: Noun, subject: NP, denied: bool = False, question: bool = False) -> Phrase:
        """The noun as the object of a verb with this subject."""
        described = self.described(noun)
        if noun.kinds[0] in BORROWED or "known" in noun.kinds or "elder" in noun.kinds:
            own = "known" not in noun.kinds and self.maybe(0.8)
            return Phrase(noun, adjectives=described, owner=self.owner(subject) if own else None)
        if self.maybe(0.2) and OWNED & set(noun.kinds) and "mass" not in noun.kinds:
            return Phrase(noun, plural="pair" in noun.kinds or self.maybe(0.3), adjectives=described, owner=self.owner(subject))
        plural = "pair" in noun.kinds or ("mass" not in noun.kinds and self.maybe(0.35))
        return Phrase(noun, self.determiner(noun, plural, denied or question), plural, described)

    def determiner(self, noun: Noun, plural: bool, any_: bool = False) -> str:
        """A determiner for an object."""
        if "mass" in noun.kinds:
            return self.pick(("the", "any", "any") if any_ else ("the", "the", "some", "some", "", "this", "a little"))
        if plural:
            if any_:
                return self.pick(("the", "any", "this"))
            few = ("two", "three", "four", "ten", "several", "a few", "many")
            return self.pick(("the", "some", "this", "all the", self.pick(few), self.pick(few)))
        return self.pick(("the", "a", "a", "this", "the"))

    def tense(self, verb: TranslatedVerb) -> str:
        """A tense in which the verb is used."""
        for flag in ("state", "daily", "être", "once", "now"):
            if flag in verb.flags:
                return self.pick(TENSES[flag])
        return self.pick(TENSES["act"])

    def negation(self, tense: str) -> str:
        """Mostly nothing; else *not*, *never* or *no longer*."""
        if tense in ("used", "order") or not self.maybe(DENIED):
            return ""
        if tense in ("present", "perfect", "past", "will") and self.maybe(0.3):
            return "never"
        return "no longer" if tense == "present" and self.maybe(0.3) else "not"

    def degree(self, adjective: Adjective, denied: bool = False) -> str:
        """Mostly nothing; else *very*, *so*, *quite*, or *too* where there can be too much of it."""
        word = "" if denied or adjective.en in PLAIN else self.pick(("", "", "", "very", "too", "so", "quite"))
        return "very" if word == "too" and adjective.en not in EXCESS else word

    def relation(self, word: Adjective) -> str:
        """More, less or as: English says *less* of long adjectives only."""
        return self.pick(("more", "more", "less", "as") if word.more.startswith("more") else ("more", "more", "as"))

    def time(self, tense: str, share: float = 0.3) -> tuple[Adverb, ...]:
        """A time that goes with the tense, or nothing."""
        sort = SORT.get(tense)
        return (self.pick(times(sort)),) if sort and self.maybe(share) else ()

    def often(self, tense: str, negation: str) -> Adverb | None:
        """*often* and the like, with a habit; *already* with a perfect."""
        if negation:
            return None
        if tense == "perfect":
            return ALREADY if self.maybe(0.4) else None
        return self.pick(OFTEN) if tense == "present" and self.maybe(0.15) else None

    def whom(self, subject: NP) -> NP:
        """Somebody to whom something is done."""
        if self.maybe(0.45):
            taken = subject.person if isinstance(subject, Pronoun) else 0
            others = [p for p in OTHERS if p.person != taken or taken == 3]
            return self.pick(others)
        if self.maybe(0.5):
            name = self.name()
            return name if name not in (subject, *(subject if isinstance(subject, Both) else ())) else WE
        person = self.person(0.1)
        return person._replace(determiner="the") if person.plural or person.determiner == "a" else person


ME, WE, YOU, HE, SHE, THEY = (
    Pronoun(1), Pronoun(1, True), Pronoun(2), Pronoun(3, False, "m"), Pronoun(3, False, "f"), Pronoun(3, True),
)  # fmt: skip
PEOPLE = (ME, WE, YOU, HE, SHE, THEY)
OWNERS = (ME, ME, WE, HE, SHE)
OTHERS = (ME, YOU, WE, HE, SHE, THEY, HE, SHE, THEY)


def _kinds(node: NP) -> tuple[str, ...]:
    return node.noun.kinds if isinstance(node, Phrase) else ("person",)


def gap(node: NP) -> Gap:
    """The empty place that agrees with this noun phrase."""
    return Gap(agreement(node))


def stands_for(node: NP) -> Pronoun:
    """The pronoun that takes up a noun phrase: English looks at what it is, French at the gender of its noun."""
    features: Features = agreement(node)
    if isinstance(node, Pronoun):
        return node
    return Pronoun(3, features.plural, features.gender, thing="person" not in _kinds(node))
