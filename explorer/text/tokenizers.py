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
SPACELESS = frozenset("。！？")
SHORT = frozenset(("mr", "mrs", "ms", "dr", "st"))
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
            sentences=sentence_numbers(texts, flags, self._breaks(coded.ids), spaced(sources, coded.offsets)),
            segments=tuple(coded.type_ids),
            offsets=tuple(coded.offsets),
            special=flags,
            unseen=self._unseen(coded.ids, words, spans(words, sources, coded.offsets)),
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
            sentences=sentence_numbers(
                texts, flags, self._breaks(numbers), [not set(t.strip("·")) <= ENDING | CLOSING for t in texts]
            ),
            segments=(0,) * len(numbers),
            offsets=nowhere,
            special=flags,
            unseen=self._unseen(numbers, words, joined(words, plain)),
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
        if not isinstance(ids, Iterable):
            raise TextError(f"decode takes a list of ids; this is {type(ids).__name__}.")
        return self.core.decode(check_ids(list(ids), self.vocabulary.size), skip_special_tokens=not special)

    def save(self, path: str | Path) -> Path:
        """Write tokenizer.json, which the `tokenizers` and `transformers` libraries read as it is."""
        try:
            self.core.save(str(path))
        except Exception as error:  # the library raises plain Exception
            raise FileError(f"Could not write {path} ({error}). Choose a folder that exists and has space.") from error
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

    def _breaks(self, ids: Sequence[int]) -> list[bool]:
        """Which pieces stand between two texts: separators and the ends of documents, not a mask."""
        v = self.vocabulary
        return [i in (v.sep, v.begin, v.end) for i in ids]

    def _unseen(self, ids: Sequence[int], words: Sequence[int], whole: dict[int, str]) -> tuple[bool, ...] | None:
        """Which pieces, or the words that they belong to (`whole` holds them by number), were never met in training."""
        if self.seen is None:
            return None
        strange = {w for w, text in whole.items() if self.word_of(text) not in self.seen.words}
        return tuple(w >= 0 and (w in strange or i not in self.seen.pieces) for i, w in zip(ids, words, strict=True))


def spans(words: Sequence[int], sources: Sequence[str], offsets: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Each word by its number, cut from its text from its first letter to its last (a letter may be several pieces)."""
    found: dict[int, tuple[str, int, int]] = {}
    for word, source, (start, end) in zip(words, sources, offsets, strict=True):
        _, first, last = found.get(word, (source, start, end))
        found[word] = source, min(first, start), max(last, end)
    return {word: source[first:last] for word, (source, first, last) in found.items()}


def joined(words: Sequence[int], pieces: Sequence[str]) -> dict[int, str]:
    """Each word by its number, put together from its pieces, where there is no text behind them."""
    found: dict[int, str] = {}
    for word, piece in zip(words, pieces, strict=True):
        found[word] = found.get(word, "") + piece
    return found


def spaced(sources: Sequence[str], offsets: Sequence[tuple[int, int]]) -> list[bool]:
    """Whether a piece stands at the beginning of its text or after a space (which may be part of it)."""
    return [
        a == 0 or source[a - 1 : a].isspace() or source[a:b][:1].isspace()
        for source, (a, b) in zip(sources, offsets, strict=True)
    ]


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


def sentence_numbers(
    texts: Sequence[str], special: Sequence[bool], breaks: Sequence[bool], free: Sequence[bool]
) -> tuple[int, ...]:
    """The sentence each piece belongs to; −1 for special pieces.

    A new one begins after a separator, or after a full stop where a space follows (`free` says which pieces stand after
    one); closing quotes stay with the old one. Scripts that write no space begin after their own full stop.
    """
    numbers: list[int] = []
    current, started, stopped, forced, last = 0, False, False, False, ""
    for text, flag, separates, after_space in zip(texts, special, breaks, free, strict=True):
        letters = set(text.strip("·"))
        mark = bool(letters) and letters <= ENDING | CLOSING
        if flag:
            forced = forced or (separates and started)
            numbers.append(-1)
            continue
        if forced or (stopped and not (mark and not after_space)):
            current += int(forced or after_space)
            stopped = forced = False
        started = True
        if mark and letters & ENDING and last not in SHORT:
            stopped, forced = True, bool(letters & SPACELESS)
        bare = text.strip("·#").lower()
        last = bare if after_space else last + bare  # the word so far
        numbers.append(current)
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
