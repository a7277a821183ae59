"""What a sentence means, before it is said in any language: a tree of these nodes. English and French each know how to say it."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from explorer.microworld.grammar.tree import Features as Features
from explorer.microworld.grammar.tree import Lexeme as Lexeme
from explorer.microworld.translation.lexicon import BE, Adjective, Noun, TranslatedVerb


class Pronoun(NamedTuple):
    """I, you, he, she, it, we, they; `thing` makes *it*; `polite` decides between *vous* and *tu*; `gender` is the French one."""

    person: int = 3
    plural: bool = False
    gender: str = "m"
    thing: bool = False
    polite: bool = True


class ProperName(NamedTuple):
    """Somebody's name."""

    text: str
    gender: str


class Phrase(NamedTuple):
    """A noun with what stands around it. `determiner`: the, a, some, any, no, this, every, … , most (superlative), none, or
    nothing (*bread*, *cats*), which French fills according to the verb. An `owner` takes the determiner's place.
    """

    noun: Noun
    determiner: str = "the"
    plural: bool = False
    adjectives: tuple[Adjective, ...] = ()
    owner: NP | None = None


class Both(NamedTuple):
    """Two joined by *and*."""

    first: NP
    second: NP


class Of(NamedTuple):
    """A cup *of* tea, the bank *of* the river, the oldest church *in* the town: French says *de* for all."""

    head: Phrase
    inner: NP
    en: str = "of"


class Gap(NamedTuple):
    """The place that a relative clause, or a verb that shares its subject, leaves empty; it still agrees."""

    features: Features


class Relative(NamedTuple):
    """A noun and a clause about it: the clause has a Gap as its subject (*qui*) or as its object (*que*)."""

    head: Phrase
    clause: Clause


class Counted(NamedTuple):
    """*three of them*, which French says with *en* before the verb."""

    number: str


NP: TypeAlias = Pronoun | ProperName | Phrase | Both | Of | Gap | Relative | Counted


class Adverb(NamedTuple):
    """When, how or how often: any words that mean the same. `tenses` names the tenses it goes with."""

    en: str
    fr: str
    tenses: str = ""


class Prep(NamedTuple):
    """A preposition in both languages."""

    en: str
    fr: str


class Location(NamedTuple):
    """A preposition with its noun."""

    prep: Prep
    inner: NP


class Home(NamedTuple):
    """*at Anna's house*, *to the doctor's*: French says *chez*."""

    en: str
    inner: NP
    house: bool = True


class Predicate(NamedTuple):
    """An adjective said of the subject, with its degree: very, too, so, quite; *too tired to work* has a verb as well."""

    adjective: Adjective
    degree: str = ""
    purpose: TranslatedVerb | None = None


class Comparative(NamedTuple):
    """More, less or as … than somebody else."""

    adjective: Adjective
    relation: str
    other: NP


class Profession(NamedTuple):
    """*a doctor*, said of the subject: French leaves the article out."""

    noun: Noun


class Complement(NamedTuple):
    """A clause that a verb takes: *that it is late*."""

    clause: Clause


Tail: TypeAlias = Adverb | Location | Home | Predicate | Comparative | Profession | Complement | Phrase | Of


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
    there: bool = False
    tail: tuple[Tail, ...] = ()


class Exists(NamedTuple):
    """*There is*, *il y a*."""

    thing: Phrase
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
    """A sentence after an adverb and a comma."""

    adverb: Adverb
    sentence: Sentence


class Addressed(NamedTuple):
    """A sentence said to somebody."""

    sentence: Sentence
    to: ProperName | Adverb


Sentence: TypeAlias = Clause | Exists | QuestionTree | Joined | Fronted | Addressed


def agreement(node: NP) -> Features:
    """What a verb, an adjective or a pronoun takes from this noun phrase."""
    match node:
        case Pronoun():
            many = node.plural or (node.person == 2 and node.polite)
            return Features(node.person - 1 + 3 * many, node.plural, node.gender)
        case ProperName():
            return Features(2, False, node.gender)
        case Phrase():
            plural = node.plural or bool({"plural", "plural-game"} & set(node.noun.kinds))
            return Features(2 + 3 * plural, plural, node.noun.gender)
        case Both():
            women = agreement(node.first).gender == agreement(node.second).gender == "f"
            return Features(5, True, "f" if women else "m")
        case Of() | Relative():
            return agreement(node.head)
        case Gap():
            return node.features
    return Features(5, True, "m")


def is_thing(node: NP) -> bool:
    """Whether English says *it* and *that*, not *he* and *who*."""
    if isinstance(node, (Of, Relative)):
        return is_thing(node.head)
    return isinstance(node, Phrase) and "person" not in node.noun.kinds


def _words(text: str) -> list[str]:
    return [text] if text == "aujourd'hui" else text.replace("'", "' ").split()


def spread(text: str, adverb: Adverb, at: str) -> list[Lexeme]:
    """The words of an adverb, in one language, marked one by one if the other language has as many, else all together."""
    words = _words(text)
    alike = len(_words(adverb.en)) == len(_words(adverb.fr))
    return [Lexeme(word, (f"{at}{n}" if alike else at,)) for n, word in enumerate(words)]


def ending(node: Sentence) -> str:
    """The mark that closes the sentence."""
    match node:
        case QuestionTree():
            return "?"
        case Clause():
            return "!" if node.tense == "order" else "."
        case Addressed() | Fronted():
            return ending(node.sentence)
    return "."
