"""A corpus as numbers on disk: its tokens, and where sentences and documents begin.

Preparing takes little memory however large the source is, and resumes where it stopped: the result is the same, byte for byte.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from explorer.errors import FileError, TextError
from explorer.errors.kinds import checked
from explorer.errors.targets import check_folder
from explorer.errors.waiting import waiting
from explorer.records import Prepared
from explorer.records.replacing import forget_parts, write_whole
from explorer.text.corpora import documents_of, parts
from explorer.text.opening import AnyTokenizer, as_tokenizer
from explorer.text.sentences import CLOSING, ENDING, SHORT, SPACELESS
from explorer.text.stretches import CorpusPart, Layout, Stretch
from explorer.text.tokenizers import Tokenizer

PIECES, SENTENCES, DOCUMENTS, WORDS = "ids.bin", "sentences.bin", "documents.bin", "words.bin"
TOKENIZER, HELD = "tokenizer.json", "held.json"
SHARE, MOST = 0.02, 64  # the last texts are held out, and so many of them are kept as they are written
INSIDE, BEGINS, NO_WORD = 0, 1, 2  # a token goes on with the word before it, begins one, or is part of none
CARD, POINT = "corpus.json", "unfinished.json"
BATCH, MOST_TOGETHER = 1 << 20, 1 << 16  # letters, and texts, that are cut into tokens at once
EVERY = 2.0  # seconds between two resume points
ENDS = "".join(re.escape(mark) for mark in sorted(ENDING))
AFTER = "".join(re.escape(mark) for mark in sorted(ENDING | CLOSING))
STOP = re.compile(rf"([{ENDS}][{AFTER}]*)(\s*)")


@dataclass
class Point:
    """The state of a preparation: the offset in the source, and how many numbers are safely written."""

    part: int = 0
    place: int = 0
    tokens: int = 0
    sentences: int = 0
    documents: int = 0
    inside: bool = False  # in the middle of a document
    unfinished: bool = False  # in the middle of a sentence of it


class PreparedCorpus:
    """A prepared corpus, read from disk as it is needed: `ids`, and where `sentences` and `documents` begin among them.

    `words` says of each token whether it begins a word, goes on with one, or is part of none.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self._read(read_card(self.folder))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FileError(
                f"The card of {folder} is damaged ({error!r}). Delete the folder and prepare the corpus again."
            ) from error

    def _read(self, card: dict[str, Any]) -> None:
        """Open what the card describes."""
        self.source = str(card["source"])
        kinds = ((PIECES, card["dtype"], "tokens"), (SENTENCES, "int64", "sentences"), (DOCUMENTS, "int64", "documents"))
        self.ids, self.sentences, self.documents = (self._open(name, kind, card[count]) for name, kind, count in kinds)
        self.words = self._open(WORDS, "uint8", card["tokens"]) if (self.folder / WORDS).is_file() else None
        self.fingerprint = str(card["identity"]["tokenizer"])

    def __len__(self) -> int:
        return len(self.documents)

    def document(self, number: int) -> np.ndarray:
        """The tokens of one document."""
        if not 0 <= number < len(self):
            raise FileError(f"There is no document {number}: this corpus has the documents 0 to {len(self) - 1}.")
        end = self.documents[number + 1] if number + 1 < len(self) else len(self.ids)
        return self.ids[self.documents[number] : end]

    def _open(self, name: str, kind: str, count: int) -> np.ndarray:
        path = self.folder / name
        if not path.is_file() or path.stat().st_size != count * np.dtype(kind).itemsize:
            raise FileError(f"{path} is missing or not whole. Delete {self.folder} and prepare the corpus again.")
        return np.memmap(path, dtype=kind, mode="r", shape=(count,)) if count else np.zeros(0, kind)


@checked
def corpus(
    source: str | Path,
    tokenizer: AnyTokenizer,
    folder: str | Path,
    *,
    field: str = "text",
    document: str = "blank line",
    encoding: str = "utf-8",
) -> PreparedCorpus:
    """Prepare a source (or find it prepared) and open it.

    A source is a file (text, JSON lines, CSV, Parquet, each packed with gzip or not), a folder of them, or `hub:name`. `field` is the
    field or column with the texts; a document of a text file ends with a "blank line", with each "line", or with the "file"; `encoding`
    is that of the files.
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> (folder / "mine.txt").write_text("A dog ran.\\n\\nIt was red.", "utf-8")
    23
    >>> len(ex.text.corpus(folder / "mine.txt", ex.load("bert").tokenizer, folder / "ready"))
    2
    """
    with waiting("Preparing the corpus, in MB") as line:
        for progress in prepare(source, as_tokenizer(tokenizer), folder, Layout(field, document, encoding)):
            line.done, line.total = progress.done_bytes // 1_000_000, progress.total_bytes // 1_000_000
            line.say()
    return PreparedCorpus(folder)


def prepare(source: str | Path, tokenizer: Tokenizer, folder: str | Path, layout: Layout | None = None) -> Iterator[Prepared]:
    """Cut a source into tokens and write them into `folder`, one record for each stretch of work.

    `source` is a file, a folder of files, or `hub:name`. Stop whenever you like: the next call goes on there.
    """
    sources, folder = parts(source, layout), Path(folder)
    identity = {"source": [[part.name, part.size, part.mark()] for part in sources], "tokenizer": fingerprint(tokenizer)}
    total = sum(part.size for part in sources)
    if (folder / CARD).is_file():
        check_same(read_card(folder)["identity"], identity, folder)
        card = read_card(folder)
        yield Prepared(total, total, card["tokens"], card["documents"])
        return
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield from TokenWriter(sources, tokenizer, folder, identity).run(str(source), total)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FileError(
                f"There is no space left in {folder}. Make room and prepare again: it goes on where it stopped."
            ) from error
        raise FileError(
            f"Could not write into {folder}: {error.strerror or error}. Choose a folder that you may write."
        ) from error


class TokenWriter:
    """Writes tokens and boundaries, and now and then, safely, how far it is."""

    def __init__(self, sources: Sequence[CorpusPart], tokenizer: Tokenizer, folder: Path, identity: dict[str, Any]) -> None:
        self.parts, self.tokenizer, self.folder, self.identity = sources, tokenizer, folder, identity
        self.special = np.array(sorted(tokenizer.special), np.int64)
        self.dtype = np.dtype("uint16" if tokenizer.vocabulary.size <= 1 << 16 else "uint32")
        self.point = self._resume()
        point = self.point
        sizes = (self.dtype.itemsize * point.tokens, 8 * point.sentences, 8 * point.documents, point.tokens)
        paths = [folder / name for name in FILES]
        if any(path.stat().st_size < size for path, size in zip(paths, sizes, strict=True)):
            raise FileError(f"The unfinished corpus in {folder} is not whole. Delete {folder} and prepare it again.")
        self.files = [path.open("r+b") for path in paths]
        for file, size in zip(self.files, sizes, strict=True):
            file.truncate(size)
            file.seek(size)

    def run(self, source: str, total: int) -> Iterator[Prepared]:
        """Everything from the resume point on."""
        try:
            saved = time.monotonic()
            for number in range(self.point.part, len(self.parts)):
                self.point.part = number
                before = sum(part.size for part in self.parts[:number])
                for batch in letter_groups(self.parts[number].stretches(self.point.place)):
                    self._write(batch)
                    if time.monotonic() - saved > EVERY:
                        self._save()
                        saved = time.monotonic()
                    read = batch[-1].read or self.point.place
                    yield Prepared(before + read, total, self.point.tokens, self.point.documents)
                self.point.part, self.point.place = number + 1, 0  # so that a kill before the card is written repeats nothing
            self._finish(source)
        finally:
            for file in self.files:
                file.close()

    def _write(self, batch: Sequence[Stretch]) -> None:
        """Cut some stretches into tokens and append them."""
        coded = self.tokenizer.plain([stretch.text for stretch in batch])
        point = self.point
        tokens, sentences, documents, words = [], [], [], []
        for stretch, cut in zip(batch, coded, strict=True):
            if cut.ids:
                if not point.inside:
                    documents.append(point.tokens)
                tokens.append(np.array(cut.ids, dtype=self.dtype))
                words.append(word_marks(cut.word_ids, tokens[-1], self.special))
                starts_inside = sentence_starts(stretch.text, [end for _, end in cut.offsets])
                if (words[-1] == NO_WORD).any():  # a text that writes out special tokens: they are in no sentence
                    starts_inside = self._around_special(stretch.text, starts_inside)
                starts = (
                    point.tokens
                    + starts_inside[int(point.inside and point.unfinished) : np.searchsorted(starts_inside, len(cut.ids))]
                )
                sentences.append(starts)
                point.unfinished = int(starts_inside[-1]) < len(cut.ids)
                point.tokens, point.sentences = point.tokens + len(cut.ids), point.sentences + len(starts)
            point.inside = (point.inside or bool(cut.ids)) and not stretch.ends
            point.place = stretch.next
        point.documents += len(documents)
        for file, arrays in zip(self.files, (tokens, sentences, [np.array(documents, np.int64)], words), strict=True):
            file.write(b"".join(array.tobytes() for array in arrays))

    def _around_special(self, text: str, plain_starts: np.ndarray) -> np.ndarray:
        """Where sentences begin in a text with special tokens, as the tokenizer numbers them."""
        numbers = np.array(self.tokenizer.encode(text, special=False).sentences)
        real = np.flatnonzero(numbers >= 0)
        starts = real[np.diff(numbers[real], prepend=-1) > 0]
        return np.append(starts, plain_starts[plain_starts >= len(numbers)]) if len(starts) else plain_starts

    def _keep_held(self) -> None:
        """The texts that a run is measured on, as they are written, and the tokenizer that cut all of them."""
        many = max(1, round(SHARE * self.point.documents)) if self.point.documents > 1 else 0
        first = self.point.documents - many
        texts = islice(documents_of(self.parts), first, first + min(many, MOST)) if many else ()
        write_whole(self.folder / HELD, json.dumps({"first": first, "texts": list(texts)}, ensure_ascii=False), lasting=True)
        self.tokenizer.save(self.folder / TOKENIZER)

    def _save(self) -> None:
        for file in self.files:
            file.flush()
            os.fsync(file.fileno())
        write_whole(
            self.folder / POINT,
            json.dumps({"identity": self.identity, "point": asdict(self.point)}, ensure_ascii=False),
            lasting=True,
        )

    def _finish(self, source: str) -> None:
        if not self.point.tokens:
            raise TextError(f"{source} holds no text, only spaces and line ends.")
        self._save()
        self._keep_held()
        counts = {name: getattr(self.point, name) for name in ("tokens", "sentences", "documents")}
        card = {"source": source, "dtype": self.dtype.name, **counts, "identity": self.identity}
        write_whole(self.folder / CARD, json.dumps(card, ensure_ascii=False), lasting=True)
        forget_parts(self.folder)
        (self.folder / POINT).unlink()

    def _resume(self) -> Point:
        """The last safe point, or the beginning."""
        for name in FILES:
            (self.folder / name).touch()
        if not (self.folder / POINT).is_file():
            return Point()
        saved = json.loads((self.folder / POINT).read_text("utf-8"))
        check_same(saved["identity"], self.identity, self.folder)
        return Point(**saved["point"])


def letter_groups(stretches: Iterator[Stretch]) -> Iterator[list[Stretch]]:
    """Stretches in groups of about a million letters; empty rows count, too."""
    group: list[Stretch] = []
    letters = 0
    for stretch in stretches:
        group.append(stretch)
        letters += len(stretch.text)
        if letters >= BATCH or len(group) >= MOST_TOGETHER:
            yield group
            group, letters = [], 0
    if group:
        yield group


def word_marks(words: Sequence[int | None], ids: np.ndarray, special: np.ndarray) -> np.ndarray:
    """For each token whether it begins a word, goes on with one, or is part of none, given the number of its word."""
    try:
        numbers = np.array(words, dtype=np.int64)
    except TypeError:  # None: a token that the library counts to no word
        numbers = np.array([-1 if word is None else word for word in words], dtype=np.int64)
    marks = np.full(len(numbers), BEGINS, np.uint8)
    marks[1:][numbers[1:] == numbers[:-1]] = INSIDE
    marks[np.isin(ids, special)] = NO_WORD
    return marks


FILES = (PIECES, SENTENCES, DOCUMENTS, WORDS)


def sentence_starts(text: str, ends: Sequence[int]) -> np.ndarray:
    """The numbers of the tokens that begin a sentence, given where each token ends in the text.

    Where the text ends with its sentence, the last number is that of the token which would come next.
    """
    places = [0]
    for stop in STOP.finditer(text):
        marks, space = stop.groups()
        word = re.split(r"\s", text[max(0, stop.start() - 4) : stop.start()])[-1]
        short = word.lower() in SHORT and sum(mark in ENDING for mark in marks) == 1
        if (space or set(marks) & SPACELESS) and not short:
            places.append(stop.end(1))  # the space goes with what follows
    numbers = np.searchsorted(np.asarray(ends), places, side="right")
    return np.unique(numbers).astype(np.int64)


def fingerprint(tokenizer: Tokenizer) -> str:
    """A short text that changes when the tokenizer does."""
    return hashlib.sha256(tokenizer.core.to_str().encode("utf-8")).hexdigest()


def check_same(recorded: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    """Refuse to mix two corpora in one folder."""
    for what in ("source", "tokenizer"):
        if recorded[what] != wanted[what]:
            raise FileError(f"{folder} holds a corpus with another {what}. Choose another folder, or delete this one.")


def read_card(folder: Path) -> dict[str, Any]:
    """What a prepared corpus says about itself."""
    try:
        return dict(json.loads((folder / CARD).read_text("utf-8")))
    except FileNotFoundError as error:
        raise FileError(
            f"There is no prepared corpus in {folder}. Prepare one with corpus(source, tokenizer, folder)."
        ) from error
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise FileError(f"{folder / CARD} cannot be read ({error}). Delete {folder} and prepare the corpus again.") from error
