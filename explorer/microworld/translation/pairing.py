"""Pairs of sentences: drawn from a seed, shared out to train, validation and test, and aligned word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from zlib import crc32

from explorer.errors import check_whole, unknown
from explorer.errors.kinds import checked
from explorer.microworld.grammar.pairing import Pair, translations
from explorer.microworld.translation.drawing import Draw
from explorer.microworld.translation.english import english
from explorer.microworld.translation.frames import sentence
from explorer.microworld.translation.french import french
from explorer.microworld.translation.lexicon import Adjective, Noun, TranslatedVerb
from explorer.microworld.translation.tree import (
    Adverb,
    Clause,
    Features,
    Lexeme,
    Link,
    Phrase,
    Prep,
    Pronoun,
    ProperName,
    Sentence,
)
from explorer.microworld.versions import VERSION, world

SPLITS = ("train", "validation", "test")
SHORT = r"\b(?:it|he|she)['\u2019]s\b|\w+['\u2019](?:t|m|re|ll)\b"  # it's, didn't: one word, written either way
ENGLISH_WORD = re.compile(rf"{SHORT}|'s\b|\w+(?:-\w+)*|[^\w\s]", re.IGNORECASE)
FRENCH_WORD = re.compile(r"aujourd'hui|\w+(?:-\w+)*'?|[^\w\s]", re.IGNORECASE)
CLOSE = {"english": (",", ".", "?", "!", "'s"), "french": (",", ".")}
LEAVES = (Adjective, Adverb, Features, Link, ProperName, Noun, Prep, Pronoun, TranslatedVerb)
HIDDEN = 14  # one combination in so many is never met in training
LECTURE = frozenset(  # what the lectures show must be new to a model that trained here
    (
        "The animal did not cross the street because it was too tired.",
        "The animal did not cross the street because it was too wide.",
        "The trophy did not fit in the suitcase because it was too big.",
        "The trophy did not fit in the suitcase because it was too small.",
    )
)


def words(text: str, language: str) -> tuple[str, ...]:
    """The words of a text, as in `Pair`: the apostrophe stays with *l'* in French and with *'s* in English."""
    if language not in CLOSE:
        raise unknown("language", language, CLOSE)
    return tuple((ENGLISH_WORD if language == "english" else FRENCH_WORD).findall(text))


def combinations(tree: object) -> Iterator[str]:
    """The pairings in a tree that may be kept out of training: *red car* (attributive), *sell car* (verb and object)."""
    if isinstance(tree, Phrase):
        for adjective in tree.adjectives:
            yield f"{adjective.en} {tree.noun.en}"
    elif isinstance(tree, Clause) and isinstance(tree.object, Phrase):
        yield f"{tree.verb.en[0]} {tree.object.noun.en}"
    if isinstance(tree, tuple):
        for part in tree:
            if isinstance(part, tuple) and not isinstance(part, LEAVES):
                yield from combinations(part)


@cache
def hidden(combination: str) -> bool:
    """Whether a combination is kept out of training: a fixed one in fourteen."""
    return crc32(combination.encode()) % HIDDEN == 0


def _written(spoken: list[Lexeme], language: str) -> str:
    """Words as they are written: a capital first, no space before a full stop, none after *l'*."""
    text = ""
    for word in spoken:
        glued = not text or word.text in CLOSE[language] or (text[-1] == "'" and language == "french")
        text += word.text if glued else " " + word.text
    return text[0].upper() + text[1:]


def _aligned(first: list[Lexeme], second: list[Lexeme]) -> tuple[tuple[int, int], ...]:
    where: dict[str, list[int]] = {}
    for j, word in enumerate(second):
        for mark in word.marks:
            where.setdefault(mark, []).append(j)
    return tuple(sorted({(i, j) for i, word in enumerate(first) for mark in word.marks for j in where.get(mark, ())}))


def translate(tree: Sentence) -> Pair:
    """The sentence that a tree means, in both languages."""
    words = english(tree)
    return _pair(tree, words, _written(words, "english"))


def _pair(tree: Sentence, words: list[Lexeme], text: str, frame: str = "", unmet: tuple[str, ...] = ()) -> Pair:
    other = french(tree)
    first, second = [w.text for w in words], [w.text for w in other]
    first[0], second[0] = first[0][0].upper() + first[0][1:], second[0][0].upper() + second[0][1:]
    return Pair(
        _written(words, "english"), _written(other, "french"), tuple(first), tuple(second), _aligned(words, other), frame, unmet
    )


def _home(text: str, unmet: tuple[str, ...]) -> str:
    """Which split a sentence belongs to: by its text, and never train where it holds a hidden combination."""
    if text in LECTURE:
        return "test"
    number = crc32(text.encode())
    if unmet:
        return SPLITS[1 + number % 2]
    return SPLITS[min(number % 24, 2)] if number % 24 in (1, 2) else "train"


@checked
def pairs(count: int, seed: int, split: str = "train", *, version: str = VERSION) -> Iterator[Pair]:
    """`count` pairs of a split, the same for the same seed everywhere.

    A sentence belongs to one split only, whatever the seed. One combination in fourteen of adjective and noun, and of
    verb and object, is never met in `train`, so validation and test also ask for new combinations of known words. In
    version 2.0, pairs are the plain texts of the world in both languages.

    >>> pair = next(ex.microworld.pairs(1, seed=3))
    >>> type(pair.english), type(pair.french)
    (<class 'str'>, <class 'str'>)
    """
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    for name, given in (("count", count), ("seed", seed)):
        check_whole(name, given, 0)
    if "plain" in world(version).strands:
        yield from translations(count, seed, split)
        return
    draw = Draw(seed)
    while count:
        frame, tree = sentence(draw)
        words = english(tree)
        unmet = tuple(c for c in combinations(tree) if hidden(c))
        text = _written(words, "english")
        if _home(text, unmet) == split:
            count -= 1
            yield _pair(tree, words, text, frame, unmet)
