"""A cache that is bounded by bytes and notices files that were written again: for models, traces and other records."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from threading import Lock
from types import FunctionType, MethodType, ModuleType
from typing import TypeVar, cast

Kept = TypeVar("Kept")
Stamp = tuple[tuple[str, int, int], ...]
NOT_OURS = (type, ModuleType, FunctionType, MethodType)  # shared with the whole program, so they cost nothing here


def weight_of(value: object) -> int:
    """About how many bytes a value takes: its arrays, tensors and texts, each once, and what holds them."""
    total, met, waiting = 0, set[int](), [value]
    while waiting:
        item = waiting.pop()
        if id(item) in met or isinstance(item, NOT_OURS):
            continue
        met.add(id(item))
        size = getattr(item, "nbytes", None)  # of an array or a tensor
        total += size if isinstance(size, int) else sys.getsizeof(item)
        waiting.extend(_parts(item))
    return total


def _parts(value: object) -> Iterable[object]:
    """What a value holds."""
    if isinstance(value, Mapping):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    return vars(value).values() if hasattr(value, "__dict__") else ()


def stamp(*places: Path) -> Stamp:
    """The time and the size of each file, and of those that lie in each folder: what is written again has another stamp."""
    files = [file for place in places for file in _files(place)]
    return tuple(mark for file in files if (mark := _stamp(file)))


def _files(place: Path) -> list[Path]:
    """The files in a folder; a name that is too long for one, or a folder that is closed to us, holds none."""
    try:
        return sorted(place.iterdir()) if place.is_dir() else [place]
    except (OSError, ValueError):
        return []


def _stamp(file: Path) -> tuple[str, int, int] | None:
    try:
        about = file.stat()
    except (OSError, ValueError):  # gone, never there, or no name of a file
        return None
    return str(file), about.st_mtime_ns, about.st_size


class Cache:
    """Values by key, at most `most` bytes of them together; what was not asked for longest goes first.

    The newest value stays, however large it is. Whoever asks for a value that somebody is just making waits for it.
    """

    def __init__(self, most: int) -> None:
        self.most, self.bytes = most, 0
        self._kept: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._making: dict[Hashable, Lock] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._kept

    def get(self, key: Hashable, make: Callable[[], Kept]) -> Kept:
        """The value under a key; it is made where it is not kept."""
        with self._lock:
            if key in self._kept:
                return cast(Kept, self._found(key))
            making = self._making.setdefault(key, Lock())
        with making:
            with self._lock:
                if key in self._kept:
                    return cast(Kept, self._found(key))
            try:
                value = make()
                self._keep(key, value, weight_of(value))
            finally:
                self._making.pop(key, None)
        return value

    def drop(self, which: Callable[[Hashable], bool]) -> None:
        """Forget the values under these keys."""
        with self._lock:
            for key in [key for key in self._kept if which(key)]:
                self.bytes -= self._kept.pop(key)[1]

    def _found(self, key: Hashable) -> object:
        self._kept.move_to_end(key)
        return self._kept[key][0]

    def _keep(self, key: Hashable, value: object, weight: int) -> None:
        with self._lock:
            self._kept[key] = value, weight
            self.bytes += weight
            while self.bytes > self.most and len(self._kept) > 1:
                self.bytes -= self._kept.popitem(last=False)[1][1]
