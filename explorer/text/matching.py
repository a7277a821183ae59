"""Cutting one word into pieces, step by step: WordPiece's longest match, and BPE's replay of its merges."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from explorer.errors import ChoiceError
from explorer.records import Join, Match
from explorer.text.learner import INSIDE

LONGEST = 100


def matches(
    word: str, vocabulary: Collection[str], *, prefix: str = INSIDE, unknown: str = "[UNK]", longest: int = LONGEST
) -> Iterator[Match]:
    """Every try of WordPiece's longest match: from the whole rest of the word down to one letter, then on from there.

    Where not even one letter is in the vocabulary, the *whole word* becomes the unknown piece; so does a word that is
    longer than `longest` letters.
    """
    if not word or any(letter.isspace() for letter in word):
        raise ChoiceError(f"{word!r} is not one word. Give one word without spaces.")
    if len(word) > longest:
        yield Match(word, 0, word, False, "", (unknown,))
        return
    place = 0
    pieces: tuple[str, ...] = ()
    while place < len(word):
        for end in range(len(word), place, -1):
            candidate = (prefix if place else "") + word[place:end]
            found = candidate in vocabulary
            pieces = (*pieces, candidate) if found else pieces if end > place + 1 else (unknown,)
            yield Match(word, place, candidate, found, word[end:] if found else word[place:], pieces)
            if found:
                break
        else:
            return
        place = end


def replay(word: str, merges: Sequence[tuple[str, str]], *, letters: Sequence[str] | None = None) -> Iterator[Join]:
    """How BPE cuts a word: it begins with the letters and always does the learned merge of the lowest rank that fits.

    `merges` are in the order in which they were learned; `letters` are the pieces to begin with where they are not the
    letters of the word (an unknown piece among them).
    """
    rank = {pair: number for number, pair in enumerate(merges)}
    pieces = list(letters if letters is not None else word)
    yield Join(word, -1, ("", ""), tuple(pieces))
    while True:
        found = [(rank[pair], place) for place, pair in enumerate(zip(pieces, pieces[1:], strict=False)) if pair in rank]
        if not found:
            return
        number, place = min(found)
        pieces[place : place + 2] = ["".join(pieces[place : place + 2])]
        yield Join(word, number, merges[number], tuple(pieces))
