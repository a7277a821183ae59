"""What takes long to make and is the same every time, kept on disk: generated stories, tokenizers, stories in tokens.

The folder is the one that EXPLORER_CACHE names, or the system's own for such things; `explorer cache` says which, and `--empty` empties
it. Nothing depends on it: where it cannot be written, everything is made again, and so is a damaged file.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from zipfile import BadZipFile
from zlib import error as ZlibError

from explorer.errors import FileError
from explorer.records.replacing import PART, write_whole

LIMIT = 512 << 20  # bytes on disk; what was not used for longest goes first
ENDING = ".cache"
NAME = "pretraining-explorer"
READ_ERRORS = (ValueError, KeyError, IndexError, EOFError, ZlibError, BadZipFile, UnicodeDecodeError)
Made = TypeVar("Made")


def cache_folder() -> Path | None:
    """Where it is kept; None where there is no home folder. It need not exist yet."""
    if named := os.environ.get("EXPLORER_CACHE"):
        return Path(named)
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / NAME


def cached(
    kind: str, key: tuple[object, ...], make: Callable[[], Made], pack: Callable[[Made], bytes], unpack: Callable[[bytes], Made]
) -> Made:
    """What `make` makes, or what it made the last time for the same key. `pack` and `unpack` turn it into bytes and back.

    >>> import os, tempfile; os.environ["EXPLORER_CACHE"] = tempfile.mkdtemp()
    >>> cached("doctest", (1,), lambda: "slow", str.encode, bytes.decode), cached("doctest", (1,), lambda: "new", str.encode, bytes.decode)
    ('slow', 'slow')
    """
    name = f"{kind}-{hashlib.sha256(repr(key).encode('utf-8')).hexdigest()[:32]}{ENDING}"
    content = _read(name)
    if content is not None:
        with suppress(*READ_ERRORS):
            return unpack(content)
    value = make()
    _write(name, pack(value))
    return value


def source_mark(folder: Path) -> str:
    """A checksum of the programme and the texts in a folder: it changes with every change that could change a result."""
    digest = hashlib.sha256()
    for path in sorted(path for ending in ("py", "txt", "tsv") for path in folder.rglob(f"*.{ending}")):
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def cached_files() -> dict[Path, int]:
    """Every file of the cache with its size in bytes, the one that was not used for longest first."""
    folder, files = cache_folder(), []
    if folder is not None and folder.is_dir():
        for path in folder.glob(f"*{ENDING}"):
            with suppress(OSError):  # another process may have removed it
                about = path.stat()
                files.append((about.st_mtime, path, about.st_size))
    return {path: size for _, path, size in sorted(files)}


def empty_cache() -> int:
    """Remove everything that is kept, and say how many bytes that were."""
    freed = sum(cached_files().values())
    folder = cache_folder()
    if folder is not None and folder.is_dir():
        for path in (*folder.glob(f"*{ENDING}"), *folder.glob(f".*{PART}")):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise FileError(
                    f"{path} cannot be removed ({error.strerror}). Is it yours, and is no program using it?"
                ) from error
    return freed


def _read(name: str) -> bytes | None:
    folder = cache_folder()
    if folder is None:
        return None
    try:
        content = (folder / name).read_bytes()
    except OSError:
        return None
    with suppress(OSError):
        os.utime(folder / name)  # it was used now
    return content


def _write(name: str, content: bytes) -> None:
    """Put it on disk in one move, so that nobody reads half of it."""
    folder = cache_folder()
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / name, content, mode=0o600)
        _make_room()
    except OSError:
        return


def _make_room() -> None:
    """Remove what was not used for longest until the rest is within the limit."""
    files = cached_files()
    over = sum(files.values()) - LIMIT
    for path, size in files.items():
        if over <= 0:
            break
        with suppress(OSError):
            path.unlink()
        over -= size
