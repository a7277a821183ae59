"""What each sub-layer of a Hugging Face model adds to the residual stream: listened to where the parts are found to add up to the bit.

Nothing is assumed from names. In one small forward pass every norm and the last matrix of every sub-layer say what they were given
and what they made. From these numbers follows where the norm is; the sum of the parts must be what the layer hands out, to the
bit. Where it is not, the model keeps its blocks to itself, and says what was in the way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from explorer.nn import tap
from explorer.records import TapPlace

EPSILONS = ("eps", "variance_epsilon", "epsilon", "norm_eps")
Plan = tuple["Sublayer", ...]
NormCall = tuple[int, nn.Module, Tensor, Tensor]  # when, which, its input, its output
ALIKE = {"beside": "pre", "bare": "pre"}  # these may stand in one layer


@dataclass(frozen=True)
class Sublayer:
    """One sub-layer of a layer: which part it is, where its norm is, and how that norm computes."""

    part: str
    place: str  # post, pre or inside, as in our own models; both, beside or bare: see Block
    norm: nn.Module
    centred: bool
    offset: float  # Gemma keeps γ − 1
    entry: Sublayer | None = None  # the norm before it, where there are two

    def numbers(self, like: Tensor) -> dict[str, Any]:
        """γ, β, ε and whether the mean is taken away."""
        return _numbers(self.norm, like, self.offset) | {"centred": self.centred}


@dataclass
class LayerCalls:
    """The calls of norms and last matrices inside one layer, in their order."""

    given: Tensor
    norms: list[NormCall] = field(default_factory=list)
    outs: list[tuple[int, str, Tensor, Tensor | None]] = field(default_factory=list)  # when, part, what it made of which units

    def norm(self, module: nn.Module, before: Tensor, after: Tensor) -> None:
        """A norm was called."""
        if before.numel() == self.given.numel():  # those of single heads are another matter
            shape = self.given.shape
            self.norms.append((self.when, module, before.reshape(shape), after.reshape(shape)))

    def out(self, part: str, output: Tensor, units: Tensor | None) -> None:
        """The last matrix of a sub-layer was called."""
        if output.numel() == self.given.numel():
            self.outs.append((self.when, part, output.reshape(self.given.shape).clone(), units))  # Falcon adds to it in place

    @property
    def when(self) -> int:
        """How many calls there were."""
        return len(self.norms) + len(self.outs)


class Unclear(Exception):
    """Why the parts of a layer cannot be distinguished."""


def plan(calls: LayerCalls, result: Tensor) -> Plan:
    """The sub-layers of one layer, from the calls in it; they must add up to its result, to the bit."""
    x, sublayers = calls.given, []
    for when, part, out, _ in calls.outs:
        place, norm, entry = _where(calls, x, (when, out))
        if norm is None:
            raise Unclear(f"no norm was found at its {part}, or more is done to it before it is added.")
        sublayers.append(replace(_sublayer(part, place, norm), entry=_sublayer(part, "pre", entry) if entry else None))
        x = {"post": norm[3], "inside": x + norm[3], "both": x + norm[3]}.get(place, x + out)
    beside = [out for (_, _, out, _), sublayer in zip(calls.outs, sublayers, strict=True) if sublayer.place == "beside"]
    if not (_side_by_side(calls, result) if beside else torch.equal(x, result)):
        raise Unclear(_missing(calls, result))
    if len({ALIKE.get(sublayer.place, sublayer.place) for sublayer in sublayers}) > 1:
        raise Unclear("its norms are in different places.")
    return tuple(sublayers)


def _where(calls: LayerCalls, x: Tensor, out: tuple[int, Tensor]) -> tuple[str, NormCall | None, NormCall | None]:
    """Where the norm of a sub-layer stands that adds to x, that norm, and the one before it where there are two."""
    when, output = out
    earlier, later = [norm for norm in calls.norms if norm[0] < when], [norm for norm in calls.norms if norm[0] > when]
    before = next((norm for norm in earlier if torch.equal(norm[2], x)), None)
    inner = next((norm for norm in later if torch.equal(norm[2], output)), None)
    after = next((norm for norm in later if torch.equal(norm[2], x + output)), None)
    first = next((norm for norm in reversed(earlier) if torch.equal(norm[2], calls.given)), None)
    if before is not None and inner is not None:
        return "both", inner, before
    if before is not None:
        return "bare" if isinstance(before[1], nn.Identity) else "pre", before, None
    if inner is not None or after is not None:
        return ("inside", inner, None) if inner is not None else ("post", after, None)
    return "beside", first, None


def _side_by_side(calls: LayerCalls, result: Tensor) -> bool:
    """Whether sub-layers that read the same states add up to the result, in one of the orders in which models add."""
    x, outs = calls.given, [out for _, _, out, _ in calls.outs]
    if len(outs) != 2:
        return False
    first, other = outs
    return any(torch.equal(total, result) for total in (x + first + other, x + other + first, first + other + x))


def _missing(calls: LayerCalls, result: Tensor) -> str:
    """Why the calls do not add up."""
    parts = [part for _, part, _, _ in calls.outs]
    if "feed-forward" not in parts:
        return "the end of its feed-forward sub-layer was not found."
    return f"what {' and '.join(parts)} make does not add up to what a layer hands out."


def _sublayer(part: str, place: str, norm: NormCall) -> Sublayer:
    """How the norm of a sub-layer computes: of the formulas that are known, the one that gives what it gave."""
    _, module, x, normed = norm
    if place == "bare":
        return Sublayer(part, place, module, False, 0.0)
    x, normed = x.float(), normed.float()
    gaps = {(centred, offset): _gap(module, (x, normed), centred, offset) for centred in (True, False) for offset in (0.0, 1.0)}
    best = min(gaps, key=lambda kind: gaps[kind])
    if gaps[best] > (1e-4 if norm[3].dtype == torch.float32 else 3e-2):
        raise Unclear(f"the norm of its {part} ({type(module).__name__}) follows none of the formulas that are known.")
    return Sublayer(part, place, module, *best)


def _gap(module: nn.Module, pair: tuple[Tensor, Tensor], centred: bool, offset: float) -> float:
    """How far a formula is from what a norm made, as a share of its largest number."""
    x, normed = pair
    computed = _numbers(module, x, offset)
    mean = x.mean(-1, keepdim=True) if centred else torch.zeros_like(x[..., :1])
    deviation = ((x - mean).square().mean(-1, keepdim=True) + computed["epsilon"]).sqrt()
    again = (x - mean) / deviation * computed["gain"] + computed["shift"]
    return float((again - normed).abs().max() / normed.abs().max().clamp_min(1e-30))


def _numbers(module: nn.Module, like: Tensor, offset: float) -> dict[str, Any]:
    gain, shift = getattr(module, "weight", None), getattr(module, "bias", None)
    width = torch.ones(like.shape[-1], device=like.device)
    return {
        "gain": width if gain is None else gain.detach().float() + offset,
        "shift": width * 0 if shift is None else shift.detach().float(),
        "epsilon": next((float(getattr(module, name)) for name in EPSILONS if hasattr(module, name)), 1e-5),
    }


def tap_sublayers(name: tuple[str, int], calls: LayerCalls, planned: Plan) -> None:
    """Hand out the sub-layers of one layer, as our own models do."""
    x = calls.given
    norms = {id(module): (before, after) for _, module, before, after in calls.norms}
    outs = {part: (output, units) for _, part, output, units in calls.outs}
    for sublayer in planned:
        output, units = outs[sublayer.part]
        before, normed = norms[id(sublayer.norm)]
        out = normed if sublayer.place in ("inside", "both") else output
        total = x + out
        values = {"given": x, "out": out, "total": total, "norm_input": before, "normed": normed, **sublayer.numbers(x)}
        if sublayer.part == "feed-forward" and units is not None:
            tap.tap(TapPlace.UNITS, *name, units=units.reshape(*x.shape[:-1], -1))
        if sublayer.entry is not None:
            values["entry"] = {"normed": norms[id(sublayer.entry.norm)][1], **sublayer.entry.numbers(x)}
        tap.tap(TapPlace.BLOCK, *name, part=sublayer.part, norm_place=sublayer.place, **values)
        x = normed if sublayer.place == "post" else total


def norms_in(layer: nn.Module) -> Iterator[nn.Module]:
    """Everything in a layer that normalises."""
    for path, part in layer.named_modules():
        if "Norm" in type(part).__name__ or (isinstance(part, nn.Identity) and "norm" in path.lower()):
            yield part
