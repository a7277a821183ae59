"""Where models hand out what they compute.

A model calls `tap(...)` at the spot where a thing happens and `edited(...)` where a student may change it.
When nobody listens and nothing is edited, both cost one look at a context variable. The variable belongs to
the running thread, so thirty students can share one model without hearing each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any

from explorer.records import Edit

Hear = Callable[[str, str, int, dict[str, Any]], None]


@dataclass(frozen=True)
class _Session:
    hear: Hear | None = None
    edits: tuple[Edit, ...] = ()


_QUIET = _Session()
_session: ContextVar[_Session] = ContextVar("explorer_tap", default=_QUIET)
_open, _counting = 0, Lock()  # how many sessions there are in any thread: with none, a compiler sees through all of this


def _now() -> _Session:
    return _session.get() if _open else _QUIET


def watched() -> bool:
    """Whether somebody listens or edits: then models take the explicit path, step by step."""
    return _now() is not _QUIET


def tap(place: str, stream: str = "", layer: int = -1, **values: Any) -> None:
    """Hand out what was computed at `place` to whoever listens."""
    hear = _now().hear
    if hear is not None:
        hear(place, stream, layer, values)


def edited(place: str, stream: str, layer: int, value: Any, *known: Any) -> Any:
    """The value at `place`, as the edits in force leave it; `known` is what they are told besides."""
    for edit in edits_on(stream, layer):
        value = getattr(edit, f"on_{place}")(value, *known)
    return value


def edits_on(stream: str, layer: int) -> tuple[Edit, ...]:
    """The edits in force on one layer."""
    return tuple(edit for edit in _now().edits if edit.touches(stream, layer))


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """While inside, `hear(place, stream, layer, values)` is told everything that models hand out."""
    with _during(_Session(hear, _session.get().edits)):
        yield


@contextmanager
def editing(edits: Iterable[Edit]) -> Iterator[None]:
    """While inside, models run with these edits."""
    with _during(_Session(_session.get().hear, tuple(edits))):
        yield


@contextmanager
def _during(session: _Session) -> Iterator[None]:
    quiet = session.hear is None and not session.edits
    token = _session.set(_QUIET if quiet else session)
    _count(1)
    try:
        yield
    finally:
        _count(-1)
        _session.reset(token)


def _count(more: int) -> None:
    global _open  # noqa: PLW0603  a compiler can watch a plain number, but not a context variable
    with _counting:
        _open += more
