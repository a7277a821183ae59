"""Pairs of a text in English and in French, aligned word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from typing import NamedTuple

from explorer.errors import unknown
from explorer.errors.kinds import checked
from explorer.microworld.grammar.english import english
from explorer.microworld.grammar.plain import (
    EVERYDAY,
    PlainText,
    check_drawn,
    combinations,
    hidden,
    is_of_pairs,
    plain_texts,
    spelled,
)  # fmt: skip
from explorer.microworld.grammar.tree import Lexeme, Phrase, Sentence, nodes
from explorer.microworld.grammar.words import feminines
from explorer.microworld.versions import TRANSLATED, check_made

FIRST = ("plain", "plain", "plain", "exchange")  # how often each is translated
STRANDS = {"2.0": FIRST} | dict.fromkeys(("2.1", TRANSLATED), (*FIRST * 3, *FIRST[:-1], EVERYDAY))
LONGEST = 3  # sentences of a text that is translated


class Pair(NamedTuple):
    """A text in both languages. `alignment` holds (English word, French word) by index; `frame` names the sort of text; `unmet` lists
    the combinations (adjective and noun, verb and object) that no training text holds.
    """

    english: str
    french: str
    english_words: tuple[str, ...]
    french_words: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    frame: str = ""
    unmet: tuple[str, ...] = ()


@checked
def pairs(count: int, seed: int, split: str = "train", *, version: str = TRANSLATED) -> Iterator[Pair]:
    """`count` texts of a split in English and French, the same for the same seed everywhere: the plain texts of the world, without those
    whose French says more than their English. Version 2.1 adds what visitors type first, which 2.0 kept out of training; 2.2 has half of
    it without an answer.

    A text belongs to one split only, whatever the seed. One combination in thirty of adjective and noun, and of verb and object, is
    never met in `train`, so validation and test also ask for new combinations of known words.

    >>> pair = next(ex.microworld.pairs(1, seed=3))
    >>> type(pair.english), type(pair.french)
    (<class 'str'>, <class 'str'>)
    """
    check_made(f"english-french-{version}")
    if version not in STRANDS:
        raise unknown("version of the pairs", version, STRANDS)
    check_drawn(count, seed, split)
    strands = STRANDS[version] if split == "train" else FIRST
    sources = {strand: plain_texts(10**12, seed, split, strand=strand) for strand in set(strands)}
    for number, strand in enumerate(cycle(strands)):
        if not count:
            return
        text = next(sources[strand])
        if version == TRANSLATED and strand == EVERYDAY and number // len(strands) % 2:
            text = replace(text, trees=text.trees[:1], english=text.english[:1], parts=text.parts[:1])
        if version != "2.0" and split != "train" and is_of_pairs([spelled(english(tree)) for tree in text.trees]):
            continue  # it is said in training, among what visitors type
        if len(text.trees) <= LONGEST and not leaves_gender_open(text.trees, text.english):
            count -= 1
            yield pair_of(text)


def pair_of(text: PlainText) -> Pair:
    """A text with its translation."""
    french = text.french
    alignment: list[tuple[int, int]] = []
    rows = columns = 0
    for first, second in zip(text.english, french, strict=True):
        alignment += [(rows + i, columns + j) for i, j in aligned(first, second)]
        rows, columns = rows + len(first), columns + len(second)
    unmet = tuple(pair for tree in text.trees for pair in combinations(tree) if hidden(pair))
    return Pair(
        " ".join(text.sentences), " ".join(spelled(sentence, "french") for sentence in french), _words(text.english),
        _words(french), tuple(alignment), text.frame, unmet,
    )  # fmt: skip


def _words(sentences: Sequence[Sequence[Lexeme]]) -> tuple[str, ...]:
    return tuple(
        (word.text[:1].upper() + word.text[1:]) if n == 0 else word.text for s in sentences for n, word in enumerate(s)
    )


def aligned(first: Sequence[Lexeme], second: Sequence[Lexeme]) -> list[tuple[int, int]]:
    """Which words of two sentences translate each other: those that share a mark."""
    where: dict[str, list[int]] = {}
    for j, word in enumerate(second):
        for mark in word.marks:
            where.setdefault(mark, []).append(j)
    return sorted({(i, j) for i, word in enumerate(first) for mark in word.marks for j in where.get(mark, ())})


def leaves_gender_open(trees: Sequence[Sentence], spoken: Sequence[Sequence[Lexeme]]) -> bool:
    """Whether the French of a text says what its English leaves open: that *the nurse* is a woman, though no *she* says so."""
    women = {noun.fr for noun in feminines().values()}
    shown = {word.who for sentence in spoken for word in sentence if word.text.lower() in ("she", "her", "hers", "herself")}
    phrases = (node for tree in trees for node in nodes(tree) if isinstance(node, Phrase))
    return any(phrase.noun.fr in women and phrase.key not in shown for phrase in phrases)
