"""Text to tokens and back.

A token is what a model reads: a whole word or a piece of one, a punctuation mark, or a special token such as [CLS]. This wraps the
`tokenizers` library and adds what a picture needs: readable tokens, the words they belong to, and what was never seen in training.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import count, islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers as library

from explorer.errors import ChoiceError, FileError, TextError, check_whole
from explorer.errors.kinds import called, checked
from explorer.errors.targets import file_to_write
from explorer.records import Tokens, Vocabulary
from explorer.records.replacing import write_whole
from explorer.text.letters import letters
from explorer.text.readable import raw_bytes, spelled
from explorer.text.sentences import CLOSING, ENDING, begins_word, sentence_numbers
from explorer.text.tokenizer_limits import check_file, panics

LAST_ID = 2**32 - 1  # the library counts no further
MOST = 10_000_000  # tokens that are put together as one text
MOST_DIGITS = 1 << 18  # of a list of tokens that were seen, hexadecimal: a bit for each of a million
NAMES = {
    "mask": ("[MASK]", "<mask>"),
    "pad": ("[PAD]", "<pad>", "<PAD>"),
    "cls": ("[CLS]", "<s>"),
    "sep": ("[SEP]", "</s>"),
    "begin": ("<|endoftext|>", "<s>", "<S>"),
    "end": ("<|endoftext|>", "</s>", "</S>"),
    "unknown": ("[UNK]", "<unk>", "<UNK>"),
}
AS_ELMO = "<S>"  # a tokenizer with this token also gives the letters of each word


@dataclass(frozen=True)
class Seen:
    """What a model saw in training: whole words, and ids of tokens."""

    words: frozenset[str]
    pieces: frozenset[int]

    def text(self) -> str:
        """Both as JSON: the words in a line, unless one of them holds a space, and a bit for each id, as hexadecimal digits."""
        words = sorted(self.words)
        line = " ".join(words)
        ids = np.packbits(np.isin(np.arange(max(self.pieces, default=-1) + 1), [*self.pieces])).tobytes().hex()
        return json.dumps({"words": line if line.split(" ") == words else words, "pieces": ids}, ensure_ascii=False)

    def save(self, path: Path) -> None:
        """Write both as JSON."""
        write_whole(path, self.text())

    @classmethod
    def read(cls, path: Path) -> Seen:
        """Read what `save` wrote."""
        return cls.of(path.read_text("utf-8"))

    @classmethod
    def of(cls, text: str) -> Seen:
        """From what `text` made, or an earlier version, which wrote two lists.

        >>> Seen.of(Seen(frozenset({"a", "dog"}), frozenset({1, 5})).text()).pieces == {1, 5}
        True
        """
        both = json.loads(text)
        words, ids = both["words"], both["pieces"]
        if isinstance(ids, str):
            if len(ids) > MOST_DIGITS:
                raise ValueError("it lists more tokens than a tokenizer has")
            ids = np.unpackbits(np.frombuffer(bytes.fromhex(ids), np.uint8)).nonzero()[0].tolist()
        return cls(frozenset(words.split(" ") if isinstance(words, str) else words), frozenset(ids))

    def spelled_like(self, word: str, most: int = 3, likeness: float = 0.75) -> list[str]:
        """Words of the training texts that are spelled much like this one, the most similar first.

        >>> Seen(frozenset({"ball", "wall", "street"}), frozenset()).spelled_like("balls")
        ['ball']
        """
        known = sorted(other for other in self.words if other.isalpha() and len(other) > 1 and other != word)
        return get_close_matches(word, known, most, likeness)


@called("a tokenizer, for example ex.load('bert').tokenizer")
class Tokenizer:
    """Turns text into `Tokens` and ids into text."""

    def __init__(self, core: library.Tokenizer, seen: Seen | None = None, special: Mapping[str, int] | None = None) -> None:
        core.no_padding()
        core.no_truncation()
        self.core, self.seen, self._named = core, seen, dict(special or {})
        ids: dict[str, Any] = {part: _first_known(core, names) for part, names in NAMES.items()} | self._named
        self.vocabulary = Vocabulary(core.get_vocab_size(), **ids, sentinels=_sentinels(core))
        added = {i for i, piece in core.get_added_tokens_decoder().items() if piece.special}
        self._special = (added | set(self.vocabulary.special)) - {self.vocabulary.unknown}
        self.style = _style(core)
        self.bytes = self.style == "bytes"
        self._texts: dict[int, str] = {}  # of tokens that were asked for

    def __repr__(self) -> str:
        return f"Tokenizer({type(self.core.model).__name__}, {self.vocabulary.size:,} tokens)"

    def like(self, core: library.Tokenizer) -> Tokenizer:
        """Another one whose special tokens have the same meanings, and that knows the same training texts."""
        return Tokenizer(core, self.seen, self._named)

    @property
    def special(self) -> frozenset[int]:
        """The ids that are no part of a text: marks, padding, masks; not the unknown token."""
        return frozenset(self._special)

    def __call__(self, text: str, pair: str | None = None) -> Tokens:
        """The same as `encode`, for whoever knows the tokenizers of transformers, which are called."""
        return self.encode(text, pair)

    @checked
    def encode(self, text: str, pair: str | None = None, special: bool = True) -> Tokens:
        """The tokens of a text, or of two; with the special tokens of this tokenizer unless `special` is False.

        >>> ex.load("bert").tokenizer.encode("A dog ran.").texts[0]
        '[CLS]'
        """
        coded = self.coded(text, pair, special)
        if len(coded.tokens) != len(coded.ids):
            raise TextError(
                "The tokenizer adds marks that have more ids than texts: its post_processor is damaged. Write it again."
            )
        parts = [s if s is not None else 0 for s in coded.sequence_ids]
        flags = tuple(i in self._special for i in coded.ids)
        words = number_words([None if f else (p, w) for f, p, w in zip(flags, parts, coded.word_ids, strict=True)])
        sources = [(text, pair or "")[p] for p in parts]
        texts = tuple(self._readable(t, s[a:b]) for t, s, (a, b) in zip(coded.tokens, sources, coded.offsets, strict=True))
        return Tokens(
            ids=np.array(coded.ids, dtype=np.int64),
            texts=texts,
            words=words,
            sentences=sentence_numbers(texts, flags, self._breaks(coded.ids), begins_word(sources, coded.offsets)),
            segments=tuple(coded.type_ids),
            offsets=tuple(coded.offsets),
            special=flags,
            unseen=self._unseen(coded.ids, words, word_spans(words, sources, coded.offsets)),
            characters=self._letters(coded.ids, sources, coded.offsets),
        )

    def count(self, text: str) -> int:
        """How many tokens `encode` makes of a text, special tokens included."""
        return len(self.coded(text).ids)

    @checked
    def coded(self, text: str, pair: str | None = None, special: bool = True) -> library.Encoding:
        """A text, or two, as the library cuts them."""
        for given in (text, *(() if pair is None else (pair,))):
            check_text(given)
        with panics("read this text"):
            return self.core.encode(text, pair, add_special_tokens=special)

    @checked
    def plain(self, texts: Sequence[str]) -> list[library.Encoding]:
        """Many texts as the library cuts them, without special tokens."""
        with panics("read these texts"):
            return list(self.core.encode_batch(texts, add_special_tokens=False))

    def tokens(self, ids: Sequence[int]) -> Tokens:
        """Tokens for ids taken as they are. There is no text behind them, so offsets are all (0, 0)."""
        numbers = check_ids(ids, self.vocabulary.size)
        nowhere = ((0, 0),) * len(numbers)
        again = self.encode(self.decode(numbers, special=True), special=False)
        if again.ids.tolist() == numbers:  # the ids are what their own text is cut into
            return replace(again, offsets=nowhere)
        names = [self.core.id_to_token(i) or f"‹{i}›" for i in numbers]
        texts, flags = tuple(self._readable(p, "") for p in names), tuple(i in self._special for i in numbers)
        words = self._word_numbers(names, flags)
        plain = [self.written(piece) for piece in names]
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
            characters=self._letters(numbers, plain, [(0, len(text)) for text in plain]),
        )

    def _word_numbers(self, tokens: Sequence[str], flags: Sequence[bool]) -> tuple[int, ...]:
        """Words found from the tokens alone: one begins after a space, after a special token, or without ##."""
        numbers, current, after = [], -1, True
        first = {"bytes": "Ġ", "spaces": "▁"}.get(self.style, "")
        for piece, flag in zip(tokens, flags, strict=True):
            begins = piece.startswith(first) and not (self.style == "inside" and piece.startswith("##"))
            current += int(not flag and (begins or after))
            numbers.append(-1 if flag else current)
            after = flag
        return tuple(numbers)

    @checked
    def decode(self, ids: Iterable[int] | Tokens, special: bool = False) -> str:
        """The text of these ids or tokens, without special tokens unless asked for.

        >>> tokenizer = ex.load("gpt2").tokenizer
        >>> tokenizer.decode(tokenizer.encode("A dog ran.").ids)
        'A dog ran.'
        """
        numbers = check_ids(ids.ids.tolist() if isinstance(ids, Tokens) else ids, self.vocabulary.size)
        with panics("write these ids"):
            return self.core.decode(numbers, skip_special_tokens=not special)

    @checked
    def save(self, path: str | Path) -> Path:
        """Write tokenizer.json, which the `tokenizers` and `transformers` libraries read as it is. The folder is made if need be.

        >>> import tempfile
        >>> ex.load("gpt2").tokenizer.save(tempfile.mkdtemp() + "/tokenizer.json").name
        'tokenizer.json'
        """
        place = file_to_write(path, "tokenizer.json")
        try:
            write_whole(place, self.core.to_str(pretty=False))  # half as long as with line breaks
        except OSError as error:
            raise FileError(f"Could not write {place} ({error.strerror}). Choose a folder that has space.") from error
        return place

    @checked
    def word_of(self, text: str) -> str:
        """A word as it is counted: without the space before it, and normalised as this tokenizer does."""
        with panics("read this text"):
            return as_counted(text, self.core.normalizer)

    def text_of(self, index: int) -> str:
        """One token of the vocabulary, readable."""
        number = index if type(index) is int else check_whole("index", index, 0, LAST_ID)
        text = self._texts.get(number)
        if text is None:
            check_whole("index", number, 0, LAST_ID)
            text = self._texts[number] = self._readable(self.core.id_to_token(number) or f"‹{number}›", "")
        return text

    def written(self, piece: str) -> str:
        """A token or a word of the vocabulary as it is written in a text, with the space before it where it holds one."""
        if self.core.token_to_id(piece) in self._special:
            return piece
        if self.bytes:
            return raw_bytes(piece).decode("utf-8", "replace")
        return (
            piece.replace("▁", " ") if self.style == "spaces" else piece.removeprefix("##") if self.style == "inside" else piece
        )

    def _readable(self, piece: str, source: str) -> str:
        if self.core.token_to_id(piece) in self._special:
            return piece
        return spelled(piece, source) if self.bytes else piece.replace("▁", "·") if self.style == "spaces" else piece

    def _letters(self, ids: Sequence[int], sources: Sequence[str], offsets: Sequence[tuple[int, int]]) -> np.ndarray | None:
        """The letters of each word as ELMo reads them, where this is a tokenizer for ELMo."""
        if self.core.token_to_id(AS_ELMO) is None:
            return None
        cut = [source[a:b] for source, (a, b) in zip(sources, offsets, strict=True)]
        special = {i: self.core.id_to_token(i) or "" for i in self._special}
        return letters([special.get(i, word) for i, word in zip(ids, cut, strict=True)])

    def _breaks(self, ids: Sequence[int]) -> list[bool]:
        """Which tokens separate two texts: separators and the ends of documents, not a mask."""
        v = self.vocabulary
        return [i in (v.sep, v.begin, v.end) for i in ids]

    def _unseen(self, ids: Sequence[int], words: Sequence[int], whole: dict[int, str]) -> tuple[bool, ...] | None:
        """Which tokens, or the words that they belong to (`whole` holds them by number), were never seen in training."""
        if self.seen is None:
            return None
        normalizer = self.core.normalizer  # asked for once: of a batch of texts, most of the time goes into their words
        with panics("read this text"):
            strange = {w for w, text in whole.items() if (word := as_counted(text, normalizer)) and word not in self.seen.words}
        return tuple(w >= 0 and (w in strange or i not in self.seen.pieces) for i, w in zip(ids, words, strict=True))


def as_counted(text: str, normalizer: Any) -> str:
    """A word without the space before it, normalised as a tokenizer does that has this normalizer."""
    return str(normalizer.normalize_str(text) if normalizer else text).strip()


def word_spans(words: Sequence[int], sources: Sequence[str], offsets: Sequence[tuple[int, int]]) -> dict[int, str]:
    """Each word by its number, cut from its text from its first letter to its last (a letter may be several tokens)."""
    spans: dict[int, tuple[str, int, int]] = {}
    for word, source, (start, end) in zip(words, sources, offsets, strict=True):
        _, first, last = spans.get(word, (source, start, end))
        spans[word] = source, min(first, start), max(last, end)
    return {word: source[first:last] for word, (source, first, last) in spans.items()}


def joined(words: Sequence[int], tokens: Sequence[str]) -> dict[int, str]:
    """Each word by its number, put together from its tokens, where there is no text behind them."""
    by_word: dict[int, str] = {}
    for word, piece in zip(words, tokens, strict=True):
        by_word[word] = by_word.get(word, "") + piece
    return by_word


def tokenizer_in(path: str | Path, seen: Seen | None = None) -> Tokenizer:
    """The tokenizer in a tokenizer.json."""
    if not Path(path).is_file():
        raise FileError(f"There is no tokenizer at {path}. A model folder needs a tokenizer.json beside its weights.")
    check_file(Path(path))
    try:
        with panics("be opened"):
            return Tokenizer(library.Tokenizer.from_file(str(path)), seen)
    except Exception as error:  # the library raises plain Exception
        raise FileError(f"{path} is not a tokenizer.json that can be read ({error}).") from error


def parse(text: str, special: Mapping[str, int] | None = None) -> Tokenizer:
    """The tokenizer that the text of a tokenizer.json describes; `special` says which ids stand for what, where that is known."""
    with panics("be opened"):
        return Tokenizer(library.Tokenizer.from_str(text), special=special)


def check_text(text: object) -> str:
    """The text, if it is one that can be encoded."""
    if not isinstance(text, str):
        raise TextError(f"A text must be a string; this is {type(text).__name__}.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TextError(f"The text holds half a character at position {error.start} (a lone surrogate). Remove it.") from error
    return text


def check_ids(ids: Iterable[int], size: int) -> list[int]:
    """The ids as numbers, if every one is in the vocabulary; the first that is not ends the reading."""
    numbers: list[int] = []
    try:
        for number in map(operator.index, islice(ids, MOST + 1)):
            if not 0 <= number < size:
                raise ChoiceError(f"There is no token {number}: this vocabulary has the ids 0 to {size - 1}.")
            numbers.append(number)
    except TypeError as error:
        raise TextError("Ids must be whole numbers, for example [101, 7592, 102].") from error
    if len(numbers) > MOST:
        raise TextError(f"These are more than {MOST:,} ids. Give those of one text.")
    return numbers


def number_words(marks: Sequence[object]) -> tuple[int, ...]:
    """Words counted from 0 in the order of the text, given one mark for each token: the same mark is the same word, None is none."""
    order: dict[object, int] = {}
    return tuple(-1 if mark is None else order.setdefault(mark, len(order)) for mark in marks)


def _first_known(core: library.Tokenizer, names: Sequence[str]) -> int | None:
    return next((i for name in names if (i := core.token_to_id(name)) is not None), None)


def _sentinels(core: library.Tokenizer) -> tuple[int, ...]:
    """The ids of <extra_id_0>, <extra_id_1>, … as far as they go."""
    ids = (core.token_to_id(f"<extra_id_{number}>") for number in count())
    return tuple(takewhile(lambda i: i is not None, ids))  # type: ignore[arg-type]


def _style(core: library.Tokenizer) -> str:
    """How tokens are written: as bytes, with ▁ for the space before a word, with ## inside a word, or as whole words."""
    description: dict[str, Any] = json.loads(core.to_str())
    around = json.dumps([description.get(part) for part in ("normalizer", "pre_tokenizer", "decoder")], ensure_ascii=False)
    if '"ByteLevel"' in around:
        return "bytes"
    if "▁" in around:  # Metaspace, or a normalizer that writes it
        return "spaces"
    return "inside" if description["model"]["type"] == "WordPiece" else "whole"
