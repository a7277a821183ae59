"""How a text is written once a model is trained: every strategy, over whatever can be asked for the next piece.

A strategy is a generator `(stepper, prompt, settings)` of `DecodingStep`; the last one holds the answer. It knows no model: a
`Stepper` may be one of ours, one of Hugging Face's, or a table of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from explorer.decoding.beams import beam, diverse_beam
from explorer.decoding.contrastive import contrastive
from explorer.decoding.exhaustive import exhaustive
from explorer.decoding.filling import ORDERS, Blanks, fill
from explorer.decoding.settings import Settings
from explorer.decoding.single import greedy, sample
from explorer.decoding.stepper import State, Stepper
from explorer.records import DecodingStep

Strategy = Callable[[Stepper, Sequence[int], Settings], Iterator[DecodingStep]]
STRATEGIES: dict[str, Strategy] = {
    "greedy": greedy,
    "sample": sample,
    "beam": beam,
    "diverse-beam": diverse_beam,
    "contrastive": contrastive,
    "exhaustive": exhaustive,
}

__all__ = ["ORDERS", "STRATEGIES", "Blanks", "Settings", "State", "Stepper", "Strategy", "fill"]
