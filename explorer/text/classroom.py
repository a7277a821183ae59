"""What the lesson on tokens is made from: toy stories, and a tokenizer of every kind learned from them.

>>> sorted(ex.text.classroom.systems())[:2]
['BART, RoBERTa', 'BERT']
"""

from __future__ import annotations

from functools import lru_cache
from string import ascii_letters, digits

from explorer.records import Merge
from explorer.text.learning import learn, tokenizer
from explorer.text.sidebyside import OTHERS
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories as stories

STORIES, SEED, SIZE = 600, 1, 400


@lru_cache(maxsize=4)
def toys(count: int = STORIES, *, seed: int = SEED) -> list[str]:
    """The stories that everything is learned from, or as many others.

    >>> len(toys(3, seed=2))
    3
    """
    return [" ".join(story) for story in stories(count, seed)]


@lru_cache(maxsize=32)
def learned(kind: str, by: str, watch: tuple[str, ...] = ()) -> tuple[Merge, ...]:
    """Every merge of one way of learning.

    >>> len(ex.text.classroom.learned("bpe", "count")) > 100
    True
    """
    return tuple(learn(kind, toys(), size=SIZE, by=by, watch=watch))


@lru_cache(maxsize=1)
def shelf() -> dict[str, Tokenizer]:
    """A tokenizer of every kind, all learned from the stories, and a byte BPE that was trained on several languages and emoji.

    >>> list(ex.text.classroom.shelf())
    ['words', 'wordpiece', 'bpe', 'byte-bpe', 'unigram', 'many scripts']
    """
    tokenizers = {
        kind: tokenizer(kind, toys(), size=SIZE, sentinels=0) for kind in ("words", "wordpiece", "bpe", "byte-bpe", "unigram")
    }
    several = [text for texts in OTHERS.values() for text in texts] * 5
    return {**tokenizers, "many scripts": tokenizer("byte-bpe", toys()[:60] + several, size=2 * SIZE)}


@lru_cache(maxsize=1)
def alike() -> dict[str, Tokenizer]:
    """The tokenizers of the shelf that cut words, all given the same characters: those of the stories, every letter and every digit.

    >>> made = alike()["bpe"]
    >>> made.vocabulary.unknown in made.encode("z3").ids
    False

    """
    given = "".join(sorted({*ascii_letters, *digits, *"".join(toys())} - {" "}))
    return {
        kind: tokenizer(kind, toys(), size=SIZE, sentinels=0, letters=given)
        for kind in ("wordpiece", "bpe", "byte-bpe", "unigram")
    }


@lru_cache(maxsize=1)
def systems() -> dict[str, Tokenizer]:
    """The same stories as four systems cut them, each with the special tokens that it adds to a text.

    >>> ex.text.classroom.systems()["BERT"].encode("a dog").texts[0]
    '[CLS]'
    """
    bart = tokenizer("byte-bpe", toys(), size=SIZE, specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    known = shelf()
    return {"BERT": known["wordpiece"], "BART, RoBERTa": bart, "T5": known["unigram"], "GPT-2": known["byte-bpe"]}
