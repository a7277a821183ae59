"""Text to pieces and back.

Over the `tokenizers` library, with what a picture needs: readable pieces, words, and what was never met in training.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers as library

from explorer.errors import ChoiceError, FileError, TextError
from explorer.records import Tokens, Vocabulary

NAMES = {
    "mask": ("[MASK]", "<mask>"),
    "pad": ("[PAD]", "<pad>"),
    "cls": ("[CLS]", "<s>"),
    "sep": ("[SEP]", "</s>"),
    "begin": ("<|endoftext|>", "<s>"),
    "end": ("<|endoftext|>", "</s>"),
    "unknown": ("[UNK]", "<unk>"),
}
ENDING = frozenset(".!?。！？؟")
CLOSING = frozenset("\"')]»”’")


@dataclass(frozen=True)
class Seen:
    """What a model met in training: whole words, and ids of pieces."""

    words: frozenset[str]
    pieces: frozenset[int]

    def save(self, path: Path) -> None:
        """Write both lists as JSON."""
        path.write_text(json.dumps({"words": sorted(self.words), "pieces": sorted(self.pieces)}, ensure_ascii=False), "utf-8")

    @classmethod
    def read(cls, path: Path) -> Seen:
        """Read what `save` wrote."""
        held = json.loads(path.read_text("utf-8"))
        return cls(frozenset(held["words"]), frozenset(held["pieces"]))


class Tokenizer:
    """Turns text into `Tokens` and ids into text."""

    def __init__(self, core: library.Tokenizer, seen: Seen | None = None) -> None:
        core.no_padding()
        core.no_truncation()
        self.core, self.seen = core, seen
        ids: dict[str, Any] = {part: _first_known(core, names) for part, names in NAMES.items()}
        self.vocabulary = Vocabulary(core.get_vocab_size(), **ids)
        self._special = {i for i in self.vocabulary.special if i != self.vocabulary.unknown}
        self.bytes = _is_byte_level(core)

    def encode(self, text: str, pair: str | None = None, special: bool = True) -> Tokens:
        """The pieces of a text, or of two; with the special pieces of this tokenizer unless `special` is False."""
        for given in (text, *(() if pair is None else (pair,))):
            check_text(given)
        coded = self.core.encode(text, pair, add_special_tokens=special)
        parts = [s if s is not None else 0 for s in coded.sequence_ids]
        flags = tuple(i in self._special for i in coded.ids)
        words = number_words([None if f else (p, w) for f, p, w in zip(flags, parts, coded.word_ids, strict=True)])
        sources = [(text, pair or "")[p] for p in parts]
        texts = tuple(self._readable(t, s[a:b]) for t, s, (a, b) in zip(coded.tokens, sources, coded.offsets, strict=True))
        return Tokens(
            ids=np.array(coded.ids, dtype=np.int64),
            texts=texts,
            words=words,
            sentences=sentence_numbers(texts, flags),
            segments=tuple(coded.type_ids),
            offsets=tuple(coded.offsets),
            special=flags,
            unseen=self._unseen(coded.ids, words, flags, [s[a:b] for s, (a, b) in zip(sources, coded.offsets, strict=True)]),
        )

    def tokens(self, ids: Sequence[int]) -> Tokens:
        """Tokens for ids taken as they are. There is no text behind them, so offsets are all (0, 0)."""
        numbers = check_ids(ids, self.vocabulary.size)
        nowhere = ((0, 0),) * len(numbers)
        again = self.encode(self.core.decode(numbers, skip_special_tokens=False), special=False)
        if again.ids.tolist() == numbers:  # the ids are what their own text is cut into
            return replace(again, offsets=nowhere)
        pieces = [self.core.id_to_token(i) or f"‹{i}›" for i in numbers]
        texts, flags = tuple(self._readable(p, "") for p in pieces), tuple(i in self._special for i in numbers)
        words = self._word_numbers(pieces, flags)
        plain = [t.replace("·", " ") if self.bytes else p.removeprefix("##") for p, t in zip(pieces, texts, strict=True)]
        return Tokens(
            ids=np.array(numbers, dtype=np.int64),
            texts=texts,
            words=words,
            sentences=sentence_numbers(texts, flags),
            segments=(0,) * len(numbers),
            offsets=nowhere,
            special=flags,
            unseen=self._unseen(numbers, words, flags, plain),
        )

    def _word_numbers(self, pieces: Sequence[str], flags: Sequence[bool]) -> tuple[int, ...]:
        """Words told by their pieces alone: one begins after a space, after a special piece, or without ##."""
        numbers, current, after = [], -1, True
        for piece, flag in zip(pieces, flags, strict=True):
            begins = piece[:1] == "Ġ" if self.bytes else not piece.startswith("##")
            current += int(not flag and (begins or after))
            numbers.append(-1 if flag else current)
            after = flag
        return tuple(numbers)

    def decode(self, ids: Iterable[int], special: bool = False) -> str:
        """The text of these ids, without special pieces unless asked for."""
        return self.core.decode(check_ids(list(ids), self.vocabulary.size), skip_special_tokens=not special)

    def save(self, path: str | Path) -> Path:
        """Write tokenizer.json, which the `tokenizers` and `transformers` libraries read as it is."""
        self.core.save(str(path))
        return Path(path)

    def word_of(self, text: str) -> str:
        """A word as it is counted: without the space before it, and normalised as this tokenizer does."""
        return (self.core.normalizer.normalize_str(text) if self.core.normalizer else text).strip()

    def text_of(self, index: int) -> str:
        """One piece of the vocabulary, readable."""
        return self._readable(self.core.id_to_token(int(index)) or f"‹{index}›", "")

    def _readable(self, piece: str, source: str) -> str:
        if not self.bytes or self.core.token_to_id(piece) in self._special:
            return piece
        raw = bytes(byte_of()[c] for c in piece if c in byte_of())
        try:
            return raw.decode("utf-8").replace(" ", "·").replace("\n", "⏎").replace("\x00", "␀")
        except UnicodeDecodeError:
            return f"{source.strip()}‹{raw.hex(' ')}›"

    def _unseen(
        self, ids: Sequence[int], words: Sequence[int], flags: Sequence[bool], spans: Sequence[str]
    ) -> tuple[bool, ...] | None:
        if self.seen is None:
            return None
        whole: dict[int, str] = {}
        for word, span in zip(words, spans, strict=True):
            whole[word] = whole.get(word, "") + span
        strange = {w for w, text in whole.items() if self.word_of(text) not in self.seen.words}
        return tuple(not f and (w in strange or i not in self.seen.pieces) for i, w, f in zip(ids, words, flags, strict=True))


def read(path: str | Path, seen: Seen | None = None) -> Tokenizer:
    """The tokenizer in a tokenizer.json."""
    if not Path(path).is_file():
        raise FileError(f"There is no tokenizer at {path}. A model folder needs a tokenizer.json beside its weights.")
    try:
        return Tokenizer(library.Tokenizer.from_file(str(path)), seen)
    except Exception as error:  # the library raises plain Exception
        raise FileError(f"{path} is not a tokenizer.json that can be read ({error}).") from error


def check_text(text: object) -> str:
    """The text, if it is one that can be encoded."""
    if not isinstance(text, str):
        raise TextError(f"A text must be a string; this is {type(text).__name__}.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(f"The text holds half a character at place {error.start} (a lone surrogate). Remove it.") from error
    return text


def check_ids(ids: Sequence[int], size: int) -> list[int]:
    """The ids as numbers, if every one is in the vocabulary."""
    try:
        numbers = [int(i.__index__()) for i in ids]
    except (AttributeError, TypeError) as error:
        raise TextError("Ids must be whole numbers, for example [101, 7592, 102].") from error
    wrong = next((i for i in numbers if not 0 <= i < size), None)
    if wrong is not None:
        raise ChoiceError(f"There is no piece {wrong}: this vocabulary has the ids 0 to {size - 1}.")
    return numbers


def number_words(marks: Sequence[object]) -> tuple[int, ...]:
    """Words counted from 0 in the order of the text, given one mark for each piece: the same mark is the same word, None is none."""
    order: dict[object, int] = {}
    return tuple(-1 if mark is None else order.setdefault(mark, len(order)) for mark in marks)


def sentence_numbers(texts: Sequence[str], special: Sequence[bool]) -> tuple[int, ...]:
    """The sentence each piece belongs to: a new one after a full stop (and its closing quotes) or a special piece; −1 for those."""
    numbers: list[int] = []
    current, started, ended = 0, False, False
    for text, flag in zip(texts, special, strict=True):
        letters = set(text.strip("·"))
        if flag:
            ended = ended or started
        elif ended and not letters <= ENDING | CLOSING:
            current, ended = current + 1, False
        started = started or not flag
        ended = ended or bool(letters & ENDING and letters <= ENDING | CLOSING)
        numbers.append(-1 if flag else current)
    return tuple(numbers)


@lru_cache
def byte_of() -> dict[str, int]:
    """The letter that byte-level tokenizers write for each of the 256 bytes, turned round."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [b for b in range(256) if b not in shown]
    return {chr(b): b for b in shown} | {chr(256 + n): b for n, b in enumerate(hidden)}


def _first_known(core: library.Tokenizer, names: Sequence[str]) -> int | None:
    return next((i for name in names if (i := core.token_to_id(name)) is not None), None)


def _is_byte_level(core: library.Tokenizer) -> bool:
    held: dict[str, Any] = json.loads(core.to_str())
    return '"ByteLevel"' in json.dumps([held.get("pre_tokenizer"), held.get("decoder")])
