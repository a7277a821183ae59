"""What a sentence means, before it is put into words: a tree of these nodes. English and French each know how to say it.

A noun phrase has a `key`: two phrases with the same key mean the same person or thing, which gives the gold labels of coreference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from explorer.microworld.grammar.words import BE, Adjective, Adverb, Noun, TranslatedVerb

WORD = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")
FRENCH_WORD = re.compile(r"aujourd'hui|\w+(?:-\w+)*'?|[^\w\s]")


class Lexeme(NamedTuple):
    """A word of a sentence. An English and a French word that share a mark translate each other; the rest are gold labels."""

    text: str
    marks: tuple[str, ...] = ()
    pos: str = ""
    who: str = ""  # the key of the person or thing that this word names
    number: str = ""  # sg or pl, of a finite verb whose form its subject decides
    sense: str = ""


class Features(NamedTuple):
    """What agrees: the form of the verb (0 je … 5 ils), number and gender."""

    form: int
    plural: bool
    gender: str


class Pronoun(NamedTuple):
    """I, you, he, she, it, we, they; `thing` makes *it*; `polite` decides between *vous* and *tu*; `gender` is the French one;
    `near` is *this*, *that*, *these* or *those* instead of *it* and *they*.
    """

    person: int = 3
    plural: bool = False
    gender: str = "m"
    thing: bool = False
    polite: bool = True
    key: str = ""
    near: str = ""


class ProperName(NamedTuple):
    """A name: of a person or of a place."""

    text: str
    gender: str
    fr: str = ""
    kind: str = "person"
    prep: str = ""
    key: str = ""


class Phrase(NamedTuple):
    """A noun with its determiner and adjectives. `determiner`: the, a, some, any, no, this, that, every, two, which, … , most
    (superlative), none, or nothing (*bread*, *cats*), which French fills according to the verb. An `owner` replaces it.
    """

    noun: Noun
    determiner: str = "the"
    plural: bool = False
    adjectives: tuple[Adjective, ...] = ()
    owner: NP | None = None
    key: str = ""


class Both(NamedTuple):
    """Two joined by *and* or *or*."""

    first: NP
    second: NP
    link: str = "and"


class Of(NamedTuple):
    """A noun with a noun after a preposition: a cup *of* tea, the keys *on* the table, the oldest church *in* the town."""

    head: Phrase
    inner: NP
    en: str = "of"
    fr: str = "de"


class Gap(NamedTuple):
    """The empty place of a relative clause, of a question word, or of a verb that shares its subject; it still agrees."""

    features: Features
    key: str = ""


class Relative(NamedTuple):
    """A noun and a clause about it: the clause has a Gap as its subject (*qui*) or as its object (*que*)."""

    head: Phrase
    clause: Clause


class Self(NamedTuple):
    """*himself*, *herself*, *themselves*: the object is the subject."""


NP: TypeAlias = Pronoun | ProperName | Phrase | Both | Of | Gap | Relative | Self


class Location(NamedTuple):
    """A preposition with its noun."""

    en: str
    fr: str
    inner: NP


class Predicate(NamedTuple):
    """An adjective said of the subject, with its degree: very, too, so, quite; and a second one."""

    adjective: Adjective
    degree: str = ""
    second: Adjective | None = None


class Comparative(NamedTuple):
    """More, less or as … than somebody else."""

    adjective: Adjective
    relation: str
    other: NP


class Profession(NamedTuple):
    """*a doctor*, said of the subject: French leaves the article out."""

    noun: Noun


class Belongs(NamedTuple):
    """*mine*, *Anna's*: French says *à moi*, *à Anna*."""

    owner: NP


class Passive(NamedTuple):
    """*opened by Anna*, after *be*."""

    verb: TranslatedVerb
    agent: NP | None = None


class Complement(NamedTuple):
    """A clause after a verb: *that it is late*, *to buy some bread*, *where the key is*."""

    clause: Clause
    en: str = "that"
    fr: str = "que"


Tail: TypeAlias = Adverb | Location | Predicate | Comparative | Profession | Belongs | Passive | Complement | Phrase | Of


class Clause(NamedTuple):
    """Somebody does something: subject, verb, tense, `not`, `never`, `no longer` or `no`, a helping verb, and the rest."""

    subject: NP
    verb: TranslatedVerb = BE
    tense: str = "present"
    negation: str = ""
    helper: TranslatedVerb | None = None
    object: NP | None = None
    recipient: NP | None = None
    adverb: Adverb | None = None
    manner: Adverb | None = None
    tail: tuple[Tail, ...] = ()


class Exists(NamedTuple):
    """*There is*, *il y a*."""

    thing: NP
    tense: str = "present"
    negation: str = ""
    tail: tuple[Tail, ...] = ()


class QuestionTree(NamedTuple):
    """A question: yes or no, or after a word such as *where*; *who* asks for the subject, *what* for the object."""

    clause: Clause | Exists
    word: str = ""
    counted: Phrase | None = None


class Link(NamedTuple):
    """A conjunction in both languages; `comma` before it, or `first` at the head of the sentence."""

    en: str
    fr: str
    comma: bool = False
    first: bool = False


class Joined(NamedTuple):
    """Two sentences and their conjunction."""

    first: Sentence
    link: Link
    second: Sentence


class Fronted(NamedTuple):
    """A sentence after an adverb and a comma, or after *because* and none."""

    adverb: Adverb
    sentence: Sentence
    comma: bool = True


class Addressed(NamedTuple):
    """A sentence said to somebody: *Close the door, Anna!*"""

    sentence: Sentence
    to: NP | Adverb


class Spoken(NamedTuple):
    """A fixed phrase, translated as a whole: *Good morning!*"""

    phrase: Adverb
    to: NP | Adverb | None = None


Sentence: TypeAlias = Clause | Exists | QuestionTree | Joined | Fronted | Addressed | Spoken


def agreement(node: NP) -> Features:
    """What a verb, an adjective or a pronoun takes from this noun phrase."""
    match node:
        case Pronoun():
            many = node.plural or (node.person == 2 and node.polite)
            return Features(node.person - 1 + 3 * many, node.plural, node.gender)
        case ProperName():
            return Features(2, False, node.gender)
        case Phrase():
            plural = node.plural or node.noun.only_plural
            return Features(2 + 3 * plural, plural, node.noun.gender)
        case Both():
            women = agreement(node.first).gender == agreement(node.second).gender == "f"
            return Features(5, True, "f" if women else "m")
        case Of() | Relative():
            return agreement(node.head)
        case Gap():
            return node.features
    return Features(5, True, "m")


def key_of(node: NP | None) -> str:
    """The key of a noun phrase, or nothing."""
    match node:
        case Pronoun() | ProperName() | Phrase() | Gap():
            return node.key
        case Of() | Relative():
            return node.head.key
    return ""


def is_thing(node: NP) -> bool:
    """Whether English says *it* and *that*, not *he* and *who*."""
    if isinstance(node, (Of, Relative)):
        return is_thing(node.head)
    if isinstance(node, ProperName):
        return node.kind != "person"
    return isinstance(node, Phrase) and "person" not in node.noun.kinds


def spread(text: str, adverb: Adverb, at: str) -> list[Lexeme]:
    """The words of an adverb in one language, marked one by one if the other language has as many, else all together."""
    english, french = WORD.findall(adverb.en), split_french(adverb.fr)
    words = english if text == adverb.en else split_french(text)
    alike = len(english) == len(french)
    return [Lexeme(word, (f"{at}{n}" if alike else at,)) for n, word in enumerate(words)]


def split_french(text: str) -> list[str]:
    """The words of a fixed French phrase: *l'* is a word, *aujourd'hui* is one."""
    return FRENCH_WORD.findall(text)


def ending(node: Sentence) -> str:
    """The mark that closes the sentence."""
    match node:
        case QuestionTree():
            return "?"
        case Clause():
            return "!" if node.tense == "order" else "."
        case Addressed() | Fronted():
            return ending(node.sentence)
        case Spoken():
            return node.phrase.sort.rpartition(" ")[2] or "."
    return "."


def nodes(tree: object) -> Iterator[object]:
    """Every phrase, clause and sentence of a tree, itself first."""
    if isinstance(tree, tuple) and not isinstance(tree, (Adjective, Adverb, Noun, TranslatedVerb, Lexeme, Features, Link)):
        yield tree
        for part in tree:
            yield from nodes(part)
