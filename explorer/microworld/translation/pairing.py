"""Pairs of sentences: drawn from a seed and shared out to train, validation and test."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from zlib import crc32

from explorer.errors import check_whole, unknown
from explorer.errors.kinds import checked
from explorer.microworld.grammar.english import english
from explorer.microworld.grammar.pairing import Pair, pair_of, translations
from explorer.microworld.grammar.plain import PlainText, spelled
from explorer.microworld.grammar.tree import Clause, Phrase, nodes
from explorer.microworld.translation.drawing import Draw
from explorer.microworld.translation.frames import sentence
from explorer.microworld.versions import VERSION, world

SPLITS = ("train", "validation", "test")
HIDDEN = 14  # one combination in so many is never met in training
LECTURE = frozenset(  # what the lectures show must be new to a model that trained here
    (
        "The animal did not cross the street because it was too tired.",
        "The animal did not cross the street because it was too wide.",
        "The trophy did not fit in the suitcase because it was too big.",
        "The trophy did not fit in the suitcase because it was too small.",
    )
)


def combinations(tree: object) -> Iterator[str]:
    """The pairings in a tree that may be kept out of training: *red car* (attributive), *sell car* (verb and object)."""
    for node in nodes(tree):
        if isinstance(node, Phrase):
            yield from (f"{adjective.en} {node.noun.en}" for adjective in node.adjectives)
        elif isinstance(node, Clause) and isinstance(node.object, Phrase):
            yield f"{node.verb.en[0]} {node.object.noun.en}"


@cache
def hidden(combination: str) -> bool:
    """Whether a combination is kept out of training: a fixed one in fourteen."""
    return crc32(combination.encode()) % HIDDEN == 0


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
        words = tuple(english(tree))
        unmet = tuple(c for c in combinations(tree) if hidden(c))
        text = spelled(words)
        if _home(text, unmet) == split:
            count -= 1
            yield pair_of(PlainText(frame, "", (tree,), (words,), ()))._replace(unmet=unmet)
