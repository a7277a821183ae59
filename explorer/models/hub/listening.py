"""How a Hugging Face model hands out what it computes: one attention function that does what its own does, and tells of it.

`transformers` lets a function be registered under a name, and calls it in every attention layer of the models that go through its
`AttentionInterface`. Ours hands the work to the model's own function (`eager_attention_forward`), so nothing that is shown can
differ from what the model computes; an edit changes what goes in or what comes out. A mask function must be registered under the
same name: without one the models get no mask at all, and see the future.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from explorer.models.hub.sublayers import LayerCalls, Plan
from explorer.nn import tap
from explorer.records import TapPlace

NAME = "explorer"
CROSSING = re.compile(r"encoder_attn|cross_?attention|EncDecAttention", re.IGNORECASE)
Eager = Callable[..., tuple[Tensor, Tensor]]


@dataclass
class Pass:
    """One forward pass that is watched: where each attention belongs, and how far each stream has come."""

    streams: dict[int, str]  # by the id of the module
    projections: dict[int, int] = field(default_factory=dict)  # from an attention to the module that is its W_O
    layer_counts: dict[str, int] = field(default_factory=dict)
    states: dict[str, int] = field(default_factory=dict)
    open: dict[int, tuple[str, int]] = field(default_factory=dict)  # attentions whose W_O is still to come
    inside: LayerCalls | None = None  # the layer that is running
    plans: dict[tuple[str, int], Plan] | None = None  # its sub-layers, by stream and layer; None while they are being found
    results: dict[tuple[str, int], tuple[LayerCalls, Tensor]] = field(default_factory=dict)  # then: its calls, and its result
    turned: dict[int, dict[str, Tensor]] = field(default_factory=dict)  # by attention: what W_Q and W_K made
    parted: bool = False  # whether one matrix made all three, and it was found which part of that is which

    def next(self, module: nn.Module) -> tuple[str, int]:
        """The stream and the layer of an attention, counted in the order of the calls (ALBERT calls one module again and again)."""
        stream = self.streams[id(module)]
        layer = self.layer_counts.get(stream, 0)
        self.layer_counts[stream] = layer + 1
        return stream, layer


current: ContextVar[Pass | None] = ContextVar("explorer_pass", default=None)


@cache
def register() -> None:
    """Tell transformers of our attention function and of its mask, once."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, recorded_attention)
    AttentionMaskInterface.register(NAME, eager_mask)


def eager_of(module: nn.Module) -> Eager:
    """The attention function that the file of this class brings along."""
    for kind in type(module).__mro__:
        function = getattr(sys.modules.get(kind.__module__), "eager_attention_forward", None)
        if function is not None:
            eager: Eager = function
            return eager
    raise LookupError(f"{type(module).__name__} brings no eager_attention_forward along")


def recorded_attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, **given: Any
) -> tuple[Tensor, Tensor]:
    """The model's own attention, passed to whoever listens: output [batch, query, head, dim] and weights [batch, head, query, key]."""
    now = current.get()
    if now is None or id(module) not in now.streams:
        return eager_of(module)(module, query, key, value, mask, **given)
    name = now.next(module)
    call = AttentionCall(module, query, key, value, mask, given)
    if tap.edits_on(*name):
        out, weights = call.edited(name)
    else:
        out, weights = call.outcome()
    made_by = now.turned.pop(id(module), {})
    if "qkv" in made_by:
        made_by = fused_parts(made_by["qkv"], query, key, value)
        now.parted = bool(made_by)
    for which, product in made_by.items() if call.before == 1.0 else ():  # elsewhere a factor is all that comes between
        of = query if which == "q" else key
        tap.tap(TapPlace.PROJECTED, *name, **{which: product.unflatten(-1, (-1, of.shape[-1])).transpose(1, 2)})
    tap.tap(TapPlace.ATTENTION, *name, **call.stages(), weights=weights)
    if id(module) in now.projections:
        now.open[now.projections[id(module)]] = name
    else:
        tap.tap(TapPlace.ATTENTION_OUT, *name, output=None)
    return out, weights


def fused_parts(product: Tensor, query: Tensor, key: Tensor, value: Tensor) -> dict[str, Tensor]:
    """The queries and keys in what one matrix made of all three, before they are turned; nothing where no order of them is found.

    Nothing turns a value: the order in which the values are found again, to the bit, is the right one.
    """
    heads, values, dim = query.shape[1], key.shape[1], query.shape[-1]
    if product.shape[-1] != (heads + 2 * values) * dim:
        return {}
    sizes = (heads * dim, values * dim, values * dim)
    each = product.unflatten(-1, (values, -1, dim))  # or: the queries of a group, its key, its value, then the next group
    grouped = (each[..., :-2, :].flatten(-3), each[..., -2, :].flatten(-2), each[..., -1, :].flatten(-2))
    for q, k, v in (product.split(sizes, -1), grouped):
        if torch.equal(v.unflatten(-1, (values, dim)).transpose(1, 2), value):
            return {"q": q, "k": k}
    return {}


class AttentionCall:
    """One call of an attention function: what it was given, under our names, and what edits make of that."""

    def __init__(
        self, module: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, given: dict[str, Any]
    ) -> None:
        self.module, self.mask, self.given = module, mask, given
        self.q, self.k, self.v = query, key, value
        passed = given.get("scaling")
        passed = float(query.shape[-1] ** -0.5 if passed is None else passed)
        own = getattr(module, "scaling", None)
        self.before = float(own) if passed == 1.0 and isinstance(own, float) else 1.0  # some multiply q by the factor before
        self.scale = passed * self.before

    def outcome(self) -> tuple[Tensor, Tensor]:
        """What the model's own function makes of it."""
        return eager_of(self.module)(self.module, self.q, self.k, self.v, self.mask, **self.given)

    def edited(self, name: tuple[str, int]) -> tuple[Tensor, Tensor]:
        """The same with the edits that are in force at this place; where they change nothing, to the bit the same."""
        self._set_vectors(name)
        scale = tap.edited(TapPlace.SCALE, *name, self.scale)
        if scale != self.scale:
            self.scale = scale
            self.given["scaling"] = scale / self.before
        if self.given.get("position_bias") is not None:
            self.given["position_bias"] = _moved(self.given["position_bias"], name)
        allowed = self.allowed
        changed = tap.edited(TapPlace.ALLOWED, *name, allowed)
        if changed is not allowed:
            seen = torch.as_tensor(changed, device=self.q.device).expand(1, 1, *allowed.shape[-2:])
            low = torch.finfo(self.q.dtype).min
            self.mask = torch.zeros(seen.shape, dtype=self.q.dtype, device=self.q.device).masked_fill(~seen, low)
        out, weights = self.outcome()
        new_weights = tap.edited(TapPlace.WEIGHTS, *name, weights, self.allowed)
        if new_weights is not weights:
            values = self.v.repeat_interleave(self.q.shape[1] // self.v.shape[1], dim=1)
            weights, out = new_weights, (new_weights.to(values.dtype) @ values).transpose(1, 2).contiguous()
        context = out.transpose(1, 2)  # [batch, head, query, dim]
        new_context = tap.edited(TapPlace.CONTEXT, *name, context)
        return out if new_context is context else new_context.transpose(1, 2).contiguous(), weights

    def _set_vectors(self, name: tuple[str, int]) -> None:
        """q, k and v after edits; q as it was before any factor."""
        plain = self.q if self.before == 1.0 else self.q / self.before
        q = tap.edited(TapPlace.VECTORS, *name, plain, "q")
        self.q = self.q if q is plain else q * self.before
        self.k, self.v = tap.edited(TapPlace.VECTORS, *name, self.k, "k"), tap.edited(TapPlace.VECTORS, *name, self.v, "v")

    @property
    def allowed(self) -> Tensor:
        """Who may see whom: [batch or 1, 1, query, key]."""
        if self.mask is None:
            return torch.ones(1, 1, self.q.shape[2], self.k.shape[2], dtype=torch.bool, device=self.q.device)
        mask = self.mask[..., : self.k.shape[2]]
        return mask if mask.dtype == torch.bool else mask > torch.finfo(mask.dtype).min / 2

    def stages(self) -> dict[str, Any]:
        """What a record holds of it; q as it was before any factor."""
        sinks = self.given.get("s_aux")
        sinks = getattr(self.module, "sinks", None) if sinks is None else sinks
        return {
            "q": self.q if self.before == 1.0 else self.q / self.before,
            "k": self.k,
            "v": self.v,
            "scale": self.scale,
            "bias": self.given.get("position_bias"),
            "softcap": self.given.get("softcap"),
            "sinks": sinks if isinstance(sinks, Tensor) else None,
            "allowed": self.allowed,
        }


def _moved(bias: Tensor, name: tuple[str, int]) -> Tensor:
    """What distances add [.., query, key], for words that are given another position, or none."""
    where = torch.arange(bias.shape[-1], device=bias.device)
    places = tap.edited(TapPlace.POSITIONS, *name, where)
    if places is None:
        return bias * 0
    return bias if places is where or bias.shape[-1] != bias.shape[-2] else bias[..., places, :][..., places]
