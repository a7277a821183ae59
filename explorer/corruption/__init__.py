"""What pre-training hides: every strategy works on whole batches of rows, and one row of it is a `Corruption`.

>>> "rates" in dir(ex.corruption)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.corruption.counting import gap_sentences, rates, span_lengths

_HOMES = {
    "gap_sentences": "corruption.counting:gap_sentences",
    "rates": "corruption.counting:rates",
    "span_lengths": "corruption.counting:span_lengths",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, thing = _HOMES[name].partition(":")
    found = import_module(f"explorer.{module}")
    return getattr(found, thing) if thing else found


def __dir__() -> list[str]:
    return __all__
