"""What the lesson on tokens is made from: toy stories, and a tokenizer of every kind learned from them."""

from __future__ import annotations

from functools import lru_cache

from explorer.records import Merge
from explorer.text.learning import learn, tokenizer
from explorer.text.seedling import stories
from explorer.text.sidebyside import OTHERS
from explorer.text.tokenizers import Tokenizer

STORIES, SEED, SIZE = 600, 1, 400


@lru_cache(maxsize=1)
def toys() -> list[str]:
    """The stories that everything is learned from."""
    return [" ".join(story) for story in stories(STORIES, SEED)]


@lru_cache(maxsize=32)
def learned(kind: str, by: str, watch: tuple[str, ...] = ()) -> tuple[Merge, ...]:
    """Every merge of one way of learning."""
    return tuple(learn(kind, toys(), size=SIZE, by=by, watch=watch))


@lru_cache(maxsize=1)
def shelf() -> dict[str, Tokenizer]:
    """A tokenizer of every kind, all learned from the stories, and a byte BPE that has met five languages."""
    made = {
        kind: tokenizer(kind, toys(), size=SIZE, sentinels=0) for kind in ("words", "wordpiece", "bpe", "byte-bpe", "unigram")
    }
    several = [text for texts in OTHERS.values() for text in texts] * 5
    return {**made, "five languages": tokenizer("byte-bpe", toys()[:60] + several, size=2 * SIZE)}


@lru_cache(maxsize=1)
def systems() -> dict[str, Tokenizer]:
    """The same stories as four systems cut them, each with the special pieces that it puts around a text."""
    bart = tokenizer("byte-bpe", toys(), size=SIZE, specials=("<s>", "<pad>", "</s>", "<unk>", "<mask>"))
    held = shelf()
    return {"BERT": held["wordpiece"], "BART, RoBERTa": bart, "T5": held["unigram"], "GPT-2": held["byte-bpe"]}
