"""The plan of a run, and what cannot be trained, said before the first step: texts, tokenizers and models that do not go together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_type_hints

import numpy as np

from explorer.corruption.strangers import STRANGERS
from explorer.corruption.strategies import STRATEGIES, nominal_rate
from explorer.errors import WHOLE, ChoiceError, TextError, an, check_whole, is_number, repeated, unknown
from explorer.errors.kinds import check_kind
from explorer.nn.config import Config
from explorer.nn.factory import AnyConfig
from explorer.records import Vocabulary
from explorer.training.device import AUTOCAST
from explorer.training.objectives import OBJECTIVES, objective, with_property
from explorer.training.schedules import lr_share

OPTIMISERS = ("muon", "adamw")
COUNTS = {  # each with the least that it may be
    "steps": 1, "batch": 1, "accumulate": 1, "snapshots": 0, "checks": 0, "seed": 0, "pairs_from": 1,
}  # fmt: skip
MOST = {"snapshots": 10_000, "checks": 10_000}  # each is a place on a line of steps that is held in memory
SHARES = ("warm", "smoothing", "pairs_after", "random_until")
FORMER = {  # parts of a plan in earlier versions, with their usual values
    "lean": False, "unpadded": False, "compiled": False, "static": False, "by_row": False, "workers": 0, "check_share": None,
    "read_every": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """Everything that decides what a run does."""

    objective: str
    strategy: str
    steps: int
    batch: int = 32
    seed: int = 0
    schedule: str = "cosine"
    warm: float = 0.05
    optimiser: str = "muon"
    rate: float | None = None
    smoothing: float = 0.0
    snapshots: int = 8
    mask_rate: float | None = None  # the share of tokens that is hidden; None: the strategy's own
    mask_rate_first: float | None = None  # the share at the first step, from where it moves evenly to `mask_rate` at the last
    random_until: float = 0.0  # until this share of the steps a falling part of the replaced tokens is random
    precision: str = "float32"  # of the products; the weights and their updates stay in float32
    accumulate: int = 1  # in how many parts, one after another, a batch is worked through: the same result with less memory
    packed: bool = False  # whether the rows are filled with whole sentences of one story after the other
    shard: bool = False  # whether each of several processes holds its part of weights, gradients and optimiser alone
    by_length: bool = False  # whether stories of like length share a batch, so that less of it is padding
    pairs_from: int = 1  # texts of fewer sentences are read whole, and the next sentence is not asked of them
    pairs_after: float = 0.0  # the share of the steps before which every text is read whole
    strangers: str = (
        "any"  # from which texts a second half that does not follow is taken: any, or those about the same ("alike")
    )
    checks: int = 20  # about how often the model is measured on held-out text
    deterministic: bool = False  # whether a GPU takes slower ways that always give the same bits; a processor always does
    resume: bool = False  # whether a run of fewer steps in the folder goes on to these, by the longer schedule from there
    corpus: dict[str, Any] = field(default_factory=dict)
    teacher: dict[str, Any] | None = None  # whose layers the model began with, and who teaches it where the objective does

    def __post_init__(self) -> None:
        check_plan(self)

    @property
    def kept(self) -> tuple[int, ...]:
        """The steps whose weights are kept as snapshots: close together at first, then ever further apart."""
        if not self.snapshots:
            return ()
        return tuple(sorted({int(step) for step in np.geomspace(1, self.steps, self.snapshots).round()}))

    @property
    def checked(self) -> tuple[int, ...]:
        """The steps after which the model is measured: close together at first, then evenly, the last one, and every snapshot."""
        if not self.checks:
            return ()
        many = min(self.checks, 2 + self.steps // 20)  # a short run is measured less often
        early = self.kept or np.geomspace(1, self.steps, 2 + many // 2)[:-1]
        even = np.linspace(0, self.steps, 1 + max(1, many - len(early)))[1:]
        return tuple(sorted({int(step) for step in np.concatenate((early, even)).round()}))


def check_count(name: str, given: object, least: int) -> None:
    """Refuse what is no whole number of at least that, and more than fits."""
    check_whole(name, given, least, MOST.get(name, WHOLE - 1))


def check_settings(given: Mapping[str, Any]) -> None:
    """Refuse settings of a plan that are of another kind, or too small: of a plan that is given in part."""
    kinds = get_type_hints(Plan)
    for name, value in given.items():
        if name in kinds:
            check_kind(name, value, kinds[name])
        if name in COUNTS:
            check_count(name, value, COUNTS[name])


def check_plan(plan: Plan) -> None:
    """The plan, if every part of it can be carried out."""
    for name, least in COUNTS.items():
        check_count(name, getattr(plan, name, least), least)
    if plan.rate is not None and not (is_number(plan.rate) and 0 < plan.rate < math.inf):
        raise ChoiceError(f"rate={repeated(plan.rate)} must be a number above 0, for example 3e-3; None takes the usual one.")
    for name in SHARES:
        value = getattr(plan, name, 0.0)
        if not (is_number(value) and 0 <= value < 1):
            raise ChoiceError(f"{name}={repeated(value)} must be a share: from 0 to below 1.")
    for what, given, known in (
        ("optimiser", plan.optimiser, OPTIMISERS),
        ("objective", plan.objective, OBJECTIVES),
        ("precision", plan.precision, AUTOCAST),
        ("strategy", plan.strategy, [*STRATEGIES, *(name for name, entry in OBJECTIVES.items() if not entry.strategy)]),
    ):
        if not isinstance(given, str) or given not in known:
            raise unknown(what, given, known)
    _check_rows(plan)
    _check_hidden(plan)
    lr_share(plan.schedule, 1, plan.steps, plan.warm)


def _check_rows(plan: Plan) -> None:
    """How the rows are made, and by whom."""
    layered = [name for name in OBJECTIVES if {"encoder", "decoder", "encoder-decoder"} & {*OBJECTIVES[name].families}]
    for name, fitting in (("packed", with_property("packable")), ("shard", layered)):
        given = getattr(plan, name)
        if not isinstance(given, bool) or (given and plan.objective not in fitting):
            raise ChoiceError(f"{name}={repeated(given)} must be True or False, and it is True only for: {', '.join(fitting)}.")
    if plan.strangers not in STRANGERS:
        raise unknown("kind of text for second halves that do not follow: strangers", plan.strangers, STRANGERS)
    if (plan.pairs_from > 1 or plan.pairs_after or plan.strangers != "any") and not objective(plan.objective).pairs:
        raise ChoiceError(
            f"pairs_from={plan.pairs_from}, pairs_after={plan.pairs_after}, strangers={plan.strangers} are for objectives that read pairs: "
            f"{', '.join(with_property('pairs'))}."
        )


def _check_hidden(plan: Plan) -> None:
    """The share of tokens that is hidden, from the first step to the last."""
    for name in ("mask_rate", "mask_rate_first"):
        value = getattr(plan, name)
        hides = plan.strategy in STRATEGIES and not math.isnan(nominal_rate(plan.strategy, {}))
        if value is not None and not (is_number(value) and 0 < value < 1 and hides):
            raise ChoiceError(
                f"{name}={repeated(value)} must lie between 0 and 1, and only a strategy that hides a share of the tokens takes it."
            )
    if plan.random_until and not objective(plan.objective).discriminator:
        raise ChoiceError(
            f"random_until={plan.random_until} is for a model that finds replaced tokens: fit('electra', …). Leave it out."
        )
    if plan.mask_rate_first is not None and plan.mask_rate is None:
        raise ChoiceError(f"mask_rate_first={plan.mask_rate_first} moves to mask_rate: give that one too.")


def check_fits(plan: Plan, family: str, vocabulary: Vocabulary, examples: Sequence[Any]) -> None:
    """Refuse an objective that this kind of model, its tokenizer or its texts cannot serve."""
    entry = objective(plan.objective)
    if family not in entry.families:
        wanted = " or ".join(entry.families)
        raise ChoiceError(f"The objective {plan.objective!r} trains {an(wanted)}; this model is {an(family)}. Choose another.")
    hiding = STRATEGIES[plan.strategy].needs if plan.strategy in STRATEGIES else ()  # to write what it hides
    missing = [name for name in (*hiding, *entry.specials) if getattr(vocabulary, name) in (None, ())]
    if missing:
        raise ChoiceError(
            f"{plan.objective!r} needs special tokens that this tokenizer does not have: {', '.join(missing)}. Learn one of the "
            "kind that the preset uses, or name them: ex.tokenizer(…, specials=[…], sentinels=…)."
        )
    if len(examples) < plan.batch:
        raise ChoiceError(
            f"A batch takes {plan.batch} stories, but there are {len(examples)}. Give more stories, or a smaller batch=…."
        )
    if plan.pairs_from > 1 and not any(example.sentences.max(initial=-1) + 1 >= plan.pairs_from for example in examples):
        raise ChoiceError(f"No text has {plan.pairs_from} sentences, so none is cut into a pair. Lower pairs_from=….")


def check_heads(name: str, config: AnyConfig) -> None:
    """Refuse an objective for a model that does not predict what it is about."""
    finds = objective(name).discriminator
    if finds and not (isinstance(config, Config) and config.replaced and config.generator):
        raise ChoiceError(
            f"The objective {name!r} needs a model that finds replaced tokens and has a generator: ex.build('electra', …). "
            "A checkpoint that was opened from elsewhere comes without its generator."
        )
    if config.replaced and not finds:
        raise ChoiceError(f"This model finds replaced tokens, so the objective {name!r} does not fit it. Use 'replaced'.")


def check_loss_mask(counted: int, step: int, strategy: str) -> None:
    """Refuse a batch in which no position counts."""
    if not counted:
        raise TextError(
            f"Nothing is hidden in the batch of step {step}: its texts are too short for {strategy!r}. Give longer texts, of "
            "several sentences, or another strategy=…."
        )
