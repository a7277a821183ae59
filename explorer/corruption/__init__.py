"""What pre-training hides: every strategy works on whole batches of rows, and one row of it is a `Corruption`.

>>> "rates" in dir(ex.corruption)
True
"""

from typing import TYPE_CHECKING

from explorer.errors.lazy import names_of

if TYPE_CHECKING:
    from explorer.corruption.counting import gap_sentences, rates, span_lengths

_HOMES = {
    "gap_sentences": "corruption.counting:gap_sentences",
    "rates": "corruption.counting:rates",
    "span_lengths": "corruption.counting:span_lengths",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = names_of(__name__, _HOMES)
