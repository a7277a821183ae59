"""How a text is written once a model is trained: every strategy, over whatever can be asked for the next token.

A strategy is a generator `(stepper, prompt, settings)` of `DecodingStep`; the last one holds the answer. It knows no model: a
`Stepper` may be one of ours, one of Hugging Face's, or a table of numbers.

>>> "watch" in dir(ex.decoding)
True
"""

from __future__ import annotations

from explorer.decoding import beams, contrastive, exhaustive, single
from explorer.decoding.filling import ORDERS, Blanks, filling_steps
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import State, Stepper
from explorer.decoding.strategy import DecodingStrategy
from explorer.errors.lazy import names_of

STRATEGIES: dict[str, DecodingStrategy] = {
    **single.SINGLE, **beams.BEAMS, **contrastive.CONTRASTIVE, **exhaustive.EXHAUSTIVE,
}  # fmt: skip

_HOMES = {
    "contest": "decoding.comparison:contest",
    "distribution": "decoding.comparison:distribution",
    "score_texts": "decoding.scoring:score_texts",
    "trap": "decoding.comparison:trap",
    "trapped": "decoding.comparison:trapped",
    "watch": "decoding.generation_trace:watch",
    "written": "decoding.comparison:written",
}

__all__ = [
    "ORDERS",
    "STRATEGIES",
    "Blanks",
    "DecodingStrategy",
    "Settings",
    "State",
    "Stepper",
    "filling_steps",
    *sorted(_HOMES),
]

__getattr__, __dir__ = names_of(__name__, _HOMES, __all__)
