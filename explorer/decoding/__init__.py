"""How a text is written once a model is trained: every strategy, over whatever predicts the next token.

A strategy is a generator `(stepper, prompt, settings)` of `DecodingStep`; the last one holds the answer. It knows no model: a
`Stepper` may be one of ours, one of Hugging Face's, or a table of numbers.

>>> "watch" in dir(ex.decoding)
True
"""

from __future__ import annotations

from lazy_loader import attach_stub

from explorer.decoding import beams, contrastive, exhaustive, single
from explorer.decoding.strategy import DecodingStrategy

STRATEGIES: dict[str, DecodingStrategy] = {
    **single.SINGLE, **beams.BEAMS, **contrastive.CONTRASTIVE, **exhaustive.EXHAUSTIVE,
}  # fmt: skip

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
__all__ += ["STRATEGIES"]
