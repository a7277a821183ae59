"""Choosing: a chance, and the words, determiners and tenses that it draws so that they go together."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from explorer.errors import TextError
from explorer.microworld.grammar import words
from explorer.microworld.grammar.tree import NP, Both, Of, Phrase, Pronoun, ProperName, Relative, agreement, is_thing
from explorer.microworld.grammar.words import Adjective, Adverb, Name, Noun, TranslatedVerb

T = TypeVar("T")
Word = TypeVar("Word", Noun, Adjective, Name)
OWNED = {"thing", "clothes", "vehicle", "holder", "home", "pet", "readable", "toy"}
SORT = {"past": "past", "was": "past", "will": "come", "going": "come", "present": "habit", "used": "habit", "progressive": "now",
        "perfect": "perfect", "order": "come", "lets": "come", "would": "come"}  # fmt: skip
TENSES = {
    "act": ("present",) * 4 + ("past",) * 5 + ("progressive",) * 2 + ("perfect", "will", "will", "going", "was", "used"),
    "once": ("past",) * 4 + ("perfect", "will", "will", "going"),
    "now": ("present", "past", "past", "perfect", "will"),
    "state": ("present", "present", "past"),
    "daily": ("present", "past", "will", "going"),
    "être": ("past", "past", "will", "present", "perfect", "going"),
    "modal": ("present",),
}
PEOPLE = {
    "i": Pronoun(1), "we": Pronoun(1, True), "you": Pronoun(2), "he": Pronoun(3), "she": Pronoun(3, False, "f"),
    "they": Pronoun(3, True), "them_f": Pronoun(3, True, "f"),
}  # fmt: skip
HUMAN = {"person", "someone", "name", "girl", "boy", "pair", "people", "one", *PEOPLE}  # classes of `Draw.person`
OWNERS: tuple[NP, ...] = (Pronoun(1), Pronoun(1), Pronoun(1, True), Pronoun(3), Pronoun(3, False, "f"))
FEW = ("two", "three", "four", "ten", "several", "a few", "many")


def usable(entries: Sequence[Word], split: str) -> tuple[Word, ...]:
    """The words of a split: those marked with a star occur in the test only, where they make up a good quarter."""
    known = tuple(entry for entry in entries if not entry.held_out)
    if split != "test":
        return known
    held_out = tuple(entry for entry in entries if entry.held_out)
    return known + held_out * max(1, len(known) // (3 * len(held_out) or 1)) if held_out else known


@cache
def nouns(classes: str, split: str) -> tuple[Noun, ...]:
    """Every noun of one of these classes (`food|drink`), or of two at once (`toy&small`)."""
    groups = [set(group.split("&")) for group in classes.split("|")]
    return usable([n for n in words.nouns() if any(group <= set(n.kinds) for group in groups)], split)


@cache
def adjectives_of(kinds: tuple[str, ...], split: str) -> tuple[Adjective, ...]:
    """Every adjective that is said of one of these kinds."""
    aged = {"elder", "baby", "young"} & set(kinds)
    choices = [a for a in words.adjectives() if set(kinds) & set(a.kinds)]
    return usable([a for a in choices if not (aged and a.en in ("old", "young", "new"))], split)


@cache
def adjectives_called(name: str) -> tuple[Adjective, ...]:
    """The adjectives of a class, or the one of this name."""
    choices = tuple(a for a in words.adjectives() if name in a.classes and not a.held_out)
    return choices or tuple(a for a in words.adjectives() if a.en == name.replace("_", " "))


@cache
def verbs_called(name: str) -> tuple[TranslatedVerb, ...]:
    """The verbs of a name (`look for`), of a name and a flag (`leave#puts`), or of a flag (`@act`)."""
    if name.startswith("@"):
        wanted = name[1:].split("&")
        return tuple(v for v in words.verbs() if all(flag in v.flags for flag in wanted))
    name, _, flag = name.partition("#")
    return tuple(v for v in words.verbs() if v.name == name and (not flag or flag in v.flags))


@cache
def adverbs_called(name: str, tense: str) -> tuple[Adverb, ...]:
    """The adverbs of a sort, of which times go with the tense, or the one of this name."""
    if name == "time":
        sort = SORT.get(tense, "")
        return tuple(a for a in words.adverbs() if "time" in a.sort.split() and sort in a.tenses.split()) if sort else ()
    choices = tuple(a for a in words.adverbs() if name in a.sort.split())
    return choices or tuple(a for a in words.adverbs() if a.en == name.replace("_", " "))


@cache
def names_of(kind: str, split: str) -> tuple[Name, ...]:
    """The names of girls, boys, countries or cities."""
    return usable([n for n in words.names() if n.kind == kind], split)


class Draw:
    """Chance, in the shape of language. Only `random()` of the generator is used, whose numbers no version of Python changes."""

    def __init__(self, seed: int | str, split: str = "train") -> None:
        self.split = split
        self.random = random.Random(seed).random
        self.familiar = False  # *tu*, where somebody is called by a name

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[int(self.random() * len(items))]

    def maybe(self, share: float) -> bool:
        """True in this share of the cases."""
        return self.random() < share

    def weighted(self, items: Sequence[T], ends: Sequence[float]) -> T:
        """One of the items by running sums of their weights."""
        at = self.random() * ends[-1]
        return next(item for item, end in zip(items, ends, strict=True) if at < end)

    def noun(self, classes: str, fits: Callable[[Noun], bool] = lambda _: True) -> Noun:
        """A noun of these classes."""
        choices = [n for n in nouns(classes, self.split) if fits(n)] or list(nouns(classes, self.split))
        if not choices:
            raise TextError(f"No noun has the class {classes!r}. Add it to a row of nouns.tsv, or correct the frame.")
        return self.pick(choices)

    def name(self, kind: str = "") -> ProperName:
        """Somebody's name."""
        gender = {"girl": "f", "boy": "m"}.get(kind) or self.pick("fm")
        chosen = self.pick([n for n in names_of("person", self.split) if n.gender == gender])
        return ProperName(chosen.en, chosen.gender)

    def place(self, kind: str) -> ProperName:
        """A country or a city."""
        chosen = self.pick(names_of(kind, self.split))
        return ProperName(chosen.en, chosen.gender, chosen.fr, chosen.kind, chosen.prep)

    def adjective(self, noun: Noun, *, before: bool | None = None) -> Adjective | None:
        """An adjective that can be said of the noun, if there is one."""
        choices = adjectives_of(noun.kinds, self.split)
        usual = (a for a in choices if a.en != noun.en and not {"state", "mood"} & set(a.classes))
        choices = tuple(a for a in usual if before is None or a.before is before)
        return self.pick(choices) if choices else None

    def described(self, noun: Noun, share: float = 0.25) -> tuple[Adjective, ...]:
        """No adjective, one, or now and then two, of which French puts one on each side."""
        if not self.maybe(share):
            return ()
        if self.maybe(0.15):
            first, second = self.adjective(noun, before=True), self.adjective(noun, before=False)
            if first and second and {"colour", "nation"} & set(second.classes):
                return (first, second)
        only = self.adjective(noun)
        return (only,) if only else ()

    def quality(self, subject: NP, spec: str) -> Adjective:
        """An adjective to say of the subject: any that fits it (`of`), of a class, or the one named."""
        fits_any = spec == "of" and (adjectives_of(kinds_of(subject), self.split) or adjectives_called("new"))
        choices = fits_any or adjectives_called(spec)
        if not choices:
            raise TextError(f"No adjective is called {spec!r}, and none has that class. Correct the frame, or adjectives.tsv.")
        known = subject.adjectives if isinstance(subject, Phrase) else ()
        if any("colour" in adjective.classes for adjective in known):  # not *the blue book is white*
            choices = tuple(a for a in choices if "colour" not in a.classes) or choices
        fitting = (
            [a for a in choices if set(a.kinds) & set(kinds_of(subject)) and a not in known] if spec != "of" else list(choices)
        )
        return self.pick(fitting or list(choices))

    def degree(self, adjective: Adjective, denied: bool = False) -> str:
        """Mostly nothing; else *very*, *so*, *quite*, or *too* where there can be too much of it."""
        if denied or {"absolute", "nation"} & set(adjective.classes):
            return ""
        word = self.pick(("", "", "", "", "very", "very", "too", "so", "quite"))
        return "very" if word == "too" and "excess" not in adjective.classes else word

    def person(self, key: str, kind: str = "person") -> NP:
        """Somebody: a pronoun, a name, a relative, somebody with a job, two people, by the kind that a frame asks for."""
        if kind == "you":
            return Pronoun(2, polite=not self.familiar, key=key)
        if kind in PEOPLE:
            return PEOPLE[kind]._replace(key=key)
        if kind in ("name", "girl", "boy"):
            return self.name(kind)._replace(key=key)
        if kind == "pair" or (kind == "person" and self.maybe(0.06)):
            first, second = self.name(), self.name()
            while second.text == first.text:
                second = self.name()
            return Both(first._replace(key=key + "1"), second._replace(key=key + "2"))
        if kind in ("person", "someone"):
            chance = self.random()
            if kind == "person" and chance < 0.28:
                return self.pick(tuple(PEOPLE.values())[:6])._replace(key=key)
            if chance < 0.62:
                return self.name()._replace(key=key)
            kind = "one" if kind == "someone" else "person"
        return self.someone(key, kind)

    def someone(self, key: str, kind: str = "person", noun: Noun | None = None) -> Phrase:
        """Somebody without a name: *my old uncle*, *the farmers*."""
        if noun is None:
            noun = self.noun("person", lambda n: "royal" not in n.kinds or self.maybe(0.4))
        plural = kind == "people" or (kind == "person" and self.maybe(0.22))
        if noun.en in words.feminines() and not plural and self.maybe(0.5):
            noun = words.feminines()[noun.en]
        if "single" in noun.kinds or ("elder" in noun.kinds and noun.en not in ("uncle", "aunt")):
            plural = False
        if "kin" in noun.kinds:
            owner: NP = self.pick((*OWNERS, self.name()))
            return Phrase(noun, plural=plural, owner=owner, key=key)
        determiner = (
            self.pick(("the", "the", "the", "this", *FEW[:3])) if plural else self.pick(("the",) * 6 + ("a", "this", "that"))
        )
        return Phrase(noun, determiner, plural, self.described(noun, 0.2), key=key)

    def animal(self, key: str, noun: Noun) -> Phrase:
        """An animal."""
        owner: NP | None = None
        if "pet" in noun.kinds and self.maybe(0.4):
            owner = self.pick((*OWNERS[1:], self.name()))
        plural = self.maybe(0.25)
        determiner = self.pick(("the", "the", "the", "this", "the" if plural else "a"))
        return Phrase(noun, determiner, plural, self.described(noun, 0.2), owner, key)

    def owner(self, subject: NP | None) -> NP:
        """Whose it is: mostly the subject's."""
        if subject is None or self.maybe(0.15):
            return self.pick((*OWNERS[1:3], self.name(), PEOPLE["you"]))
        if isinstance(subject, Pronoun):
            return subject
        features = agreement(subject)
        key = subject.key if isinstance(subject, (ProperName, Phrase)) else ""
        return Pronoun(3, features.plural, features.gender, thing=is_thing(subject), key=key)

    def thing(self, noun: Noun, key: str, subject: NP | None, denied: bool = False) -> Phrase:
        """The noun with a determiner, as the object of a verb with this subject."""
        kinds = set(noun.kinds)
        if "place" in kinds and subject is None:
            return self.spot(noun, key)
        described = self.described(noun)
        if kinds & {"plural_game", "sport", "subject", "unique"}:
            return Phrase(noun, "the" if "unique" in kinds else "", key=key)
        if self.maybe(0.6 if "plural" in kinds or "body" in kinds else 0.22) and (OWNED | {"body"}) & kinds and not noun.mass:
            plural = "pair" in kinds or "washed" in kinds and noun.en in ("hand", "tooth") or self.maybe(0.25)
            return Phrase(noun, plural=plural, adjectives=described, owner=self.owner(subject), key=key)
        plural = "pair" in kinds or ("mass" not in kinds and self.maybe(0.28))
        plural = plural and not kinds & {"town", "meal", "unique"}
        return Phrase(noun, self.determiner(noun, plural, denied), plural, described, key=key)

    def spot(self, noun: Noun, key: str) -> Phrase:
        """A place as one goes there: mostly *the school*."""
        plain = "the" if {"outdoors", "stream"} & set(noun.kinds) else self.pick(("the",) * 7 + ("a", "this"))
        return Phrase(noun, plain, False, self.described(noun, 0.08), key=key)

    def determiner(self, noun: Noun, plural: bool, denied: bool = False) -> str:
        """A determiner for a thing."""
        if noun.mass:
            return self.pick(("the", "any", "any") if denied else ("the", "the", "some", "some", "", "this"))
        if plural or noun.only_plural:
            return self.pick(
                ("the", "any", "this") if denied else ("the", "the", "some", "this", "that", "all the", self.pick(FEW))
            )
        return self.pick(("the", "the", "a", "a", "this", "that"))

    def tense(self, verb: TranslatedVerb) -> str:
        """A tense in which the verb is used."""
        flag = next((flag for flag in ("modal", "state", "daily", "être", "once", "now") if flag in verb.flags), "act")
        return self.pick(TENSES[flag])

    def negation(self, tense: str) -> str:
        """*not*, *never* or *no longer*."""
        if tense in ("present", "perfect", "past", "will") and self.maybe(0.2):
            return "never"
        return "no longer" if tense == "present" and self.maybe(0.12) else "not"


def kinds_of(node: NP) -> tuple[str, ...]:
    """What kinds of thing a noun phrase names."""
    if isinstance(node, (Of, Relative)):
        node = node.head
    if isinstance(node, Phrase):
        adult = ("adult",) if {"person"} & set(node.noun.kinds) and "young" not in node.noun.kinds else ()
        return (*node.noun.kinds, *(("human",) if "person" in node.noun.kinds else ()), *adult)
    return ("person", "human", "adult")
