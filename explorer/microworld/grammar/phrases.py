"""Everyday phrases: what people type that no frame says, one line of `words/phrases.txt` for many of them.

    {A} is [much|a little] [older|taller] than {B}. {A.he} [plays|played] football.

`[a|b]` is a choice, `{A}` a first name and `{A.he}`, `{A.him}`, `{A.his}`, `{A.himself}` its pronouns; *a* is written *an* where it must.
They are in English alone and have no gold labels: their words have the tag X. All of them are training text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import log2, prod
from pathlib import Path

from explorer.errors import TextError
from explorer.microworld.apart import WORLD, keeps, partners
from explorer.microworld.forms import capital
from explorer.microworld.grammar import words
from explorer.microworld.grammar.contracting import long_forms
from explorer.microworld.grammar.drawing import Draw
from explorer.microworld.grammar.english import vowel_first
from explorer.microworld.grammar.plain import hidden, is_of_pairs, of_lecture
from explorer.microworld.story import Label, Story
from explorer.microworld.telling import HELD_OUT

PHRASES = "phrases"
FILE = Path(__file__).parent / "words" / "phrases.txt"
CHOICE, PERSON = re.compile(r"\[([^\[\]]*)\]"), re.compile(r"\{([AB])(?:\.(\w+))?\}")
FORMS = ("he", "him", "his", "himself")
PRONOUNS = {"m": FORMS, "f": ("she", "her", "her", "herself")}
WORD = re.compile(r"[\w'-]+|[^\w\s]")
UNLABELLED = "X"  # the tag of a word without a gold label
REACH = 3  # so many words after a verb its object is looked for


@cache
def lines() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The lines, and the running sums of their weights: one that gives more phrases is drawn more often."""
    known = []
    for number, line in enumerate(FILE.read_text("utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            check_line(line, f"{FILE.name}, line {number}")
            known.append(line)
    return tuple(known), tuple(accumulate(1 + log2(phrases_of(line)) for line in known))


def phrases_of(line: str) -> int:
    """How many phrases a line gives, names aside.

    >>> phrases_of("{A} is [older|taller] than [{B}|me|you].")
    6
    """
    return prod(choice.count("|") + 1 for choice in CHOICE.findall(line))


def check_line(line: str, place: str) -> None:
    """Refuse a line that cannot be read."""
    rest = PERSON.sub("", CHOICE.sub("", line))
    forms = [form for _, form in PERSON.findall(line) if form]
    if set("[]{}") & set(rest) or not set(forms) <= set(FORMS):
        raise TextError(
            f"{place}: {line!r} has a bracket without its other one, one inside another, or a form that {{A}} has not."
        )
    if line[-1] not in ".?!":
        raise TextError(f"{place}: {line!r} has no mark at its end.")


def phrases(count: int, seed: int) -> Iterator[list[str]]:
    """`count` phrases as lists of sentences, the same for the same seed everywhere.

    >>> all(sentence[-1] in ".?!" for phrase in phrases(3, seed=1) for sentence in phrase)
    True
    """
    number = 0
    while count:
        draw = Draw(f"{PHRASES} {seed} {number}")
        number += 1
        sentences = said(draw, draw.weighted(*lines()))
        if may_be_learned(sentences):
            count -= 1
            yield sentences


def said(draw: Draw, line: str) -> list[str]:
    """One phrase of a line."""
    text = CHOICE.sub(lambda match: draw.pick(match[1].split("|")), line)
    genders = {key: draw.pick("fm") for key in "AB"}
    names = {key: draw.pick(_names(gender)) for key, gender in genders.items()}
    while names["A"] == names["B"]:
        names["B"] = draw.pick(_names(genders["B"]))
    text = PERSON.sub(lambda m: PRONOUNS[genders[m[1]]][FORMS.index(m[2])] if m[2] else names[m[1]], text)
    text = re.sub(r"\b([aA]) (\w+)", lambda m: f"{m[1]}n {m[2]}" if vowel_first(m[2]) else m[0], " ".join(text.split()))
    return [capital(sentence) for sentence in re.split(r"(?<=[.?!]) ", text)]


@cache
def _names(gender: str) -> tuple[str, ...]:
    return tuple(name.en for name in words.names() if name.kind == "person" and name.gender == gender and not name.held_out)


def may_be_learned(sentences: Sequence[str]) -> bool:
    """Whether a phrase holds nothing that training keeps out: see `plain.home`."""
    long = [long_forms(sentence) for sentence in sentences]
    kept = is_of_pairs(long) or not HELD_OUT.isdisjoint(sentences) or any(of_lecture(sentence) for sentence in long)
    unmet = any(hidden(pair) for sentence in long for pair in combinations(sentence.lower()))
    return not kept and not unmet and keeps(list(sentences), partners(WORLD))


def combinations(sentence: str) -> Iterator[str]:
    """An adjective with its noun, a verb with its object, as far as their order shows them.

    >>> list(combinations("he bought a red car."))
    ['red car', 'buy car']
    """
    nouns, adjectives, verbs = _forms()
    tokens = WORD.findall(sentence)
    for n, token in enumerate(tokens):
        if noun := nouns.get(token):
            before = tokens[max(0, n - REACH) : n]
            yield from (f"{adjective} {noun}" for adjective in before[-1:] if adjective in adjectives)
            yield from (f"{verbs[word]} {noun}" for word in before if word in verbs)


@cache
def _forms() -> tuple[dict[str, str], frozenset[str], dict[str, str]]:
    """The noun of each form, the adjectives, and the verb of each form, without its particle."""
    nouns = {form: noun.en for noun in words.nouns() for form in (noun.en, noun.ens)}
    verbs = {form: verb.en[0] for verb in words.verbs() for form in verb.en}
    return nouns, frozenset(adjective.en for adjective in words.adjectives()), verbs


def unlabelled(sentences: Sequence[str]) -> Story:
    """A phrase as a story without gold labels."""
    labels: list[Label] = []
    start = 0
    for number, sentence in enumerate(sentences):
        spans = ((match.start() + start, match.end() + start, match[0]) for match in WORD.finditer(sentence))
        labels += [Label(word, first, end, number, UNLABELLED) for first, end, word in spans]
        start += len(sentence) + 1
    return Story(PHRASES, PHRASES, "", "", tuple(sentences), (0,) * len(sentences), tuple(labels), (), (), ())
