"""The choices of every strategy, checked when they are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from explorer.errors import ChoiceError, check_whole, is_number, repeated

RULES = ("power", "gnmt")


@dataclass(frozen=True)
class Settings:
    """What can be chosen; each strategy reads what concerns it.

    `length_rule` says what a sum of n tokens is divided by before texts are compared: "power" n^length_penalty (as in the
    transformers library), "gnmt" ((5 + n) / 6)^length_penalty (as in Google's translator). `early_stopping` is False (stop when
    the best open beam, at its present length, cannot beat the worst text in the pool), True (as soon as the pool is full) or
    "never" (only when no length could make it win). `among` are the only tokens that may be written, where it is not empty.
    `candidates` is how many of the likeliest tokens of each beam are recorded. `extra` are the settings that only one strategy has.
    """

    max_tokens: int = 40
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    beams: int = 4
    groups: int = 2
    diversity: float = 0.5
    length_penalty: float = 1.0
    length_rule: str = "power"
    early_stopping: bool | str = False
    alpha: float = 0.6
    repetition_penalty: float = 1.0
    no_repeat: int = 0
    seed: int = 0
    force: Mapping[int, int] = field(default_factory=dict)
    stop: tuple[str, ...] = ()
    among: tuple[int, ...] = ()
    candidates: int = 10
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("max_tokens", 1), ("beams", 1), ("groups", 1), ("no_repeat", 0), ("seed", 0), ("candidates", 0)):
            check_whole(name, getattr(self, name), least)
        if self.top_k is not None:
            check_whole("top_k", self.top_k, 1)
        if not is_number(self.temperature) or not 0 < self.temperature < float("inf"):
            raise ChoiceError(
                f"temperature={repeated(self.temperature)} must be a number above 0. At 0 only the most probable token is left: "
                "take 'greedy'."
            )
        for name in ("top_p", "min_p", "typical_p"):
            given = getattr(self, name)
            if given is not None and not (is_number(given) and 0 < given <= 1):
                raise ChoiceError(f"{name}={repeated(given)} must be a share above 0 and not above 1; None leaves it out.")
        self._check_scores()

    def _check_scores(self) -> None:
        if not is_number(self.repetition_penalty) or self.repetition_penalty <= 0:
            raise ChoiceError(f"repetition_penalty={repeated(self.repetition_penalty)} must be above 0; 1 changes nothing.")
        for name in ("length_penalty", "diversity"):
            if not is_number(getattr(self, name)):
                raise ChoiceError(f"{name}={repeated(getattr(self, name))} must be a number.")
        if self.diversity < 0:
            raise ChoiceError(f"diversity={repeated(self.diversity)} must be 0 or more: it is what a repeated choice costs.")
        if not is_number(self.alpha) or not 0 <= self.alpha <= 1:
            raise ChoiceError(f"alpha={repeated(self.alpha)} must lie between 0 (greedy) and 1.")
        if self.early_stopping not in (True, False, "never"):
            raise ChoiceError(f"early_stopping={repeated(self.early_stopping)} must be True, False or 'never'.")
        if self.length_rule not in RULES:
            raise ChoiceError(f"length_rule={repeated(self.length_rule)} must be one of: {', '.join(RULES)}.")
        if self.beams % self.groups and self.groups != Settings.groups:
            raise ChoiceError(f"{self.groups} groups do not divide {self.beams} beams. Take a multiple of the groups.")

    def divisor(self, length: int) -> float:
        """What the sum of a text of so many tokens is divided by."""
        base = float(length) if self.length_rule == "power" else (5 + length) / 6
        return float(base**self.length_penalty)
