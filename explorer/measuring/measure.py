"""One look at a model: questions are prepared once, and put to it as often as one likes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from explorer.errors import TextError, unknown
from explorer.measuring import (
    analogies,
    blanks,
    bothways,
    causal,
    masked,
    probing,
    replaced,
    restored,
    spanned,
    terms,
    translated,
)
from explorer.measuring.causal import edge
from explorer.measuring.held import Desk, Held, blank
from explorer.measuring.measured import Measured, together
from explorer.model import OwnModel
from explorer.objectives import strategy_of
from explorer.text.ngram import NGram
from explorer.text.tokenizers import Tokenizer

Ask = Callable[[Any], Measured]
ENDLESS = 1 << 30  # an n-gram model reads texts of any length


class Measurement:
    """Questions about held-out text, prepared for one tokenizer and one objective. Call it with a model to put them.

    Training does not notice: the model is measured without dropout, no generator of PyTorch is touched, and the mode that the
    model was in is restored.
    """

    def __init__(self, desk: Desk) -> None:
        if desk.objective not in MEASURES:
            raise unknown("measure for the objective", desk.objective, MEASURES)
        desk = replace(desk, held=replace(desk.held, texts=[text for text in desk.held.texts if not blank(text)]))
        if not desk.count:
            raise TextError("There is no held-out text to measure on. Give at least one.")
        made = [prepare(desk) for prepare in MEASURES[desk.objective]]
        self.asks: list[Ask] = [ask for ask in made if ask is not None]

    @torch.no_grad()
    def __call__(self, model: OwnModel | NGram) -> Measured:
        """Everything that was found, by name."""
        if isinstance(model, NGram):
            return together(ask(model) for ask in self.asks)
        was = model.module.training
        model.module.eval()
        try:
            return together(ask(model) for ask in self.asks)
        finally:
            model.module.train(was)


def measurement(
    model: OwnModel | NGram,
    objective: str,
    held: Held | Sequence[Any],
    *,
    strategy: str = "",
    seed: int = 0,
    thorough: bool = False,
) -> Measurement:
    """The questions for models like this one; `thorough` asks more of them, for a card."""
    held = held if isinstance(held, Held) else Held(held)
    if isinstance(model, NGram):
        model.tokens("a")  # an n-gram model without a tokenizer says here that it cannot read a text
        assert model.tokenizer is not None
        return Measurement(Desk(held, model.tokenizer, "counting", "", ENDLESS, seed, thorough))
    strategy = strategy or strategy_of(objective)
    return Measurement(Desk(held, model.tokenizer, objective, strategy, model.longest, seed, thorough))


def measure(
    model: OwnModel | NGram,
    objective: str,
    held: Held | Sequence[Any],
    *,
    strategy: str = "",
    seed: int = 0,
    thorough: bool = False,
) -> Measured:
    """What a model that was trained with this objective does on held-out texts: metrics, samples and probes."""
    return measurement(model, objective, held, strategy=strategy, seed=seed, thorough=thorough)(model)


COUNTING = ("causal", "replaced")  # beside these stands something that has counted the texts of the training
AS_STORIES = ("mlm+sbo", "bilm")  # beside these too, but it takes the stories as they are


def beside(held: Held, objective: str, tokenizer: Tokenizer, stories: Callable[[], Sequence[Any]]) -> Held:
    """The held-out texts with what a rule beside the model counts: the `stories` of its training, where this objective has one."""
    if objective in AS_STORIES:
        return replace(held, train=stories())
    if objective in COUNTING:
        ends = edge(tokenizer)
        return replace(held, train=[np.array([*ends, *story.ids, *ends]) for story in stories()])
    return held


Prepare = Callable[[Desk], Ask | None]
MASKED: tuple[Prepare, ...] = (
    masked.hidden, masked.recoverable, masked.next_sentence, blanks.fill_in, blanks.by_reason,
    masked.samples, probing.near, probing.meant, probing.decided, terms.spread,
)  # fmt: skip
MEASURES: dict[str, tuple[Prepare, ...]] = {
    "mlm": MASKED,
    "mlm+nsp": MASKED,
    "mlm+antecedent": (*MASKED, probing.told),
    "mlm+sbo": (*MASKED, spanned.spans),
    "replaced": (replaced.found, probing.near, probing.meant, probing.decided),
    "distillation": (*MASKED, masked.beside_teacher),
    "causal": (causal.expected, causal.repeated, causal.samples, probing.near, probing.meant),
    "counting": (causal.counted,),
    "skip-gram": (analogies.analogies,),
    "co-occurrence": (analogies.analogies,),
    "bilm": (bothways.foreseen, bothways.samples),
    "translation": (translated.foretold, translated.exact, translated.aligned),
    "denoising": (restored.foretold, restored.reconstructed, restored.copied),
    "span-to-text": (restored.foretold, restored.spans, restored.copied),
    "gap-sentence": (restored.foretold, restored.gaps, restored.copied),
}
