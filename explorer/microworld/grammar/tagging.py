"""Parts of speech inside fixed phrases, whose words no tree describes: *at home*, *What time is it?*"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from explorer.microworld.grammar import words
from explorer.microworld.grammar.tree import Lexeme, spread
from explorer.microworld.grammar.words import Adverb

NUMBERS = frozenset(
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty", "fifty"]
)
CLOSED = {
    "DET": "the a an this that these those every some any no all each which another both many much several few",
    "ADP": "in on at of from by for with about into near behind under before after during through along without up down",
    "ADJ": "last next long sorry good fine hungry thirsty cold hot afraid right wrong sunny dark ready careful sure great happy nice"
    " welcome old sleepy quiet pleased late dressed",
    "PRON": "i you he she it we they me him her us them my your his its our their who what everyone nobody everybody nothing"
    " something someone",
    "AUX": "am is are was were does did has can will would could should may let's must be i'm you're isn't don't doesn't",
    "PART": "not n't 's", "CCONJ": "and or but", "SCONJ": "because if while although", "PUNCT": ", . ! ? :",
    "INTJ": "hello hi goodbye yes no please thanks oh", "VERB": "thank see meet go take get excuse know matter cost going",
    "NOUN": "bed work lunch school time week foot bicycle noon midnight course moment weather capital idea problem kitchen lot fun",
    "ADV": "well how when where why very much o'clock outside inside home again together alone",
    "NUM": " ".join(["one", *sorted(NUMBERS)]),
}  # fmt: skip
TAGS = {word: tag for tag, text in CLOSED.items() for word in text.split()}


SINGULAR = ("is", "was", "does", "isn't", "doesn't")


@cache
def _names() -> frozenset[str]:
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Mondays", "Sundays"]
    months = ["January", "March", "May", "July", "August", "October", "December"]
    return frozenset((*days, *months, *(part for name in words.names() for part in name.en.split())))


@cache
def _noun_forms() -> frozenset[str]:
    return frozenset(form for noun in words.nouns() for form in (noun.en, noun.ens))


def pos_of(word: str, other: str = "ADV") -> str:
    """The part of speech of a word by itself; `other` where no list has it."""
    if word in _names():
        return "PROPN"
    return TAGS.get(word.lower()) or ("NOUN" if word in _noun_forms() else other)


def tags_of(phrase: Sequence[str]) -> list[str]:
    """The part of speech of each word of a fixed phrase; a neighbour decides where a word may be two things."""
    return [
        _beside(word.lower(), ["", *phrase][n].lower(), [*phrase, "", ""][n + 1].lower()) or pos_of(word)
        for n, word in enumerate(phrase)
    ]


def _beside(word: str, before: str, after: str) -> str:
    """What a word is before and after these, if it may be two things."""
    ends = not after[:1].isalpha()
    match word:
        case "to":
            return "PART" if pos_of(after) == "VERB" or after == "do" else "ADP"
        case "this" | "that" | "these" | "those":
            return "PRON" if ends else "DET"
        case "do" | "have":
            return "AUX" if pos_of(after) == "PRON" else "VERB"
        case "there":
            return "PRON" if after in ("is", "are") else "ADV"
        case "help":
            return "NOUN" if before == "your" else "VERB"
        case "like":
            return "ADP"
        case "what":
            return "DET" if after == "time" else "PRON"
        case "no":
            return "INTJ" if ends else "DET"
        case "home":
            return "NOUN" if before == "at" else "ADV"
    return ""


def labelled_adverb(text: str, adverb: Adverb, at: str) -> list[Lexeme]:
    """The words of a fixed phrase with their marks, parts of speech, and the number of their finite verbs."""
    lexemes = spread(text, adverb, at)
    phrase = [lexeme.text for lexeme in lexemes]
    you = "you" in phrase  # whose verb is alike for one and for many
    return [
        lexeme._replace(pos=tag, number="sg" if lexeme.text in SINGULAR else "pl" if lexeme.text == "are" and not you else "")
        for lexeme, tag in zip(lexemes, tags_of(phrase), strict=True)
    ]
