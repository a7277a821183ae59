"""What cannot be trained, said before the first step: plans, texts and tokenizers that do not go together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from explorer.corruption.strategies import STRATEGIES, nominal_rate
from explorer.errors import ChoiceError, TextError, unknown
from explorer.nn.config import Config
from explorer.nn.kinds import Shape
from explorer.objectives import OBJECTIVES
from explorer.records import Vocabulary
from explorer.text.tokenizers import check_text
from explorer.training.precision import AUTOCAST
from explorer.training.schedules import share

if TYPE_CHECKING:
    from explorer.training.run import Plan

OPTIMISERS = ("muon", "adamw")
COUNTS = {"steps": 1, "batch": 1, "accumulate": 1, "snapshots": 0, "checks": 0, "seed": 0}  # each with the least that it may be
SHARES = ("warm", "smoothing")
PLAIN = ("translation", "bilm", "skip-gram", "co-occurrence")  # objectives that hide nothing, so that they have no strategy
PACKED = ("mlm", "causal")  # the objectives whose rows may be filled with one story after the other
DRAWN = ("mlm", "mlm+nsp", "denoising", "span-to-text")  # those that draw lots for each story
NEEDS = {  # the special pieces without which a strategy cannot write what it hides
    "mlm": ("mask",), "whole-word": ("mask",), "spanbert": ("mask",), "bart": ("mask",), "bart-mask": ("mask",),
    "bart-infill": ("mask",), "pegasus": ("mask",), "t5": ("sentinels",), "electra": ("mask",),
}  # fmt: skip
# By the first word of the objective; every other: an encoder-decoder.
FAMILIES = {
    "causal": "decoder",
    "mlm": "encoder",
    "replaced": "encoder",
    "distillation": "encoder",
    "bilm": "bilm",
    "skip-gram": "static",
    "co-occurrence": "static",
}


def check_plan(plan: Plan) -> None:
    """The plan, if every part of it can be carried out."""
    for name, least in COUNTS.items():
        value = getattr(plan, name, least)
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ChoiceError(f"{name}={value!r} must be a whole number and at least {least}.")
    if plan.rate is not None and not (_number(plan.rate) and plan.rate > 0):
        raise ChoiceError(f"rate={plan.rate!r} must be a number above 0, for example 3e-3; None takes the usual one.")
    for name in SHARES:
        value = getattr(plan, name, None)
        if value is not None and not (_number(value) and 0 <= value < 1):
            raise ChoiceError(f"{name}={value!r} must be a share: from 0 to below 1.")
    for what, given, known in (
        ("optimiser", plan.optimiser, OPTIMISERS),
        ("objective", plan.objective, OBJECTIVES),
        ("precision", plan.precision, AUTOCAST),
        ("strategy", plan.strategy, [*STRATEGIES, *PLAIN]),
    ):
        if not isinstance(given, str) or given not in known:
            raise unknown(what, given, known)
    _check_rows(plan)
    _check_hidden(plan)
    if plan.compiled and plan.objective == "mlm+antecedent":
        raise ChoiceError(
            "A compiled model does not show its attention, which 'mlm+antecedent' teaches. Leave compiled=True out."
        )
    share(plan.schedule, 1, plan.steps, plan.warm)


def _check_rows(plan: Plan) -> None:
    """How the rows are made: filled with several stories, or drawn once for each."""
    for name, fitting in (("packed", PACKED), ("static", DRAWN)):
        given = getattr(plan, name)
        if not isinstance(given, bool) or (given and plan.objective not in fitting):
            raise ChoiceError(f"{name}={given!r} must be True or False, and it is True only for: {', '.join(fitting)}.")


def _check_hidden(plan: Plan) -> None:
    """The share of pieces that is hidden, from the first step to the last."""
    for name in ("mask_rate", "mask_rate_first"):
        value = getattr(plan, name)
        if value is not None and not (_number(value) and 0 < value < 1 and _hides(plan.strategy)):
            raise ChoiceError(
                f"{name}={value!r} must lie between 0 and 1, and only a strategy that hides a share of the pieces takes it."
            )
    if plan.mask_rate_first is not None and plan.mask_rate is None:
        raise ChoiceError(f"mask_rate_first={plan.mask_rate_first} moves to mask_rate: give that one too.")


def _hides(strategy: str) -> bool:
    """Whether a strategy hides a share of the pieces that can be chosen."""
    return strategy in STRATEGIES and not math.isnan(nominal_rate(strategy, {}))


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def check_fits(plan: Plan, family: str, vocabulary: Vocabulary, stories: Sequence[Any]) -> None:
    """Refuse an objective that this kind of model, its tokenizer or its texts cannot serve."""
    wanted = FAMILIES.get(plan.objective.split("+")[0], "encoder-decoder")
    if family != wanted:
        raise ChoiceError(f"The objective {plan.objective!r} trains one {wanted}; this model is one {family}. Choose another.")
    needs = (*NEEDS.get(plan.strategy, ()), *(("cls", "sep") if plan.objective in ("mlm+nsp", "mlm+sbo") else ()))
    missing = [name for name in needs if getattr(vocabulary, name) in (None, ())]
    if missing:
        raise ChoiceError(
            f"{plan.objective!r} needs special pieces that this tokenizer does not have: {', '.join(missing)}. Learn one of the "
            "kind that the preset uses, or name them: ex.tokenizer(…, specials=[…], sentinels=…)."
        )
    if len(stories) < plan.batch:
        raise ChoiceError(
            f"A batch takes {plan.batch} stories, but there are {len(stories)}. Give more stories, or a smaller batch=…."
        )


def check_heads(objective: str, config: Shape) -> None:
    """Refuse an objective for a model that does not predict what it is about."""
    finds = objective == "replaced"
    if finds and not (isinstance(config, Config) and config.replaced and config.generator):
        raise ChoiceError(
            f"The objective {objective!r} needs a model that finds replaced pieces and has a generator: ex.build('electra', …). "
            "A checkpoint that was opened from elsewhere comes without its generator."
        )
    if config.replaced and not finds:
        raise ChoiceError(f"This model finds replaced pieces, so the objective {objective!r} does not fit it. Use 'replaced'.")


def check_texts(texts: object) -> None:
    """Every text is a document, a list of sentences or a translation, and holds whole characters."""
    if not isinstance(texts, Sequence) or isinstance(texts, (str, bytes)):
        raise TextError(
            f"A corpus is a name, a path or a list of texts; this is {type(texts).__name__}. Put the texts into a list."
        )
    for number, text in enumerate(texts):
        parts = [text] if isinstance(text, str) else text
        if not isinstance(parts, Sequence) or isinstance(parts, bytes):
            raise TextError(
                f"Text {number} of the corpus is {type(text).__name__}; it must be a string or a list of sentences."
            )
        try:
            for part in parts:
                check_text(part)
        except TextError as error:
            raise TextError(f"Text {number} of the corpus cannot be used. {error}") from error


def check_scored(scored: int, step: int, strategy: str) -> None:
    """Refuse a batch in which there is nothing to say."""
    if not scored:
        raise TextError(
            f"Nothing is hidden in the batch of step {step}: its texts are too short for {strategy!r}. Give longer texts, of "
            "several sentences, or another strategy=…."
        )
