"""What a decoding strategy is: a generator of steps, and everything that a page shows of it, in one entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import getdoc
from typing import Any

from explorer.decoding.settings import Settings
from explorer.decoding.stepper import Stepper
from explorer.records import DecodingStep


@dataclass(frozen=True)
class DecodingStrategy:
    """`apply(stepper, prompt, settings)` yields the steps; the rest is said of it.

    `reads` are the settings that it reads beside those of every search. `options` are settings that only this strategy has, with
    what is taken where nobody chooses; it finds them in `settings.extra`. `shown` are the options by label with which a page shows
    it beside others; None: once as it is.
    """

    apply: Callable[[Stepper, Sequence[int], Settings], Iterator[DecodingStep]]
    about: str = ""  # what students read about it; empty: the first paragraph of the docstring of `apply`
    reads: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    draws: bool = False  # whether another seed writes another text
    hidden: bool = False  # whether it needs the last states of all positions (`State.hidden`)
    cross: bool = False  # whether it needs where each beam looks in the source (`State.cross`)
    shown: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def says(self) -> str:
        """What students read about it."""
        return self.about or (getdoc(self.apply) or "").split("\n\n")[0]

    def ways(self, name: str) -> Mapping[str, Mapping[str, Any]]:
        """With which options a page shows it beside others, by label; `name` is the one that it is registered under."""
        return {name: {}} if self.shown is None else self.shown
