"""How a touched picture has its model run once more: pictures know records only, so who can run a model says so here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from explorer.errors import ChoiceError

if TYPE_CHECKING:
    from explorer.records.trace import Trace

_known: dict[str, Callable[..., Any]] = {}


def runs(tracer: Callable[..., Any]) -> None:
    """From now on models are run by this: what `ex.trace` is."""
    _known["tracer"] = tracer


def packs(packer: Callable[..., Any]) -> None:
    """From now on models are packed for a page by this: what `models/packing.py` does."""
    _known["packer"] = packer


def packed_of(model: Any, **more: Any) -> bytes | None:
    """The model as a page reads it, with `more` in its header; None for one that cannot run there."""
    packed: bytes | None = _known["packer"](model, **more) if "packer" in _known else None
    return packed


def run(model: Any, text: str | list[int], **given: Any) -> Trace:
    """The trace of this model over a text, or over tokens."""
    if "tracer" not in _known:
        raise ChoiceError("Nothing has been traced yet. Make the trace with ex.trace(model, text) first.")
    traced: Trace = _known["tracer"](model, text, **given)
    return traced
