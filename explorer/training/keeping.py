"""What a second `fit` on our own corpora need not make again: their tokenizer, and their texts in tokens."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from explorer import text
from explorer.errors import ChoiceError, check_whole
from explorer.models.presets import Preset
from explorer.text.disk_cache import cached, source_mark
from explorer.text.learning import count_words, met
from explorer.text.learning import tokenizer as learned
from explorer.text.packing import PackedExamples, pack_examples, pack_tokenizer, unpack_tokenizer
from explorer.text.tokenizers import Seen, Tokenizer
from explorer.training.corpora import Corpus

MORE = 250  # tokens


@cache
def _reader() -> str:
    """A checksum of all that decides how a text becomes tokens."""
    return f"{source_mark(Path(text.__path__[0]))} {version('tokenizers')}"


def learned_tokenizer(
    system: Preset, corpus: Corpus, size: int, kind: str | None = None, whole: int = 0, *, grows: bool = False
) -> Tokenizer:
    """The tokenizer of a preset, or one of another kind, learned from a corpus of texts or of translations.

    Where it `grows`, it gets a few hundred tokens more than `size` if the words that occur `whole` times do not fit otherwise.
    """
    specials, size = system.specials if kind is None else None, check_whole("pieces", size, 1)

    def make() -> Tokenizer:
        for room in range(size, 2 * size if grows else size + 1, MORE):
            try:
                return learned(kind or system.tokenizer, _whole_texts(corpus), size=room, specials=specials, whole=whole)
            except ChoiceError:
                if not grows or room + MORE >= 2 * size:
                    raise
        raise AssertionError("a range that begins with the size is not empty")

    if not corpus.mark:
        return make()
    key = (corpus.mark, _reader(), kind or system.tokenizer, size, specials, whole, grows)
    return cached("tokenizer", key, make, pack_tokenizer, unpack_tokenizer)


def reads_more(tokenizer: Tokenizer, corpus: Corpus) -> Tokenizer:
    """The tokenizer of a model that reads a corpus after other texts: the words and tokens of both count as seen."""
    before = tokenizer.seen
    if before is None or corpus.tokenizer is not None:
        return tokenizer
    now, both = met(tokenizer, count_words(tokenizer.core, _whole_texts(corpus))), tokenizer.like(tokenizer.core)
    both.seen = Seen(before.words | now.words, before.pieces | now.pieces)
    return both


def _whole_texts(corpus: Corpus) -> Iterator[str]:
    return (text if isinstance(text, str) else " ".join(text) for text in corpus.texts)


def kept_examples(
    corpus: Corpus, tokenizer: Tokenizer, how: tuple[object, ...], make: Callable[[], Sequence[Any]]
) -> Sequence[Any]:
    """The texts of a corpus in tokens; `how` they were made is part of what they are kept under."""
    if not corpus.mark:
        return make()
    checksum = hashlib.sha256(tokenizer.core.to_str().encode("utf-8")).hexdigest()
    return cached("examples", (corpus.mark, _reader(), checksum, *how), make, pack_examples, PackedExamples)
