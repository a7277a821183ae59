"""One text under several tokenizers, the same sentence in several languages, and long texts cut into segments."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from explorer.errors import ChoiceError
from explorer.records import Fertility, SideBySide, Tokens
from explorer.text.tokenizers import Tokenizer

# The same sentence, cut into words by hand: Chinese writes no spaces, and each emoji counts as a word.
LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "English": (" ", ("The", "animal", "did", "not", "cross", "the", "street", "because", "it", "was", "too", "tired", ".")),
    "Finnish": (" ", ("Eläin", "ei", "ylittänyt", "katua", ",", "koska", "se", "oli", "liian", "väsynyt", ".")),
    "Arabic": (" ", ("لم", "يعبر", "الحيوان", "الشارع", "لأنه", "كان", "متعبا", "جدا", ".")),
    "Chinese": ("", ("动物", "没有", "过", "马路", "，", "因为", "它", "太", "累", "了", "。")),
    "Emoji": ("", ("🐶", "🚫", "🚶", "🚦", "😴")),
}


def sentence(language: str) -> str:
    """The sentence in this language as it is written."""
    space, words = LANGUAGES[language]
    text = space.join(words)
    return text.replace(" .", ".").replace(" ,", ",")


def side_by_side(text: str, tokenizers: Mapping[str, Tokenizer]) -> SideBySide:
    """The same text as each of these tokenizers cuts it, without special pieces around it."""
    tokens = tuple(tokenizer.encode(text, special=False) for tokenizer in tokenizers.values())
    if not any(len(cut) for cut in tokens):
        raise ChoiceError("The text is empty. Write a word.")
    unknown = tuple(-1 if t.vocabulary.unknown is None else t.vocabulary.unknown for t in tokenizers.values())
    return SideBySide(text, tuple(tokenizers), tokens, unknown)


def fertility(tokenizers: Mapping[str, Tokenizer]) -> Fertility:
    """How many pieces each tokenizer needs for the same sentence in five languages, and how many of them are unknown."""
    sentences = tuple(sentence(language) for language in LANGUAGES)
    cut = [[tokenizer.encode(text, special=False) for text in sentences] for tokenizer in tokenizers.values()]
    lost = [t.vocabulary.unknown for t in tokenizers.values()]
    return Fertility(
        tuple(tokenizers),
        tuple(LANGUAGES),
        sentences,
        words=np.array([len(words) for _, words in LANGUAGES.values()]),
        pieces=np.array([[len(tokens) for tokens in row] for row in cut]),
        unknown=np.array([[int((t.ids == unk).sum()) for t in row] for row, unk in zip(cut, lost, strict=True)]),
    )


def segments(text: str, tokenizer: Tokenizer, *, longest: int = 512) -> tuple[Tokens, ...]:
    """A long text as segments of at most `longest` pieces, special pieces included. No word is cut in two."""
    around = len(tokenizer.encode(""))
    whole = tokenizer.encode(text, special=False)
    if longest <= around:
        raise ChoiceError(f"longest={longest} leaves no room: the special pieces alone are {around}.")
    room, begin, held = longest - around, 0, 0
    found: list[Tokens] = []
    for length, start in words(whole):
        if length > room:
            raise ChoiceError(f"A word of {length} pieces does not fit into segments of {longest}. Allow longer ones.")
        if held + length > room:
            found.append(tokenizer.encode(text[begin:start]))
            begin, held = start, 0
        held += length
    return (*found, tokenizer.encode(text[begin:]))


def words(tokens: Tokens) -> list[tuple[int, int]]:
    """How many pieces each word has, and where in the text it begins."""
    found: dict[int, tuple[int, int]] = {}
    for word, (start, _) in zip(tokens.words, tokens.offsets, strict=True):
        length, first = found.get(word, (0, start))
        found[word] = length + 1, first
    return list(found.values())
