"""Where things lie: the data that came with the package, and what a user trained."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from explorer.errors import FileError

STAGE = ".writing-"  # so begins the folder in which files are written before they take their places
NO_LOCKS = (errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOLCK, errno.EINVAL)  # what a file system without locks answers
TURN = ".turn.lock"  # who holds it may put files in their places; it is gone afterwards


def data_folder() -> Path:
    """Where the shipped data lie: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    return package / "share" / "data" if (package / "share").is_dir() else package.parent / "data"


def own_folder() -> Path:
    """Where a user's own models lie: the folder that EXPLORER_HOME names, or .explorer in the home folder."""
    return Path(os.environ.get("EXPLORER_HOME") or Path.home() / ".explorer") / "models"


def read_json(path: Path) -> dict[str, Any]:
    """A file of named settings."""
    try:
        settings = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{path} cannot be read as JSON ({error}).") from error
    if not isinstance(settings, dict):
        raise FileError(f"{path} cannot be read as JSON with named settings: it holds a {type(settings).__name__}.")
    return settings


@contextmanager
def staged(folder: Path, last: str, stale: Collection[str] = ()) -> Iterator[Path]:
    """A folder to write into, whose files take their places in `folder` when all are whole, the one called `last` at the end.

    Files called `stale` go where no new one takes their place. Who is stopped before all are whole leaves what was there as
    it was, and of two who write at once one puts all of its files after the other's.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{STAGE}*"):
        if not _runs(left.name.removeprefix(STAGE).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    stage = Path(tempfile.mkdtemp(prefix=f"{STAGE}{os.getpid()}-", dir=folder))
    try:
        yield stage
        with _turn(folder):
            _put(stage, folder, last, stale)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _put(stage: Path, folder: Path, last: str, stale: Collection[str]) -> None:
    """Every file in its place."""
    written = [path.relative_to(stage) for path in stage.rglob("*") if path.is_file()]
    for name in set(stale) - {str(path) for path in written}:
        (folder / name).unlink(missing_ok=True)
    for path in sorted(written, key=lambda path: (path == Path(last), path)):
        (folder / path).parent.mkdir(exist_ok=True)
        os.replace(stage / path, folder / path)


@contextmanager
def one_by_one(place: Path, waiting: str = "") -> Iterator[None]:
    """One after the other, threads and processes alike, by a lock at this place; where the file system knows no locks, all at once.

    Who comes second waits, and says `waiting`.
    """
    lock = FileLock(place)
    try:
        _acquire(lock, waiting)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
    try:
        yield
    finally:
        lock.release(force=True)


def _acquire(lock: FileLock, waiting: str) -> None:
    if waiting:
        try:
            lock.acquire(timeout=0)
            return
        except Timeout:
            sys.stderr.write(f"{waiting}\n")
    lock.acquire()


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Files are put in their places one writer after the other."""
    with one_by_one(folder / TURN):
        try:
            yield
        finally:
            with suppress(OSError):  # where an open file cannot be removed, filelock removes it
                (folder / TURN).unlink()


def _runs(process: str) -> bool:
    """Whether the process of this number is at work: what one that was killed left behind may go."""
    return process.isdecimal() and psutil.pid_exists(int(process))
