"""Texts in another encoding than UTF-8, read as if they were in it; and which byte of a file is not in the encoding that it should have."""

from __future__ import annotations

import codecs
import io
from pathlib import Path
from typing import BinaryIO, cast

from explorer.errors import ChoiceError, FileError, many, repeated

UTF8, CHUNK = "utf-8", 1 << 16
BEYOND_ASCII = bytes(range(0xC0, 0x100))  # the first bytes of letters in UTF-8 that ASCII does not have


def known_encoding(encoding: str) -> str:
    """The name that Python gives an encoding of texts.

    >>> known_encoding("Windows-1252"), known_encoding("UTF8")
    ('cp1252', 'utf-8')
    """
    try:
        "a".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, ValueError, TypeError) as error:
        raise ChoiceError(f"There is no text encoding {repeated(encoding)}. Choose utf-8, latin-1, cp1252, …") from error


class Recoded(io.RawIOBase):
    """The content of a file in some encoding, as bytes in UTF-8. Going back reads it from its beginning, as with gzip."""

    def __init__(self, content: BinaryIO, encoding: str, path: Path) -> None:
        self.content, self.encoding, self.path = content, encoding, path
        self._rewind()

    def _rewind(self) -> None:
        self.content.seek(0)
        self.decoder = codecs.getincrementaldecoder(self.encoding)()
        self.ready, self.place, self.taken, self.lines, self.ended = b"", 0, 0, 0, False

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """It can be read from any place on."""
        return True

    def tell(self) -> int:
        """How many bytes of UTF-8 were read."""
        return self.place

    def readinto(self, buffer: object) -> int:
        """The next bytes of UTF-8, into a buffer; 0 at the end."""
        view = memoryview(cast(bytearray, buffer)).cast("B")
        while not self.ready and not self.ended:
            self.ready = self._decoded(self.content.read(CHUNK)).encode(UTF8, "surrogatepass")
        given, self.ready = self.ready[: len(view)], self.ready[len(view) :]
        view[: len(given)] = given
        self.place += len(given)
        return len(given)

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go on from this byte of UTF-8."""
        place += self.place if whence == io.SEEK_CUR else 0
        if place < self.place:
            self._rewind()
        while self.place < place and self.read(min(CHUNK, place - self.place)):
            pass
        return self.place

    def _decoded(self, raw: bytes) -> str:
        """The text in the next bytes; all that is left, where there are none."""
        self.taken, self.ended = self.taken + len(raw), not raw
        try:
            text = self.decoder.decode(raw, final=self.ended)
        except UnicodeDecodeError as error:
            place = self.taken - len(error.object) + error.start
            line = self.lines + 1 + error.object[: error.start].decode(self.encoding, "replace").count("\n")
            raise FileError(
                f"{self.path} is not written in {self.encoding}: byte {place} is {error.object[error.start]:#04x} (line {line:,}). "
                "Name another encoding, or save the file again as UTF-8."
            ) from error
        self.lines += text.count("\n")
        return text


def recoded(content: BinaryIO, encoding: str, path: Path) -> BinaryIO:
    """The content of a file as bytes in UTF-8."""
    return content if encoding == UTF8 else cast(BinaryIO, io.BufferedReader(Recoded(content, encoding, path)))


def not_utf8(path: Path, content: BinaryIO, place: int) -> FileError:
    """What to say of a file with a byte that is not UTF-8: where it is, and whether the text before it was in UTF-8."""
    content.seek(0)
    line, letters, left = 1, 0, place
    while left and (chunk := content.read(min(CHUNK, left))):
        left -= len(chunk)
        line += chunk.count(b"\n")
        letters += len(chunk) - len(chunk.translate(None, BEYOND_ASCII))
    where = f"byte {place} is {content.read(1)[0]:#04x} (line {line:,})"
    if letters:
        return FileError(
            f"{path} mixes encodings: up to there it is UTF-8, with {many(letters, 'letter')} beyond ASCII, but {where}. Save that part "
            "again as UTF-8."
        )
    return FileError(
        f"{path} is not UTF-8 text: {where}. Name its encoding, for example encoding='cp1252' (--encoding cp1252), or save it again as "
        "UTF-8."
    )
