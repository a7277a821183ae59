"""Where texts come from: a text file, a folder of text files, or a data set of the Hugging Face hub, through one interface.

A blank line ends a document, as in the files that BERT was trained from; so does the end of a file. A hub data set has one document a
row. Documents are read in stretches of at most 64 kB, so that a file of any size passes through.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from explorer.errors import FileError, MissingError, TextError

ENDINGS = (".txt", ".text", ".md")
STRETCH = 1 << 15
MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
HUB = "hub:"


@dataclass(frozen=True)
class Stretch:
    """Some text of one document, where the next stretch begins in its part, and whether the document ends here."""

    text: str
    next: int
    ends: bool


class CorpusPart(Protocol):
    """One file or data set of a source."""

    name: str
    size: int

    def mark(self) -> int:
        """A number that changes when the content does."""

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The text from this offset on."""


def documents(source: str | Path) -> Iterator[str]:
    """Every document of a source as one text, for example to learn a tokenizer from."""
    yield from documents_of(parts(source))


def documents_of(sources: Sequence[CorpusPart]) -> Iterator[str]:
    """Every document of these parts as one text."""
    for part in sources:
        stretches: list[str] = []
        for stretch in part.stretches(0):
            stretches.append(stretch.text)
            if stretch.ends:
                document = "".join(stretches)
                stretches = []
                if document.strip():
                    yield document


def parts(source: str | Path) -> list[CorpusPart]:
    """What a source is made of, in a fixed order: its files by name, or the data set that `hub:name` asks for."""
    if not isinstance(source, (str, Path)):
        raise FileError(f"A corpus is a path or hub:name; this is {type(source).__name__}.")
    if isinstance(source, str) and source.startswith(HUB):
        return [DataSet(source.removeprefix(HUB))]
    path = Path(source)
    if path.is_dir():
        texts = sorted(file for file in path.rglob("*") if file.suffix.lower() in ENDINGS and file.is_file())
        if not texts:
            raise FileError(f"There is no text file in {path}. Put files that end in {', '.join(ENDINGS)} there.")
        files: list[CorpusPart] = [TextFile(file, file.relative_to(path).as_posix()) for file in texts if file.stat().st_size]
    elif path.is_file():
        files = [TextFile(path, path.name)] if path.stat().st_size else []
    else:
        raise FileError(f"There is no file or folder {path}. A data set of the Hugging Face hub is written hub:name.")
    if not files:
        raise TextError(f"{path} is empty. Give a text to read.")
    return files


class TextFile:
    """A UTF-8 text file, read from any byte offset."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name, self.size = path, name, path.stat().st_size

    def mark(self) -> int:
        """A checksum of its size, its beginning and its end."""
        with self._open() as file:
            first = file.read(STRETCH)
            file.seek(max(0, self.size - STRETCH))
            return zlib.crc32(file.read(STRETCH), zlib.crc32(first, self.size))

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The text from this byte on: up to a blank line, or up to 64 kB."""
        with self._open() as file:
            self._check(file.read(1 << 13))
            file.seek(start)
            yield from self._read(file)

    def _open(self) -> BinaryIO:
        try:
            return self.path.open("rb")
        except OSError as error:
            raise FileError(f"Could not read {self.path}: {error.strerror}. Is it yours to read?") from error

    def _read(self, file: BinaryIO) -> Iterator[Stretch]:
        lines: list[bytes] = []
        length, begin = 0, file.tell()
        while line := file.readline(STRETCH):
            if len(line) == STRETCH and not line.endswith(b"\n"):
                line = line[: line_break(line)]
                file.seek(begin + length + len(line))
            lines.append(line)
            length += len(line)
            blank = not line.strip()
            if blank or length >= STRETCH:
                yield self._stretch(b"".join(lines), begin, blank)
                lines, length, begin = [], 0, begin + length
        yield self._stretch(b"".join(lines), begin, True)

    def _stretch(self, raw: bytes, begin: int, ends: bool) -> Stretch:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FileError(
                f"{self.path} is not UTF-8 text: byte {begin + error.start} is {raw[error.start]:#04x}. "
                "Save it again as UTF-8 (it may be Latin-1 or Windows-1252 now)."
            ) from error
        if "\0" in text:
            raise FileError(f"{self.path} is not a text file: it holds a zero byte. Take it out of the corpus.")
        text = text.replace("\r\n", "\n").removeprefix("\ufeff" if begin == 0 else "")
        return Stretch(text.rstrip() if ends else text, begin + len(raw), ends)

    def _check(self, first: bytes) -> None:
        if first[:2] in MARKS:
            raise FileError(f"{self.path} is written in {MARKS[first[:2]]}. Save it as UTF-8.")
        if b"\0" in first:
            raise FileError(f"{self.path} is not a text file: it holds a zero byte. Take it out of the corpus.")


def line_break(line: bytes) -> int:
    """Where a very long line may be cut: after its last space, or between two letters."""
    space = line.rfind(b" ") + 1
    if space > len(line) // 2:
        return space
    place = len(line)
    while line[place - 1] & 0xC0 == 0x80:  # the bytes after the first of a letter
        place -= 1
    return place - 1


class DataSet:
    """The texts of a hub data set, read as they arrive. `name` is owner/name or owner/name:configuration."""

    def __init__(self, name: str) -> None:
        self.name, self.size = f"{HUB}{name}", 0
        self.address, _, self.configuration = name.partition(":")

    def mark(self) -> int:
        """The name: the content is not known before it is read."""
        return zlib.crc32(self.name.encode("utf-8"))

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The rows from this one on, each a document."""
        for number, row in enumerate(self._rows().skip(start), start + 1):
            if not isinstance(row.get("text"), str):
                raise TextError(f"{self.name} has no column of texts called 'text', only: {', '.join(map(str, row))}.")
            yield Stretch(row["text"], number, True)

    def _rows(self) -> Any:
        try:
            import datasets
        except ImportError as error:
            raise MissingError(
                f"Reading {self.name} needs the library `datasets`, which is not installed: pip install datasets. "
                "Text files and folders need nothing."
            ) from error
        try:
            return datasets.load_dataset(self.address, self.configuration or None, split="train", streaming=True)
        except Exception as error:  # the library raises many kinds
            raise FileError(f"{self.name} could not be opened ({error}). Is the name right, and is there a network?") from error
