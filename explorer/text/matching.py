"""Cutting one word into tokens, step by step: WordPiece's longest match, and BPE's replay of its merges."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.records import Join, Match
from explorer.text.learner import INSIDE
from explorer.text.tokenizers import Tokenizer

LONGEST = 100
BEGIN = "▁"  # where a word begins, in BPE over letters


@checked
def matches(
    word: str, vocabulary: Collection[str] | Tokenizer, *, prefix: str = INSIDE, unknown: str = "[UNK]", longest: int = LONGEST
) -> Iterator[Match]:
    """Every try of WordPiece's longest match: from the whole rest of the word down to one letter, then on from there.

    Where not even one letter is in the vocabulary, the *whole word* becomes the unknown token; so does a word that is
    longer than `longest` letters. `vocabulary` are the tokens that there are, or a tokenizer that has them.

    >>> [step.candidate for step in matches("dogs", ["dog", "##s"])]
    ['dogs', 'dog', '##s']
    """
    vocabulary = vocabulary.core.get_vocab() if isinstance(vocabulary, Tokenizer) else vocabulary
    if not word or any(letter.isspace() for letter in word):
        raise ChoiceError(f"{word!r} is not one word. Give one word without spaces.")
    if len(word) > longest:
        yield Match(word, 0, word, False, "", (unknown,))
        return
    place = 0
    tokens: tuple[str, ...] = ()
    while place < len(word):
        for end in range(len(word), place, -1):
            candidate = (prefix if place else "") + word[place:end]
            known = candidate in vocabulary
            tokens = (*tokens, candidate) if known else tokens if end > place + 1 else (unknown,)
            yield Match(word, place, candidate, known, word[end:] if known else word[place:], tokens)
            if known:
                break
        else:
            return
        place = end


@checked
def replay(word: str, merges: Sequence[tuple[str, str]] | Tokenizer, *, letters: Sequence[str] | None = None) -> Iterator[Join]:
    """How BPE cuts a word: it starts with the letters and always applies the learned merge of the lowest rank that fits.

    `merges` are in the order in which they were learned; `letters` are the tokens to begin with where they are not the letters of the
    word (an unknown token among them). A BPE tokenizer gives its own merges, letters and mark of a word's begin.

    >>> [step.pieces for step in replay("abc", [("a", "b")])]
    [('a', 'b', 'c'), ('ab', 'c')]
    """
    if isinstance(merges, Tokenizer):
        word, merges, letters = _of_tokenizer(word, merges)
    rank = {pair: number for number, pair in enumerate(merges)}
    tokens = list(letters if letters is not None else word)
    yield Join(word, -1, ("", ""), tuple(tokens))
    while True:
        mergeable = [(rank[pair], place) for place, pair in enumerate(zip(tokens, tokens[1:], strict=False)) if pair in rank]
        if not mergeable:
            return
        number, place = min(mergeable)
        tokens[place : place + 2] = ["".join(tokens[place : place + 2])]
        yield Join(word, number, merges[number], tuple(tokens))


def _of_tokenizer(word: str, tokenizer: Tokenizer) -> tuple[str, Sequence[tuple[str, str]], Sequence[str]]:
    """A word as a BPE tokenizer begins with it: marked, each letter that it does not know as its unknown token."""
    model = json.loads(tokenizer.core.to_str())["model"]
    if not model.get("merges"):
        raise ChoiceError("Only a BPE tokenizer has merges to replay: ex.tokenizer('bpe', texts).")
    marked = word if word.startswith(BEGIN) else f"{BEGIN}{word}"
    letters = [letter if letter in model["vocab"] else "<unk>" for letter in marked]
    return marked, [(a, b) for a, b in model["merges"]], letters
