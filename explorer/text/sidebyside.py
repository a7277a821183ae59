"""One text under several tokenizers, the same sentence in several languages, and long texts cut into segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.records import Fertility, SideBySide, Tokens
from explorer.text.opening import AnyTokenizer, as_tokenizer
from explorer.text.tokenizers import Tokenizer

# The same sentence, cut into words by hand: Chinese writes no spaces, and each emoji counts as a word.
LANGUAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "English": (" ", ("The", "animal", "did", "not", "cross", "the", "street", "because", "it", "was", "too", "tired", ".")),
    "Finnish": (" ", ("Eläin", "ei", "ylittänyt", "katua", ",", "koska", "se", "oli", "liian", "väsynyt", ".")),
    "Arabic": (" ", ("لم", "يعبر", "الحيوان", "الشارع", "لأنه", "كان", "متعبا", "جدا", ".")),
    "Chinese": ("", ("动物", "没有", "过", "马路", "，", "因为", "它", "太", "累", "了", "。")),
    "Emoji": ("", ("🐶", "🚫", "🚶", "🚦", "😴")),
}

# Other sentences in these languages, to learn from: the sentence above is in none of them.
OTHERS: dict[str, tuple[str, ...]] = {
    "Finnish": (
        "Koira oli väsynyt, koska katu oli liian pitkä.", "Eläin nukkui puutarhassa, koska se oli liian väsynyt.",
        "Lapsi ei ylittänyt tietä, koska se oli liian leveä.", "Hevonen ei ollut väsynyt.",
        "Kissa ylitti kadun ja meni kotiin.", "Katua ei voinut ylittää, koska se oli liian leveä.",
        "Se oli vanha eläin, ja se oli nälkäinen.", "Opettaja ei löytänyt kirjaa, koska oli pimeä.",
    ),
    "Arabic": (
        "كان الكلب متعبا لأن الشارع كان طويلا جدا.", "نام الحيوان في الحديقة لأنه كان متعبا.",
        "لم يعبر الطفل الطريق لأنه كان واسعا جدا.", "لم يكن الحصان متعبا.", "عبرت القطة الشارع وذهبت إلى البيت.",
        "كان الحيوان كبيرا وكان جائعا جدا.", "لم يجد المعلم الكتاب لأن الغرفة كانت مظلمة.", "الشارع واسع والحيوان صغير.",
    ),
    "Chinese": (
        "狗很累，因为马路太长了。", "动物在花园里睡觉，因为它太累了。", "孩子没有过马路，因为路太宽了。", "那匹马不累。",
        "猫过了马路，然后回家了。", "它是一只老动物，它很饿。", "老师没有找到书，因为太暗了。", "马路很宽，动物很小。",
    ),
    "Emoji": ("🐶😴🏠", "🐱🚶🚦🏠", "🐴🚫😴", "🐶🚫🍎", "🚶🚦🚶", "😴🌙", "🐱🚫🚶😴", "🐶🚶🌳"),
}  # fmt: skip


def sentence(language: str) -> str:
    """The sentence in this language as it is written."""
    space, words = LANGUAGES[language]
    text = space.join(words)
    return text.replace(" .", ".").replace(" ,", ",")


@checked
def side_by_side(
    text: str, tokenizers: Mapping[str, AnyTokenizer], *, pair: str | None = None, special: bool = False
) -> SideBySide:
    """The same text, or pair of texts, as each of these tokenizers (ours, files, or those of other libraries) cuts it; with `special`,
    also the special tokens that it adds.

    >>> ex.text.side_by_side("A dog", {"bert": ex.load("bert").tokenizer}).tokens[0].texts
    ('a', 'dog')
    """
    every = {name: as_tokenizer(tokenizer) for name, tokenizer in tokenizers.items()}
    tokens = tuple(tokenizer.encode(text, pair, special=special) for tokenizer in every.values())
    if not any(len(cut) > sum(cut.special) for cut in tokens):
        raise ChoiceError("The text is empty. Write a word.")
    unknown = tuple(-1 if t.vocabulary.unknown is None else t.vocabulary.unknown for t in every.values())
    return SideBySide(text if pair is None else f"{text} {pair}", tuple(tokenizers), tokens, unknown)


@checked
def fertility(tokenizers: Mapping[str, AnyTokenizer]) -> Fertility:
    """How many tokens each tokenizer needs for the same sentence in four languages and in emoji, and how many of them are unknown.

    >>> ex.text.fertility({"bert": ex.load("bert").tokenizer}).names
    ('bert',)
    """
    sentences = tuple(sentence(language) for language in LANGUAGES)
    every = [as_tokenizer(tokenizer) for tokenizer in tokenizers.values()]
    cut = [[tokenizer.encode(text, special=False) for text in sentences] for tokenizer in every]
    lost = [t.vocabulary.unknown for t in every]
    return Fertility(
        tuple(tokenizers),
        tuple(LANGUAGES),
        sentences,
        words=np.array([len(words) for _, words in LANGUAGES.values()]),
        pieces=np.array([[len(tokens) for tokens in row] for row in cut]),
        unknown=np.array([[int((t.ids == unk).sum()) for t in row] for row, unk in zip(cut, lost, strict=True)]),
    )


@checked
def segments(text: str | Sequence[str], tokenizer: Tokenizer, *, longest: int = 512) -> tuple[Tokens, ...]:
    """A long text, or several in a row, as segments of at most `longest` tokens, special tokens included. No word is cut in two.

    >>> import explorer as ex
    >>> [len(part) for part in segments("a dog " * 9, ex.load("bert").tokenizer, longest=10)]
    [10, 10, 4]
    """
    text = text if isinstance(text, str) else " ".join(text)
    whole, frame = tokenizer.encode(text, special=False), tokenizer.encode("a")
    max_length = longest - sum(frame.special)
    if max_length < 1:
        raise ChoiceError(f"longest={longest} leaves no room: the special tokens alone are {sum(frame.special)}.")
    cuts, last = [0], 0
    for begin in (*(n for n in range(1, len(whole)) if whole.words[n] != whole.words[n - 1]), len(whole)):
        if begin - last > max_length:
            raise ChoiceError(f"A word of {begin - last} tokens does not fit into segments of {longest}. Allow longer ones.")
        if begin - cuts[-1] > max_length:
            cuts.append(last)
        last = begin
    return tuple(_segment(whole, slice(low, high), frame) for low, high in zip(cuts, [*cuts[1:], len(whole)], strict=True))


def _segment(whole: Tokens, part: slice, frame: Tokens) -> Tokens:
    """Some tokens of a text between the special tokens that are added to a text."""
    before = frame.special.index(False)
    after = len(frame) - frame.special[::-1].index(False)

    def around(ours: Sequence[Any], theirs: Sequence[Any]) -> tuple[Any, ...]:
        return (*theirs[:before], *ours, *theirs[after:])

    words = whole.words[part]  # of this segment alone: a text of many segments is not read once more for each
    return Tokens(
        ids=np.array(around(whole.ids[part].tolist(), frame.ids.tolist()), dtype=np.int64),
        texts=around(whole.texts[part], frame.texts),
        words=around([word - words[0] for word in words], frame.words),
        sentences=around(whole.sentences[part], frame.sentences),
        segments=around(whole.segments[part], frame.segments),
        offsets=around(whole.offsets[part], frame.offsets),
        special=around(whole.special[part], frame.special),
        unseen=None if whole.unseen is None or frame.unseen is None else around(whole.unseen[part], frame.unseen),
    )
