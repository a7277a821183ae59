"""Stories, tokenizers and stories in tokens as bytes, and back: what the cache on disk keeps."""

from __future__ import annotations

import io
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import tokenizers as library

from explorer.text.examples import CharExample, Example, Translation, TranslationExample
from explorer.text.tokenizers import Seen, Tokenizer

LINE, BETWEEN = "\n", "\n\n"


def pack_texts(texts: Sequence[Sequence[str]]) -> bytes:
    """Stories (or translations) as one compressed text: a sentence a line, an empty line between two stories."""
    return zlib.compress(BETWEEN.join(LINE.join(story) for story in texts).encode("utf-8"), 1)


def unpack_stories(content: bytes) -> list[list[str]]:
    """Stories from what `pack_texts` made.

    >>> unpack_stories(pack_texts([["A dog ran.", "It barked."], ["The end."]]))
    [['A dog ran.', 'It barked.'], ['The end.']]
    """
    return [story.split(LINE) for story in zlib.decompress(content).decode("utf-8").split(BETWEEN)]


def unpack_texts(content: bytes) -> PackedTexts:
    """Stories or translations from what `pack_corpus` made, as a list that is read when it is needed; a damaged one is refused now."""
    head, _, packed = content.partition(b"\n")
    count, translations, mark = json.loads(head)
    if zlib.crc32(packed) != mark:
        raise ValueError("its checksum is wrong")
    return PackedTexts(packed, count, translations)


def pack_corpus(texts: Sequence[Sequence[str]]) -> bytes:
    """Stories or translations with how many there are, so that they need not be read to be counted."""
    packed = pack_texts(texts)
    return json.dumps([len(texts), isinstance(texts[0], Translation), zlib.crc32(packed)]).encode() + b"\n" + packed


def pack_tokenizer(tokenizer: Tokenizer) -> bytes:
    """A tokenizer, and what it saw in training."""
    seen = "" if tokenizer.seen is None else tokenizer.seen.text()
    return zlib.compress(json.dumps([tokenizer.core.to_str(), seen]).encode("utf-8"), 1)


def unpack_tokenizer(content: bytes) -> Tokenizer:
    """A tokenizer from what `pack_tokenizer` made."""
    core, seen = json.loads(zlib.decompress(content))
    return Tokenizer(library.Tokenizer.from_str(core), Seen.of(seen) if seen else None)


def pack_examples(examples: Sequence[Any]) -> bytes:
    """Stories in tokens, of one kind, as a few long arrays of small numbers."""
    kind = type(examples[0])
    parts = (
        [part for example in examples for part in (example.source, example.target)]
        if kind is TranslationExample
        else list(examples)
    )
    fields = ["ids", "words", "sentences", *(["forms"] if kind is CharExample else [])]
    arrays = {name: _small(np.concatenate([getattr(part, name) for part in parts])) for name in fields}
    arrays["lengths"] = np.array([len(part.ids) for part in parts])
    if kind is CharExample:
        arrays["letters"] = examples[0].letters
    content = io.BytesIO()
    np.savez(content, kind=np.array(kind.__name__), **arrays)  # type: ignore[arg-type]
    return content.getvalue()


class PackedExamples(Sequence[Any]):
    """Stories in tokens, from what `pack_examples` made: each is taken out when it is asked for."""

    def __init__(self, content: bytes) -> None:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = dict(file)
        self._ends = [0, *np.cumsum(arrays.pop("lengths")).tolist()]
        self._pairs, self._letters = str(arrays.pop("kind")) == TranslationExample.__name__, arrays.pop("letters", None)
        self._columns = [arrays[name] for name in ("ids", "words", "sentences", "forms") if name in arrays]
        if any(len(column) != self._ends[-1] for column in self._columns):
            raise ValueError("the arrays do not belong together")

    def __len__(self) -> int:
        return (len(self._ends) - 1) // (2 if self._pairs else 1)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        place = range(len(self))[number]
        return TranslationExample(self._one(2 * place), self._one(2 * place + 1)) if self._pairs else self._one(place)

    def _one(self, number: int) -> Example:
        begin, end = self._ends[number : number + 2]
        row = [column[begin:end].astype(np.int64) for column in self._columns]
        if self._letters is None:
            return Example(*row)
        ids, words, sentences, forms = row
        return CharExample(ids, words, sentences, forms, self._letters)


class PackedTexts(Sequence[Any]):
    """Stories or translations from what `pack_texts` made, read when the first of them is asked for."""

    def __init__(self, content: bytes, count: int, translations: bool = False) -> None:
        self._content, self._count, self.translations = content, count, translations
        self._texts: list[Any] | None = None

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if self._texts is None:
            stories = unpack_stories(self._content)
            self._texts = [Translation(*pair) for pair in stories] if self.translations else stories
        return self._texts[number]


def _small(numbers: np.ndarray) -> np.ndarray:
    """The same whole numbers in as few bytes as hold them all."""
    wide = np.promote_types(np.min_scalar_type(numbers.min(initial=0)), np.min_scalar_type(numbers.max(initial=0)))
    return numbers.astype(wide)
