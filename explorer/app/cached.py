"""What the pages keep for all visitors: two caches, bounded by bytes, that notice a model folder which was written again."""

from __future__ import annotations

import functools
import inspect
import json
import tempfile
from collections.abc import Callable, Hashable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st

from explorer.app import streamlit_inside
from explorer.errors import FileError
from explorer.models.cache import Cache, Stamp, stamp
from explorer.models.store import shelf_folder
from explorer.records import Record
from explorer.text import disk_cache

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
MOST, MODELS = 1 << 27, 3 << 28  # bytes: some hundred traces of sentences; all shipped models and a larger one beside them
NAMING = ("name", "folder")  # an argument of this name says which model is read
KEPT, OPENED = Cache(MOST), Cache(MODELS)  # apart, so that ever new sentences never push out the model that reads them


class Cached(Generic[Asked, Answer]):
    """A function whose answers are kept; called again with equal arguments and unchanged model files, it gives the same object."""

    def __init__(self, function: Callable[Asked, Answer], spinner: str, models: tuple[str, ...]) -> None:
        self.__wrapped__, self.__doc__, self.__name__ = function, function.__doc__, function.__name__
        self.spinner, self.models, self.signature = spinner, models, inspect.signature(function)
        self.own = f"{function.__module__}.{function.__qualname__}"

    def __call__(self, *given: Asked.args, **named: Asked.kwargs) -> Answer:
        """The answer, from the cache where it is there."""
        bound = self.signature.bind(*given, **named)
        bound.apply_defaults()
        key = (self.own, self._files(bound.arguments), _key(bound.arguments))
        return kept(key, lambda: self.__wrapped__(*given, **named), self.spinner)

    def clear(self) -> None:
        """Forget every answer."""
        KEPT.drop(lambda key: isinstance(key, tuple) and key[0] == self.own)

    def _files(self, arguments: Mapping[str, object]) -> Stamp:
        """The files of the models that are read, as they are now; who hands in a stamp (`written`) has looked already."""
        if "written" in arguments:
            return ()
        named = [value for name in NAMING if isinstance(value := arguments.get(name), (str, Path))]
        places = (value if isinstance(value, Path) else _place(value) for value in (*self.models, *named))
        return stamp(*(place for place in places if place is not None))


def _place(name: str) -> Path | None:
    """Where a model lies: on the shelf, or at the path that its name is."""
    return Path(name).expanduser() if name.startswith((".", "/", "~")) else shelf_folder(name)


class cached:  # noqa: N801  a decorator
    """Keep the answers of a function. `models` are those that it reads without naming them in `name` or `folder`."""

    def __init__(self, show_spinner: str = "", models: tuple[str, ...] = ()) -> None:
        self.spinner, self.models = show_spinner, models

    def __call__(self, function: Callable[Asked, Answer]) -> Cached[Asked, Answer]:
        """The same function, with a memory."""
        return Cached(function, self.spinner, self.models)


def kept(key: Hashable, make: Callable[[], Answer], doing: str = "", cache: Cache = KEPT) -> Answer:
    """What `make` makes, once for every visitor; `doing` says what the page waits for."""
    return cache.get(key, lambda: _watched(make, doing))


def lasting(key: tuple[object, ...], make: Callable[[], Record]) -> Record:
    """What `make` makes, kept on disk as well: a server that starts again need not make it. Only for what no visitor wrote."""
    return disk_cache.cached("page", (*key, _programme()), make, _packed, _unpacked)


def lasting_data(key: tuple[object, ...], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The same for plain data, as JSON has it."""
    return disk_cache.cached("page", (*key, _programme()), make, lambda data: json.dumps(data).encode(), json.loads)


@functools.cache
def _programme() -> str:
    """A checksum of all programmes and texts here: what is kept by others is not used."""
    return disk_cache.source_mark(Path(__file__).parent.parent)


def _packed(record: Record) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return record.write(Path(folder) / "record.npz").read_bytes()


def _unpacked(content: bytes) -> Record:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.npz"
        path.write_bytes(content)
        try:
            return Record.read(path)
        except FileError as error:
            raise ValueError(str(error)) from error  # damaged, so it is made again


def _watched(make: Callable[[], Answer], doing: str) -> Answer:
    """Make it, while the page says what it waits for."""
    seen = doing and streamlit_inside.session()
    with st.spinner(doing) if seen else nullcontext():
        return make()


def _key(value: object) -> Hashable:
    """Something hashable that is equal where arguments are equal, and tells 1 from True and 1.0."""
    if isinstance(value, Mapping):
        return tuple((name, _key(item)) for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(_key, value))
    return type(value), value if isinstance(value, Hashable) else repr(value)
