"""What a run finds in its folder when it begins, and the lock that keeps a second process out of it."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from explorer import runs
from explorer.errors import ChoiceError, FileError
from explorer.library import PIECES, SEEN
from explorer.text.tokenizers import Tokenizer
from explorer.training import point

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK = "lock"
LEFT = (LOCK, ".new", ".part")  # how the names end of what a killed run may leave behind
FREE = ("accumulate",)  # parts of a plan that may change when a run goes on, because they change no result


def enter(folder: Path, wanted: dict[str, Any]) -> None:
    """Begin a run in a folder, or make sure that the run which is there is this one."""
    wanted = json.loads(json.dumps(wanted))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / runs.RUN).is_file():
            _check_same(folder, runs.described(folder), wanted)
        elif any(not place.name.endswith(LEFT) for place in folder.iterdir()):
            raise ChoiceError(f"{folder} holds other things. Choose an empty or a new folder.")
        else:
            point.replace(folder / runs.RUN, (json.dumps(wanted, indent=1) + "\n").encode("utf-8"))
    except (OSError, ValueError) as error:
        raise FileError(f"{folder} cannot be used for a run ({error}). Choose another folder.") from error


def _check_same(folder: Path, held: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuse to go on with other settings than those a folder was begun with."""
    different = [
        f"{name}={held[part].get(name)!r} there, {value!r} here"
        for part in wanted
        if part in held
        for name, value in wanted[part].items()
        if held[part].get(name) != value and name not in FREE
    ]
    if different:
        raise ChoiceError(
            f"{folder} holds another run ({'; '.join(different)}). Choose another folder, or that run's settings."
        )


def write_pieces(folder: Path, tokenizer: Tokenizer) -> None:
    """Put the tokenizer where every snapshot of the run will look for it."""
    wanted = {folder / PIECES: tokenizer.core.to_str(pretty=True).encode("utf-8")}
    if tokenizer.seen is not None:
        wanted[folder / SEEN] = tokenizer.seen.text().encode("utf-8")
    for path, content in wanted.items():
        if not path.is_file() or path.read_bytes() != content:
            point.replace(path, content)


def forget_after(folder: Path, step: int) -> None:
    """Take out of the list of steps what came after the resume point: it will be done again."""
    lines = runs.lines(folder)
    kept = runs.written([line for line in lines if line["step"] <= step])
    if (folder / runs.STEPS).is_file() and (folder / runs.STEPS).read_bytes() != kept:
        point.replace(folder / runs.STEPS, kept)


def append(path: Path, lines: list[str]) -> None:
    """Add whole lines to a file, or none of them."""
    with open(path, "ab") as file:
        before = file.tell()
        try:
            file.write("".join(lines).encode("utf-8"))
            file.flush()
        except OSError:
            os.truncate(path, before)
            raise


class Lock:
    """The right to write into a folder. It ends with the process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self.path = folder.resolve() / LOCK
        if self.path in HELD:  # by a loop in this process that nobody will finish, such as one that a notebook interrupted
            HELD.pop(self.path).free()
        try:
            self._file: IO[str] | None = open(self.path, "a+", encoding="utf-8")  # noqa: SIM115  held until it is freed
        except OSError as error:
            raise FileError(f"{folder} cannot be written into ({error.strerror}). Choose another folder.") from error
        try:
            _seize(self._file)
        except OSError as error:
            self._refuse(folder, error)
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()
        HELD[self.path] = self

    def _refuse(self, folder: Path, error: OSError) -> None:
        """Say who is there; where the file system knows no locks, go on without."""
        assert self._file is not None
        if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return
        self._file.seek(0)
        who = self._file.read().strip() or "unknown"
        self._file.close()
        raise ChoiceError(
            f"Another process (number {who}) is training in {folder}. Wait for it, stop it, or choose another folder."
        ) from error

    @property
    def held(self) -> bool:
        """Whether this is still the one that may write."""
        return self._file is not None

    def free(self) -> None:
        """Let others in."""
        if self._file is not None:
            HELD.pop(self.path, None)
            self._file.close()
            self._file = None


@contextmanager
def locked(folder: Path) -> Iterator[Lock]:
    """Nobody else writes into this folder meanwhile."""
    lock = Lock(folder)
    try:
        yield lock
    finally:
        lock.free()


def _seize(file: IO[str]) -> None:
    if sys.platform == "win32":
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


HELD: dict[Path, Lock] = {}
