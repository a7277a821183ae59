"""The plan of a fine-tuning, and what cannot be learned, said before the first step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from explorer.errors import ChoiceError, repeated, unknown
from explorer.training.plan import Plan, check_count
from explorer.training.schedules import lr_share

HOW = ("full", "last-k", "frozen", "lora", "scratch")
LEAST = {"steps": 1, "batch": 1, "accumulate": 1, "snapshots": 0, "checks": 0, "seed": 0, "examples": 1, "asked": 1, "rank": 1}
POOLED = ("first", "last", "mean")
HEADS = ("linear", "crf", "spans", "attentive spans")  # what answers a task about words
TOO_LONG = ("error", "cut", "skip")
# Measured by `studies.finetuning_rates` on bert and on bert-tiny; their cards have the scores at every rate.
RATES = {"full": 1e-3, "last-k": 3e-3, "frozen": 3e-2, "lora": 1e-2, "scratch": 3e-3}
NARROW_RATES = {"full": 3e-3, "last-k": 1e-2, "frozen": 3e-2, "lora": 3e-2, "scratch": 3e-3}
NARROW = 64  # the width up to which a model has the rates of bert-tiny: a narrow model learns best in larger steps
WIDE_RATES = {"full": 1e-4, "last-k": 3e-4, "frozen": 1e-2, "lora": 1e-3, "scratch": 3e-4}  # full and lora: tried on MiniLM
WIDE = 256  # the width beyond which a model has these


@dataclass(frozen=True)
class FinetunePlan:
    """Everything that decides what a fine-tuning does. `rate` is that of `how` where none is given."""

    task: str
    model: str
    how: str = "full"  # full, last-2 (the last two layers), frozen, lora, scratch
    examples: int = 200
    steps: int = 200
    batch: int = 16
    rate: float = 1e-3
    seed: int = 0
    schedule: str = "linear"
    warm: float = 0.1
    lm_weight: float = 0.0  # λ of L3 = L2 + λ·L1: how much a decoder goes on predicting the texts of the task
    rank: int = 8  # of low-rank adapters
    pool: str = ""  # the state that stands for a text: first, last or mean; "" is what the family is used to
    head: str = "linear"  # of a task about words: linear, crf, spans or attentive spans
    snapshots: int = 2
    checks: int = 4
    asked: int = 200  # so many held-out texts are asked about at a check
    too_long: str = "skip"  # what becomes of a text that the model cannot read: error, cut or skip
    precision: str = "float32"
    accumulate: int = 1
    resume: bool = False  # whether a run of fewer steps in the folder goes on to these
    optimiser: str = "adamw"
    objective: str = "fine-tuning"
    corpus: dict[str, Any] = field(default_factory=dict)
    deterministic: ClassVar[bool] = False

    kept = Plan.kept
    checked = Plan.checked

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            check_count(name, getattr(self, name), least)
        for name in ("rate", "lm_weight", "warm"):
            value = getattr(self, name)
            right = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            if not right or value < 0 or (name == "rate" and value == 0) or (name == "warm" and value >= 1):
                raise ChoiceError(f"{name}={repeated(value)} must be a number of 0 or more (rate above 0, warm below 1).")
        if self.too_long not in TOO_LONG:
            raise unknown("way to treat long texts: too_long", self.too_long, TOO_LONG)
        if self.pool and self.pool not in POOLED:
            raise unknown("state that represents a text: pool", self.pool, POOLED)
        if self.head not in HEADS:
            raise unknown("head", self.head, HEADS)
        last_layers(self.how)
        lr_share(self.schedule, 1, self.steps, self.warm)

    @property
    def kind_of_how(self) -> str:
        """`how` without its number."""
        return "last-k" if self.how.startswith("last-") else self.how


def last_layers(how: str) -> int:
    """How many layers "last-2" means; 0 for every other way to fine-tune."""
    if isinstance(how, str) and how.startswith("last-"):
        number = how.removeprefix("last-")
        if not number.isdecimal() or int(number) < 1:
            raise ChoiceError(f"how={how!r} must name how many layers move, for example how='last-1'.")
        return int(number)
    if how not in HOW:
        raise unknown("way to fine-tune", how, HOW)
    return 0
