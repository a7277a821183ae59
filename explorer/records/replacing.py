"""One way to write a file over another: beside its place first, so that who is stopped, or has no room, leaves what was there."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PART = ".part"  # so ends the name of a file that is not whole yet


@contextmanager
def replaced(path: str | Path, mode: int = 0o666, lasting: bool = False) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when all of it is there; where a link lies there, of what it leads to.

    `mode` says who may read it, as far as the user's own mask allows; a file that was there keeps its own.
    What is `lasting` is on the disk before it takes its place, and survives a power cut.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "x.txt"
    >>> with replaced(path) as file:
    ...     file.write(b"all of it") and path.exists()
    False
    >>> path.read_text()
    'all of it'
    """
    place = Path(os.path.realpath(path))
    if place.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    part = place.with_name(f".{secrets.token_hex(6)}{PART}")
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        if place.is_file():
            shutil.copymode(place, part)
        os.replace(part, place)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(path: str | Path, content: str | bytes, mode: int = 0o666, lasting: bool = False) -> None:
    """Write a text or bytes in place of a file."""
    with replaced(path, mode, lasting) as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


def forget_parts(folder: Path) -> None:
    """Delete what a killed process left beside its place. Nobody else may write into the folder now."""
    for left in folder.glob(f".*{PART}"):
        left.unlink(missing_ok=True)
