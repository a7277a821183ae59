"""Hooks for tracing and editing a forward pass.

A model calls `tap(...)` where a value is computed and `edited(...)` where an edit may change it. Without listeners and edits, both
cost one read of a context variable. The variable belongs to the running thread, so thirty students can share one model without seeing
each other's traces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from explorer.records import Edit, TapPlace
from explorer.records.edits import apply_edits

Value = TypeVar("Value")
Hear = Callable[[TapPlace, str, int, dict[str, Any]], None]


@dataclass(frozen=True)
class _Session:
    hear: Hear | None = None
    edits: tuple[Edit, ...] = ()


_QUIET = _Session()
_session: ContextVar[_Session] = ContextVar("explorer_tap", default=_QUIET)


def watched() -> bool:
    """Whether this pass is traced or edited: then models take the explicit path, step by step."""
    return _session.get() is not _QUIET


def tap(place: TapPlace, stream: str = "", layer: int = -1, **values: Any) -> None:
    """Give what was computed at `place` to the listener, if there is one."""
    hear = _session.get().hear
    if hear is not None:
        hear(place, stream, layer, values)


def edited(place: TapPlace, stream: str, layer: int, value: Value, *known: object) -> Value:
    """The value at `place` after the active edits; `known` are their further arguments."""
    if not _session.get().edits:
        return value
    changed: Value = apply_edits(edits_on(stream, layer), place, value, *known)
    return changed


def edits_on(stream: str, layer: int) -> tuple[Edit, ...]:
    """The active edits of one layer."""
    return tuple(edit for edit in _session.get().edits if edit.touches(stream, layer))


@contextmanager
def listening(hear: Hear) -> Iterator[None]:
    """While inside, `hear(place, stream, layer, values)` is called with everything that models tap."""
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
    try:
        yield
    finally:
        _session.reset(token)
