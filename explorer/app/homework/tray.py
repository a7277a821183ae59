"""What a class hands in through its room: files in a folder of the teacher's. Each is read before it is kept; they are few and small.

A browser has one hand-in of a homework: a later one takes its place. A file keeps the letters of the name that it came with, and nothing
else is kept of who sent it: what follows the name is computed from the random number of the browser's cookie.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from functools import lru_cache
from pathlib import Path, PurePath
from threading import Lock

from explorer.app import hosted
from explorer.app.homework.hand_ins import HandIn, read_hand_in
from explorer.app.vote import check_rate
from explorer.errors import ChoiceError, FileError
from explorer.records.replacing import write_whole

MOST, ALL = 500, 100_000_000  # files that a room takes, and the bytes of all of them
HOMEWORK = "homework.html"  # beside them: what students take home


class Tray:
    """The folder into which a class hands in; `rate` are the files a minute that are taken from one address."""

    def __init__(self, folder: Path, rate: int = 120) -> None:
        self.folder, self.rate = folder, rate
        self._lock = Lock()
        self._arrived: dict[str, deque[float]] = {}

    def put(self, who: str, file: str, content: bytes, address: str = "") -> HandIn:
        """Keep the hand-in of a visitor, in place of an earlier one of the same homework; what is none is refused in a sentence."""
        with self._lock:
            check_rate(self._arrived, address, self.rate, "files")
            stem = plain_name(file)
            each = read_hand_in(f"{stem}.json", content)
            mark = hashlib.sha256(f"{who} {each.homework}".encode()).hexdigest()[:16]
            earlier = [path for path in self._paths() if path.stem.endswith(mark)]
            self._check_room(len(content), earlier)
            self._keep(self.folder / f"{stem}-{mark}.json", content)
            for path in earlier:
                if path.name != f"{stem}-{mark}.json":
                    path.unlink(missing_ok=True)
            return each

    def _check_room(self, size: int, earlier: list[Path]) -> None:
        others = [path for path in self._paths() if path not in earlier]
        if len(others) >= MOST or sum(path.stat().st_size for path in others) + size > ALL:
            raise ChoiceError(f"This room takes no more hand-ins ({len(others)} are there). Give the file to your teacher.")

    def _keep(self, path: Path, content: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_whole(path, content, mode=0o600)
        except OSError as error:
            raise FileError("The room could not keep the file. Give it to your teacher in another way.") from error

    def _paths(self) -> list[Path]:
        return sorted(self.folder.glob("*.json"))

    def __len__(self) -> int:
        return len(self._paths())

    def files(self) -> list[tuple[str, bytes]]:
        """What was handed in, as names and contents."""
        return [(path.name, path.read_bytes()) for path in self._paths()]

    @property
    def homework(self) -> Path:
        """The homework that students take home from here, where the teacher has put one."""
        return self.folder / HOMEWORK

    def put_homework(self, content: bytes) -> None:
        """Have students take this homework home."""
        self._keep(self.homework, content)

    def remove(self) -> None:
        """Remove everything that was handed in, and the homework."""
        with self._lock:
            for path in (*self._paths(), self.homework):
                path.unlink(missing_ok=True)


def plain_name(file: str) -> str:
    """The letters, digits and strokes of a file's name, at most forty.

    >>> plain_name("../Anna B.<b>.json")
    'Anna-B-b'
    """
    return re.sub(r"[^\w-]+", "-", PurePath(file).stem[:200]).strip("-")[:40] or "hand-in"


def tray() -> Tray | None:
    """Where the class of this room hands in; None where it does not."""
    classroom = hosted.room()
    return _tray(classroom.tray, classroom.votes) if classroom is not None and classroom.tray else None


@lru_cache(maxsize=4)
def _tray(folder: str, rate: int) -> Tray:
    return Tray(Path(folder), rate)
