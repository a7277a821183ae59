"""Learning a vocabulary merge by merge. The steps that are shown are the steps by which the tokenizers of the presets are trained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from explorer.records import Merge
from explorer.text.pairs import WAYS, Pair, Spellings, joined_pair
from explorer.text.readable import spelled

INSIDE = "##"  # WordPiece writes it before every token that does not begin a word


class Learner:
    """Starts with letters and joins one pair of tokens after the other, until the vocabulary has the wanted size.

    `tokens` is the vocabulary so far (token to id) and `merges` the pairs in the order in which they were joined.
    """

    def __init__(
        self, words: Counter[str], start: Sequence[str], split: Callable[[str], list[str]], by: str, unknown: str | None
    ) -> None:
        self.vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(start))}
        self.names = list(self.vocabulary)
        self.merges: list[tuple[str, str]] = []
        self.split, self.by = split, by
        self.unknown = self.vocabulary[unknown] if unknown else -1
        counted: Counter[tuple[int, ...]] = Counter()
        for word, count in words.items():
            counted[self.numbers(word)] += count
        self.texts = Spellings(counted)
        self.chooser = WAYS[by](self.texts.pairs(), self.texts.often)

    def numbers(self, word: str) -> tuple[int, ...]:
        """A word as the ids of its letters; a letter that is not in the vocabulary is unknown."""
        return tuple(self.vocabulary.get(letter, self.unknown) for letter in self.split(word))

    def run(self, size: int, watched: Sequence[str], show: Callable[[str], str]) -> Iterator[Merge]:
        """One merge after the other; the tokens of `watched` words are part of each record, and `show` writes tokens for the
        reader.
        """
        samples = [self.numbers(word) for word in watched]
        while len(self.vocabulary) < size and (choice := self.chooser.best()) is not None:
            pair, score, where = choice
            parts = tuple(self.texts.often[part] for part in pair)
            piece = self.add(pair)
            changes, count = self.texts.join(pair, piece, where)
            self.chooser.update(changes)
            before, samples = samples, [tuple(joined_pair(word, pair, piece)[0]) for word in samples]
            yield Merge(
                step=len(self.merges),
                pair=(show(self.names[pair[0]]), show(self.names[pair[1]])),
                piece=show(self.names[piece]),
                by=self.by,
                score=score,
                count=count,
                parts=(parts[0], parts[1]),
                size=len(self.vocabulary),
                fertility=self.texts.pieces_per_word,
                words=tuple(show(word) for word in watched),
                before=tuple(tuple(show(self.names[i]) for i in word) for word in before),
                after=tuple(tuple(show(self.names[i]) for i in word) for word in samples),
            )

    def add(self, pair: Pair) -> int:
        """The id of the token that this pair makes; a new one unless a special token is written the same."""
        first, second = (self.names[part] for part in pair)
        name = first + (second.removeprefix(INSIDE) if self.split is word_letters else second)
        self.merges.append((first, second))
        if name not in self.vocabulary:
            self.vocabulary[name] = len(self.names)
            self.names.append(name)
        return self.vocabulary[name]


def word_letters(word: str) -> list[str]:
    """WordPiece's letters: the first as it is, those inside the word marked with ##."""
    return [word[0], *(INSIDE + letter for letter in word[1:])] if word else []


def plain_letters(word: str) -> list[str]:
    """BPE's letters, or bytes."""
    return list(word)


def as_is(piece: str) -> str:
    """WordPiece's tokens are written as they are."""
    return piece


def dotted(piece: str) -> str:
    """A token that may begin with the space before its word."""
    return piece.replace("▁", "·")


SHOWN: dict[str, Callable[[str], str]] = {"wordpiece": as_is, "bpe": dotted, "byte-bpe": spelled}
