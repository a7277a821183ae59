"""Names of a room that are loaded when they are first used, with types that `help()` prints without quotation marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import FunctionType
from typing import Any

Lookup = Callable[[str], Any]
Listing = Callable[[], list[str]]


def names_of(room: str, homes: Mapping[str, str], listed: Sequence[str] = ()) -> tuple[Lookup, Listing]:
    """The `__getattr__` and `__dir__` of a room that names where each of its names is, as "file:name" or as a file."""

    def look_up(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return found(homes[name])

    return look_up, lambda: list(listed or sorted(homes))


def found(home: str) -> Any:
    """The object at "room:name", or the room itself.

    >>> found("errors:one_line").__name__
    'one_line'
    """
    room, _, thing = home.partition(":")
    module = import_module(f"explorer.{room}")
    return readable(getattr(module, thing)) if thing else module


class PlainType(str):
    """An annotation as it is written: a string that prints without quotation marks, as in `help()`."""

    __slots__ = ()
    __repr__ = str.__str__


def readable(thing: Any) -> Any:
    """The same function or class, whose signatures print their types as they are written.

    >>> import inspect
    >>> def twice(count: "int") -> "int":
    ...     return 2 * count
    >>> inspect.signature(readable(twice))
    <Signature (count: int) -> int>
    """
    for function in _functions(thing):
        said = function.__annotations__
        said.update({name: PlainType(kind) for name, kind in said.items() if type(kind) is str})
    return thing


def _functions(thing: Any) -> Iterator[FunctionType]:
    """A function itself; of a class of ours, its methods, properties and what it inherits."""
    if isinstance(thing, FunctionType):
        yield thing
    for part in thing.__mro__ if isinstance(thing, type) else ():
        if part.__module__.startswith("explorer."):
            for held in vars(part).values():
                held = held.fget if isinstance(held, property) else held.func if isinstance(held, cached_property) else held
                held = getattr(held, "__func__", held)
                if isinstance(held, FunctionType):
                    yield held
