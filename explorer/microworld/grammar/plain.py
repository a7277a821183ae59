"""Plain texts of the microworld: one to four sentences, or a short exchange, drawn from a seed with their gold labels and their French.

A text belongs to one split, whatever the seed. Some combinations of adjective and noun, and of verb and object, are kept out of
training, and some words occur in test texts only; so validation and test also ask for what was never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from zlib import crc32

from explorer.errors import ChoiceError, check_whole, unknown
from explorer.microworld.apart import LECTURE, WORLD, keeps, partners
from explorer.microworld.forms import capital
from explorer.microworld.grammar.contracting import contracted, long_forms
from explorer.microworld.grammar.drawing import Draw
from explorer.microworld.grammar.english import english
from explorer.microworld.grammar.frames import Frame, frames
from explorer.microworld.grammar.french import french
from explorer.microworld.grammar.speaking import Speaker
from explorer.microworld.grammar.tree import Clause, Lexeme, Phrase, Sentence, nodes
from explorer.microworld.lexicon import SPLITS, check_split
from explorer.microworld.telling import HELD_OUT

PAIRS = Path(__file__).parent.parent / "plain_pairs.tsv"
EVERYDAY = "everyday"  # what visitors type first
STRANDS = ("plain", "exchange", EVERYDAY)
CHAINED = 0.3  # the share of plain texts whose sentences are several frames about the same person
SHORT, CURLY = 0.5, 0.2  # the shares of texts with short forms, and of those with a curly apostrophe
HIDDEN = 30  # one combination in so many is never met in training
GLUED = frozenset((",", ".", "?", "!", "'s"))


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text: the names of its frames, the meaning of each sentence, its English words, and the frame of each sentence."""

    frame: str
    strand: str
    trees: tuple[Sentence, ...]
    english: tuple[tuple[Lexeme, ...], ...]
    parts: tuple[int, ...]  # for each sentence, which of the frames it comes from

    @property
    def sentences(self) -> list[str]:
        """Its English sentences as they are written."""
        return [spelled(sentence) for sentence in self.english]

    @property
    def french(self) -> list[list[Lexeme]]:
        """Its French sentences as words."""
        return [french(tree) for tree in self.trees]


def spelled(spoken: Sequence[Lexeme], language: str = "english") -> str:
    """Words as they are written: a capital first, no space before a full stop, none after *l'*."""
    text = ""
    for word in spoken:
        glued = not text or word.text in GLUED or word.text.startswith("-")
        if language == "french":
            glued = (glued and word.text not in "?!") or not text or text[-1] == "'"
        text += word.text if glued else f" {word.text}"
    return capital(text)


@cache
def weighted(strand: str, opening: bool) -> tuple[tuple[Frame, ...], tuple[float, ...]]:
    """The frames of a strand, or those that begin with somebody, and the running sums of their weights."""
    chosen = tuple(frame for frame in frames() if frame.strand == strand and (frame.opens or not opening))
    return chosen, tuple(accumulate(frame.weight for frame in chosen))


def compose(draw: Draw, strand: str) -> tuple[str, list[Sentence], list[int]]:
    """The frame of a text, or of several about one person; its sentences; and which of the frames each of them comes from."""
    if strand == "plain" and draw.maybe(CHAINED):
        return _chain(draw)
    frame = draw.weighted(*weighted(strand, False))
    trees = Speaker(draw, draw.pick(frame.tenses)).text(frame)
    return frame.name, trees, [0] * len(trees)


def _chain(draw: Draw) -> tuple[str, list[Sentence], list[int]]:
    """Two to four sentences about the same person."""
    tense = draw.pick(("past", "past", "present"))
    speaker = Speaker(draw, (tense,))
    names: list[str] = []
    trees: list[Sentence] = []
    parts: list[int] = []
    for number in range(draw.pick((2, 2, 3, 4))):
        frame = draw.weighted(*weighted("plain", True))
        while frame.name in names or not any(pattern[0] in (tense, "auto") for pattern in frame.tenses):
            frame = draw.weighted(*weighted("plain", True))
        names.append(frame.name)
        speaker.tenses = (tense, *draw.pick([pattern for pattern in frame.tenses if pattern[0] in (tense, "auto")])[1:])
        trees += speaker.text(frame, again=number > 0)
        parts += [number] * (len(trees) - len(parts))
    return "+".join(names), trees, parts


def combinations(tree: object) -> Iterator[str]:
    """The pairings in a tree that may be kept out of training: *red car* (attributive), *sell car* (verb and object)."""
    for node in nodes(tree):
        if isinstance(node, Phrase):
            yield from (f"{adjective.en} {node.noun.en}" for adjective in node.adjectives)
        elif isinstance(node, Clause) and isinstance(node.object, Phrase):
            yield f"{node.verb.name} {node.object.noun.en}"


@cache
def hidden(combination: str) -> bool:
    """Whether a combination is kept out of training: a fixed one in thirty."""
    return crc32(combination.encode()) % HIDDEN == 0


@cache
def _of_pairs() -> frozenset[str]:
    """The sentences of the plain minimal pairs: no training text holds one, nor the faulty one beside it."""
    lines = PAIRS.read_text("utf-8").splitlines()
    return frozenset(long_forms(cell) for line in lines if line[:1] not in ("", "#") for cell in line.split("\t")[1:])


def is_of_pairs(sentences: Sequence[str]) -> bool:
    """Whether a text, without short forms, holds a sentence of a plain pair."""
    return not _of_pairs().isdisjoint(sentences)


def home(sentences: Sequence[str], trees: Sequence[Sentence], strand: str = "plain") -> str:
    """Which split a text belongs to, by its letters.

    It is never train where it holds a hidden combination, words that are kept apart, or a sentence of a lecture or a plain pair. What
    visitors type first is train in all other cases, even where a plain pair has it.
    """
    number = crc32(" ".join(sentences).encode())
    unmet = any(hidden(pair) for tree in trees for pair in combinations(tree))
    first = strand == EVERYDAY
    kept = not HELD_OUT.isdisjoint(sentences) or (not first and is_of_pairs(sentences))
    if unmet or kept or any(of_lecture(sentence) for sentence in sentences) or not keeps(list(sentences), partners(WORLD)):
        return SPLITS[1 + number % 2]
    return SPLITS[number % 24] if number % 24 in (1, 2) and not first else "train"


def of_lecture(sentence: str) -> bool:
    """Whether a sentence puts two words together that a lecture asks about."""
    words = set(sentence.lower().rstrip(".").split())
    return any(first in words and second in words for first, second in LECTURE)


def check_drawn(count: int, seed: int, split: str) -> None:
    """Refuse a number of texts, a seed or a split that nothing can be drawn with."""
    check_split(split)
    for name, value in (("count", count), ("seed", seed)):
        check_whole(name, value, 0)


def plain_texts(count: int, seed: int, split: str = "train", *, strand: str = "plain") -> Iterator[PlainText]:
    """`count` texts of one strand and split, the same for the same seed everywhere.

    >>> text = next(plain_texts(1, seed=3))
    >>> all(sentence[-1] in ".?!" for sentence in text.sentences)
    True
    """
    check_drawn(count, seed, split)
    if strand not in STRANDS:
        raise unknown("strand", strand, STRANDS)
    if strand == EVERYDAY and split != "train":
        raise ChoiceError(f"What visitors type first is all in training: there is none of it in {split}.")
    number = 0
    while count:
        draw = Draw(f"{strand} {split} {seed} {number}", split)
        number += 1
        frame, trees, parts = compose(draw, strand)
        spoken = [english(tree) for tree in trees]
        short, curly = draw.maybe(SHORT), draw.maybe(CURLY)
        if home([spelled(sentence) for sentence in spoken], trees, strand) == split:
            count -= 1
            words = tuple(tuple(contracted(sentence, curly) if short else sentence) for sentence in spoken)
            yield PlainText(frame, strand, tuple(trees), words, tuple(parts))
