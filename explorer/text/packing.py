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


def unpack_translations(content: bytes) -> list[Translation]:
    """Translations from what `pack_texts` made."""
    return [Translation(*pair) for pair in unpack_stories(content)]


def pack_tokenizer(tokenizer: Tokenizer) -> bytes:
    """A tokenizer, and what it saw in training."""
    seen = "" if tokenizer.seen is None else tokenizer.seen.text()
    return zlib.compress(json.dumps([tokenizer.core.to_str(), seen]).encode("utf-8"), 1)


def unpack_tokenizer(content: bytes) -> Tokenizer:
    """A tokenizer from what `pack_tokenizer` made."""
    core, seen = json.loads(zlib.decompress(content))
    held = json.loads(seen) if seen else None
    known = None if held is None else Seen(frozenset(held["words"]), frozenset(held["pieces"]))
    return Tokenizer(library.Tokenizer.from_str(core), known)


def pack_examples(examples: Sequence[Any]) -> bytes:
    """Stories in tokens, of one kind, as a few long arrays of small numbers."""
    kind = type(examples[0])
    parts = [part for one in examples for part in (one.source, one.target)] if kind is TranslationExample else list(examples)
    fields = ["ids", "words", "sentences", *(["forms"] if kind is CharExample else [])]
    arrays = {name: _small(np.concatenate([getattr(part, name) for part in parts])) for name in fields}
    arrays["lengths"] = np.array([len(part.ids) for part in parts])
    if kind is CharExample:
        arrays["letters"] = examples[0].letters
    held = io.BytesIO()
    np.savez(held, kind=np.array(kind.__name__), **arrays)  # type: ignore[arg-type]
    return held.getvalue()


def unpack_examples(content: bytes) -> list[Any]:
    """Stories in tokens from what `pack_examples` made."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        held = dict(file)
    ends = np.cumsum(held.pop("lengths"))
    kind, letters = str(held.pop("kind")), held.pop("letters", None)
    names = [name for name in ("ids", "words", "sentences", "forms") if name in held]
    long = [held[name].astype(np.int64) for name in names]
    rows = [[array[begin:end] for array in long] for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]
    if letters is not None:
        return [CharExample(*row[:3], row[3], letters) for row in rows]
    made = [Example(*row) for row in rows]
    if kind == TranslationExample.__name__:
        return [TranslationExample(*pair) for pair in zip(made[::2], made[1::2], strict=True)]
    return made


def _small(numbers: np.ndarray) -> np.ndarray:
    """The same whole numbers in as few bytes as hold them all."""
    wide = np.promote_types(np.min_scalar_type(numbers.min(initial=0)), np.min_scalar_type(numbers.max(initial=0)))
    return numbers.astype(wide)
