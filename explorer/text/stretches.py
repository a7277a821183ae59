"""What a corpus is read in: stretches of its documents; and how a text file is read so, packed with gzip or not.

A file is read in stretches of at most 64 kB, from any place on, so that one of any size passes through.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from explorer.errors import ChoiceError, FileError, repeated, unknown
from explorer.text.encodings import UTF8, known_encoding, not_utf8, recoded

STRETCH = 1 << 15  # bytes
MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
PACKED = ".gz"
MOST_TIMES, ANYWAY = 50, 1 << 22  # a file may unpack to so many times its bytes (a text: 3 to 10), and to so many bytes anyway


@dataclass(frozen=True)
class Layout:
    """How documents lie in files: the `field` (or column) of a row with the text, what divides the documents of a text file, and in which
    `encoding` both are written.
    """

    field: str = "text"
    document: str = "blank line"
    encoding: str = UTF8

    def __post_init__(self) -> None:
        if not isinstance(self.field, str) or not self.field:
            raise ChoiceError(f"field={repeated(self.field)} must be the name of a field or column, for example 'text'.")
        if not isinstance(self.document, str) or self.document not in DIVISIONS:
            raise unknown("way to divide a text file into documents:", self.document, DIVISIONS)
        object.__setattr__(self, "encoding", known_encoding(self.encoding))

    def unusual(self) -> dict[str, str]:
        """What differs from the usual layout."""
        return {name: value for name, value in vars(self).items() if value != getattr(Layout, name)}

    @property
    def mark(self) -> int:
        """A number that differs between layouts; 0 for the usual one."""
        return zlib.crc32(repr(self.unusual()).encode()) if self.unusual() else 0


@dataclass(frozen=True)
class Stretch:
    """Some text of one document, where the next stretch begins in its part, and whether the document ends here."""

    text: str
    next: int
    ends: bool
    read: int = 0  # bytes of the part up to here, where `next` does not count them


class CorpusPart(Protocol):
    """One file or data set of a source."""

    name: str
    size: int
    unit: str  # what divides its documents, in words

    def mark(self) -> int:
        """A number that changes when the content does."""

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The text from this offset on."""


class CorpusFile:
    """One file of a source: where it lies, how large it is, and how documents lie in it."""

    def __init__(self, path: Path, name: str, layout: Layout) -> None:
        self.path, self.name, self.size, self.layout = path, name, path.stat().st_size, layout

    def mark(self) -> int:
        """A checksum of its size, its beginning and its end."""
        with opened(self.path) as (file, _):
            first = file.read(STRETCH)
            file.seek(max(0, self.size - STRETCH))
            return self.layout.mark ^ zlib.crc32(file.read(STRETCH), zlib.crc32(first, self.size))


class TextFile(CorpusFile):
    """A text file, read from any byte of it in UTF-8."""

    def __init__(self, path: Path, name: str, layout: Layout) -> None:
        super().__init__(path, name, layout)
        self.unit, self.ends_with = DIVISIONS[layout.document]

    def stretches(self, start: int) -> Iterator[Stretch]:
        """The text from this byte on: up to the end of a document, or up to 64 kB."""
        with opened(self.path, self.layout.encoding) as (file, content):
            self._check(content.read(1 << 13))
            content.seek(start)
            yield from self._read(content, file)

    def _read(self, content: BinaryIO, file: BinaryIO) -> Iterator[Stretch]:
        lines: list[bytes] = []
        length, begin, rest, inside = 0, content.tell(), b"", True
        while line := rest + content.readline(STRETCH - len(rest)):
            rest = b""
            if len(line) == STRETCH and not line.endswith(b"\n"):
                cut = line_break(line)
                line, rest = line[:cut], line[cut:]
            ends = self.ends_with(line)
            if ends and not (lines or inside or line.strip()):  # millions of blank lines are no documents
                begin += len(line)
                continue
            lines.append(line)
            length += len(line)
            if ends or length >= STRETCH:
                yield self._stretch(b"".join(lines), begin, ends, file.tell(), content)
                lines, length, begin, inside = [], 0, begin + length, not ends
        yield self._stretch(b"".join(lines), begin, True, file.tell(), content)

    def _stretch(self, raw: bytes, begin: int, ends: bool, read: int, content: BinaryIO) -> Stretch:
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise not_utf8(self.path, content, begin + error.start) from error
        if "\0" in text:
            raise FileError(f"{self.path} is not a text file: it holds a zero byte. Take it out of the corpus.")
        text = text.replace("\r\n", "\n").removeprefix("\ufeff" if begin == 0 else "")
        return Stretch(text.rstrip() if ends else text, begin + len(raw), ends, read if self._counts_apart else 0)

    @property
    def _counts_apart(self) -> bool:
        """Whether bytes of the text are not those of the file."""
        return is_packed(self.path) or self.layout.encoding != UTF8

    def _check(self, first: bytes) -> None:
        if first[:2] in MARKS:
            raise FileError(
                f"{self.path} is written in {MARKS[first[:2]]}. Name it, encoding='utf-16' (--encoding utf-16), or save it as UTF-8."
            )
        if b"\0" in first:
            raise FileError(f"{self.path} is not a text file: it holds a zero byte. Take it out of the corpus.")


@contextmanager
def opened(path: Path, encoding: str = UTF8) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """A file, and what it holds: the same, or what gzip packed into it, or what is written there in another encoding, as UTF-8."""
    try:
        with path.open("rb") as file:
            if not is_packed(path):
                yield file, recoded(file, encoding, path)
                return
            with Unpacked(file, path) as content:
                yield file, recoded(cast(BinaryIO, content), encoding, path)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(f"{path} is not a complete gzip file ({error}). Fetch or write it again.") from error
    except OSError as error:
        raise FileError(f"Could not read {path}: {error.strerror or error}. Check that you may read it.") from error


class Unpacked(gzip.GzipFile):
    """What gzip packed into a file, up to the most that a file of its size may hold."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        super().__init__(fileobj=file)
        self.path, self.most, self.unseen = path, most_of(path.stat().st_size), 0

    def read(self, size: int | None = -1) -> bytes:
        """The next bytes."""
        if size is None or size < 0 or size > self.most:
            size = self.most + 1
        return self._within(super().read(size))

    def readline(self, size: int | None = -1) -> bytes:
        """The next line."""
        return self._within(super().readline(self.most + 1 if size is None or size < 0 else size))

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place; its end is found by reading up to it."""
        if whence == os.SEEK_END:
            while self.read(io.DEFAULT_BUFFER_SIZE):
                pass
            place, whence = self.tell() + place, os.SEEK_SET
        return super().seek(place, whence)

    def _within(self, content: bytes) -> bytes:
        self.unseen += len(content)
        if self.unseen > STRETCH:  # not after every line: asking for the place costs as much as reading one
            self.unseen = 0
            if self.tell() > self.most:
                raise too_well_packed(self.path)
        return content


def most_of(size: int) -> int:
    """How many bytes a file of this size may unpack to."""
    return MOST_TIMES * size + ANYWAY


def too_well_packed(path: Path) -> FileError:
    """What to say of a file that unpacks to more."""
    return FileError(
        f"{path} unpacks to more than {MOST_TIMES} times its size, which no text does: it is not read further. If it is yours, "
        "write it as a file that is not packed, .txt or .jsonl."
    )


def is_packed(path: Path) -> bool:
    """Whether a file is packed with gzip, by its name."""
    return path.suffix.lower() == PACKED


def line_break(line: bytes) -> int:
    """Where a very long line may be cut: after its last space, or between two letters."""
    space = line.rfind(b" ") + 1
    if space > len(line) // 2:
        return space
    place = len(line) - 1
    for _ in range(
        3
    ):  # a letter has at most three bytes after its first; what has more is no UTF-8, which is said where it is decoded
        place -= line[place] & 0xC0 == 0x80
    return place


# What divides the documents of a text file: in words, and whether a document ends with this line.
DIVISIONS: dict[str, tuple[str, Callable[[bytes], bool]]] = {
    "blank line": ("a blank line between two", lambda line: not line.strip()),
    "line": ("one a line", lambda line: line.endswith(b"\n")),
    "file": ("one a file", lambda line: False),
}
