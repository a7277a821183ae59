"""How the learning rate moves: shares of the full rate, by step."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from explorer.errors import check_share, check_whole, unknown
from explorer.errors.kinds import checked
from explorer.records import Schedules

MOST_PLACES = 100_000  # at which a curve is drawn


def cosine_decay(step: int, steps: int, warm: int) -> float:
    """Up in a straight line, then down along a cosine to nothing."""
    return step / warm if step <= warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def linear_decay(step: int, steps: int, warm: int) -> float:
    """Up in a straight line, then down in one, as BERT."""
    return step / warm if step <= warm else max(0.0, (steps - step) / max(1, steps - warm))


def noam(step: int, steps: int, warm: int) -> float:
    """Up in a straight line, then down with one over the square root of the step, as the first Transformer."""
    return math.sqrt(warm) * min(step**-0.5, step * warm**-1.5)


def constant(step: int, steps: int, warm: int) -> float:
    """Up in a straight line, then level."""
    return min(1.0, step / warm)


@checked
def lr_share(name: str, step: int, steps: int, warm: float) -> float:
    """The share of the full rate at a step (counted from 1); `warm` is the share of the steps that rise.

    >>> ex.training.lr_share("constant", 50, 100, 0.05)
    1.0
    """
    if name not in SCHEDULES:
        raise unknown("schedule", name, SCHEDULES)
    return SCHEDULES[name](step, steps, max(1, round(check_share("warm", warm, zero=True) * steps)))


@checked
def lr_schedules(chosen: str, steps: int, warm: float, now: int = 1, places: int = 101) -> Schedules:
    """Every schedule over the steps of a run, for the view "schedule"; `chosen` is the one that the run follows.

    >>> ex.training.lr_schedules("cosine", 100, 0.05, now=7).now
    7
    """
    check_whole("steps", steps, 1, 10**12)
    check_whole("places", places, 2, MOST_PLACES)
    peak = max(1, round(check_share("warm", warm, zero=True) * steps))
    at = np.unique(np.concatenate([np.linspace(1, steps, min(places, steps)).round(), [peak, min(max(now, 1), steps)]])).astype(
        int
    )
    shares = np.array([[lr_share(name, int(step), steps, warm) for step in at] for name in SCHEDULES])
    return Schedules(tuple(SCHEDULES), at, shares, chosen, min(max(now, 1), steps))


SCHEDULES: dict[str, Callable[[int, int, int], float]] = {
    "cosine": cosine_decay,
    "linear": linear_decay,
    "noam": noam,
    "constant": constant,
}
