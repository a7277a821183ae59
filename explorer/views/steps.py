"""The steps of one layer, in the order of computation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from explorer.records import Trace
from explorer.views import panels
from explorer.views.panels import Panel, Walk, added, entered, normed, projected, ready, stage


@dataclass(frozen=True)
class WalkStep:
    """One step: its name on the slider and its title. What it does is said at the stations of the board."""

    name: str
    title: str
    panel: Callable[[Walk], Panel] = field(repr=False)
    by_head: bool = True
    whole: bool = True  # False: this step is about one query even when all tokens are shown


def norm_step(name: str, part: str) -> WalkStep:
    """A norm, wherever the model has it."""
    return WalkStep(name, "normalise each token's vector", normed(part), by_head=False)


def entry_step(name: str, part: str) -> WalkStep:
    """The norm before a sub-layer, where a second one comes after it."""
    return replace(norm_step(name, part), panel=entered(part))


def sum_step(name: str, part: str) -> WalkStep:
    """A residual sum."""
    return WalkStep(name, "add the input", added(part), by_head=False)


X = WalkStep("x", "the tokens as vectors", panels.entering, by_head=False)
ATTENTION = (
    WalkStep("q", "queries: what each token looks for", projected("q")),
    WalkStep("q′", "queries, as the scores use them", ready("q")),
    WalkStep("k", "keys: what each token is matched by", projected("k")),
    WalkStep("k′", "keys, as the scores use them", ready("k")),
    WalkStep("v", "values: what each token passes on", projected("v")),
    WalkStep("q ⊙ k", "one query times every key, dimension by dimension", panels.products, whole=False),
    WalkStep("q·k", "scores: the products of each pair, summed", stage("scores")),
    WalkStep("÷ √dₖ", "scores, scaled", stage("scaled")),
    WalkStep("cap", "scores kept below a cap", stage("capped")),
    WalkStep("+ bias", "what the positions add", stage("biased")),
    WalkStep("mask", "masked scores become −∞", stage("masked")),
    WalkStep("softmax", "weights that sum to 1", stage("weights")),
    WalkStep("α · v", "every value times its weight", panels.weighed, whole=False),
    WalkStep("Σ α v", "the weighted values, summed", panels.summed),
    WalkStep("heads", "all heads, concatenated", panels.side_by_side, by_head=False),
    WalkStep("W_O", "mix the heads", panels.mixed, by_head=False),
)
UNITS = WalkStep("units", "feed-forward: hidden units", panels.widened, by_head=False)
NARROW = WalkStep("feed-forward", "feed-forward: back to the dimension of x", panels.narrowed, by_head=False)


def steps_of(trace: Trace) -> tuple[WalkStep, ...]:
    """The steps of a layer, in the order in which this model computes them; those that it does not have are left out."""
    absent = {
        "cap": all(attention.softcap is None for attention in trace.attention),
        "+ bias": all(attention.bias is None for attention in trace.attention),
        "q′": all(attention.projected_q is None for attention in trace.attention),
        "k′": all(attention.projected_k is None for attention in trace.attention),
    }
    attend = [step for step in ATTENTION if not absent.get(step.name)]
    first, second = norm_step("norm", "attention"), norm_step("norm again", "feed-forward")
    plus, again = sum_step("+ x", "attention"), sum_step("+ x again", "feed-forward")
    early, earlier = entry_step("norm before", "attention"), entry_step("norm before the FFN", "feed-forward")
    orders = {
        "post": (X, *attend, plus, first, UNITS, NARROW, again, second),
        "pre": (X, first, *attend, plus, second, UNITS, NARROW, again),
        "bare": (X, *attend, plus, second, UNITS, NARROW, again),
        "inside": (X, *attend, first, plus, UNITS, NARROW, second, again),
        "both": (X, early, *attend, first, plus, earlier, UNITS, NARROW, second, again),
    }
    return orders[trace.blocks[0].place]
