"""Scaled dot-product and multi-head attention, in six steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from explorer.errors import ChoiceError
from explorer.nn import tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import Config
from explorer.nn.fast_attention import How, at_once, shareable, takes_a_line
from explorer.nn.layers import NORMS
from explorer.nn.positions import NO_POSITIONS, POSITIONS, Position
from explorer.nn.products import fused_products
from explorer.nn.unpadded import Unpadded, attend_in_line

Made = TypeVar("Made")


@dataclass(frozen=True)
class AttentionInputs:
    """What the attention of one stack needs besides its input x.

    `attention_mask` [batch, key] is False at padding (None: there is none); `memory` [batch, key, dim] are the encoder's last hidden
    states, which cross-attention attends to; `cache` holds what earlier steps computed; keys and values are computed from `states` [batch,
    key, dim] instead of x (None: from x). With a `layout`, x holds real tokens only, [1, token, dim]: queries, keys and values of
    the stack itself are put back into rows.
    """

    position: Position
    attention_mask: Tensor | None = None
    memory: Tensor | None = None
    memory_mask: Tensor | None = None
    cache: KeyValueCache | None = None
    states: Tensor | None = None
    layout: Unpadded | None = None
    tables: dict[str, Any] = field(default_factory=dict, compare=False)  # positions, biases and masks, which all layers share

    def table(self, name: str, make: Callable[[], Made]) -> Made:
        """What the first layer of the stack made under this name; another one would make the same."""
        if name not in self.tables:
            self.tables[name] = make()
        made: Made = self.tables[name]
        return made


def attend(q: Tensor, k: Tensor, scale: float, bias: Tensor | None, allowed: Tensor) -> Tensor:
    """The attention weights of every query over every key: softmax(q·kᵀ · scale + bias, where allowed)."""
    scores = q @ k.transpose(-2, -1)  # 1  every query times every key    [batch, head, query, key]
    scaled = scores * scale  # 2  divided by √d
    biased = scaled if bias is None else scaled + bias  # 3  plus the position bias
    masked = biased.masked_fill(~allowed, -torch.inf)  # 4  masked scores are −∞
    return masked.softmax(dim=-1)  # 5  each row becomes weights that sum to one; step 6 is weights @ v


class MultiHeadAttention(nn.Module):
    """Multi-head attention. Its name is (stream, layer), which identifies what it hands to `tap`.

    In the encoder every position sees every other; in the decoder it sees itself and those before it; in cross-attention a position
    of the decoder sees the whole source.
    """

    fused = False  # whether queries, keys and values are one product when nobody watches: quicker, and equal but for rounding

    def __init__(self, config: Config, name: tuple[str, int]) -> None:
        super().__init__()
        dim, width = config.dim, config.dim // config.heads
        self.query, self.output = (nn.Linear(dim, dim, bias=config.bias) for _ in range(2))
        self.key, self.value = (nn.Linear(dim, width * config.groups, bias=config.bias) for _ in range(2))
        self.query_norm, self.key_norm = (
            NORMS[config.norm](width * count, config.norm_epsilon) if config.qk_norm else None
            for count in (config.heads, config.groups)
        )
        self.heads, self.groups, self.dropout = config.heads, config.groups, config.dropout
        self.name, self.stream = name, name[0]
        terms = 1 if self.stream == "cross" else POSITIONS[config.positions].terms
        self.scale = (terms * width) ** -0.5 if config.scaled else 1.0

    def forward(self, x: Tensor, inputs: AttentionInputs) -> Tensor:
        """From [batch, position, dim] to the same shape."""
        crossing = self.stream == "cross"
        position, attention_mask = (NO_POSITIONS, inputs.memory_mask) if crossing else (inputs.position, inputs.attention_mask)
        if inputs.layout is not None and not crossing and self._in_line(x, inputs, inputs.layout):
            return self._line(x, inputs, inputs.layout)
        begin = 0 if crossing or inputs.cache is None else _length(inputs.cache, self.name)
        wide = x.shape[1] if inputs.layout is None else inputs.layout.width
        every = inputs.table("queries", lambda: torch.arange(begin, begin + wide, device=x.device))
        position, q_at = self._placed(position, every)
        three = None if crossing else self._projections(x, inputs)
        q = self._queries(x, inputs.layout) if three is None else three[0]
        q = tap.edited("vectors", *self.name, position.rotate(q, q_at), "q")  # [batch, head, query, dim]
        k, v = self._keys_and_values(three, q_at, position, inputs)  # [batch, key/value head, key, dim]
        keys = inputs.table(f"keys {self.stream}", lambda: torch.arange(k.shape[2], device=x.device))
        _, k_at = self._placed(position, keys)
        bias = self._bias(position, (q_at, k_at), inputs)  # a scheme fills one slot: bias or score
        terms = {} if bias is not None else position.score(q, self.shared(k), (self._queries, self._keys), (q_at, k_at))
        tap.tap("terms", *self.name, terms=terms)
        for term in terms.values():
            bias = term if bias is None else bias + term
        if tap.watched():
            context = self._openly(q, k, v, bias, attention_mask)
        else:
            how = How(self.stream, self.scale, self._drop, inputs.table, shared=not terms and shareable(x))
            context = at_once((q, self.shared(k), self.shared(v)), bias, attention_mask, how)
        joined = context.transpose(1, 2).flatten(2)
        joined = joined if inputs.layout is None else inputs.layout.take(joined)
        out: Tensor = self.output(joined)  # heads concatenated, then W_O  [batch, position, dim]
        tap.tap("attention out", *self.name, output=out)
        return out

    def _placed(self, position: Position, where: Tensor) -> tuple[Position, Tensor]:
        """The scheme and the positions after edits; where an edit removes the positions, the scheme that does nothing."""
        places = tap.edited("places", *self.name, where)
        return (NO_POSITIONS, where) if places is None else (position, places)

    def _bias(self, position: Position, at: tuple[Tensor, Tensor], inputs: AttentionInputs) -> Tensor | None:
        """[batch or 1, head, query, key], also where a scheme adds the same to every head and says so by a 1."""

        def made() -> Tensor | None:
            bias = position.bias(*at)
            return bias if bias is None else bias.expand(-1, self.heads, -1, -1)

        return made() if tap.watched() or not shareable(at[0]) else inputs.table(f"bias {self.stream}", made)

    def _projections(self, x: Tensor, inputs: AttentionInputs, *, line: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values [batch, head, position, dim] of the stack itself; a `line` of texts stays one."""
        layout, states = None if line else inputs.layout, x if inputs.states is None else inputs.states
        if states is x and self.fused and not tap.watched():
            made = fused_products(x, (self.query, self.key, self.value))
            if made is not None:
                q, k, v = made if layout is None else layout.spread(torch.cat(made, -1)).split([m.shape[-1] for m in made], -1)
                return self._as_queries(q), self._as_keys(k), self._parted(v, self.groups)
        return self._queries(x, layout), self._keys(states, layout), self._values(states, layout)

    def _queries(self, x: Tensor, layout: Unpadded | None = None) -> Tensor:
        made = self.query(x)
        return self._as_queries(made if layout is None else layout.spread(made))

    def _as_queries(self, made: Tensor) -> Tensor:
        tap.tap("projected", *self.name, q=self._parted(made, self.heads))
        return self._parted(made if self.query_norm is None else self.query_norm(made), self.heads)

    def _keys(self, x: Tensor, layout: Unpadded | None = None) -> Tensor:
        made = self.key(x)
        return self._as_keys(made if layout is None else layout.spread(made))

    def _as_keys(self, made: Tensor) -> Tensor:
        tap.tap("projected", *self.name, k=self._parted(made, self.groups))
        return self._parted(made if self.key_norm is None else self.key_norm(made), self.groups)

    def _values(self, x: Tensor, layout: Unpadded | None = None) -> Tensor:
        made = self.value(x)
        return self._parted(made if layout is None else layout.spread(made), self.groups)

    @staticmethod
    def _parted(x: Tensor, heads: int) -> Tensor:
        """[batch, position, dim] as [batch, head, position, dim of a head]."""
        made: Tensor = x.unflatten(-1, (heads, -1)).transpose(1, 2)
        return made

    def _keys_and_values(
        self, own: tuple[Tensor, Tensor, Tensor] | None, where: Tensor, position: Position, inputs: AttentionInputs
    ) -> tuple[Tensor, Tensor]:
        """Those of the text itself (with the earlier ones from the cache), or in cross-attention those of the source."""
        if own is not None:
            k, v = self._set(position.rotate(own[1], where), own[2])
            return (k, v) if inputs.cache is None else inputs.cache.grown(self.name, k, v)
        if inputs.cache is not None and self.name in inputs.cache.kept:
            return inputs.cache.kept[self.name]
        assert inputs.memory is not None, "cross-attention needs the encoder's states"
        k, v = self._set(self._keys(inputs.memory), self._values(inputs.memory))
        return (k, v) if inputs.cache is None else inputs.cache.grown(self.name, k, v)

    def _set(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values after edits."""
        return tap.edited("vectors", *self.name, k, "k"), tap.edited("vectors", *self.name, v, "v")

    def shared(self, x: Tensor) -> Tensor:
        """Keys or values, once for every query head of their group."""
        return x if self.groups == self.heads else x.repeat_interleave(self.heads // self.groups, dim=1)

    def _in_line(self, x: Tensor, inputs: AttentionInputs, layout: Unpadded) -> bool:
        """Whether attention itself can run over texts that lie end to end: where nothing is added to scores, and there is a kernel."""
        plain = not inputs.position.by_head() and not self._drop and inputs.cache is None and not tap.watched()
        return plain and takes_a_line(x, self.query.out_features // self.heads, layout)

    def _line(self, x: Tensor, inputs: AttentionInputs, layout: Unpadded) -> Tensor:
        """The same with a kernel that knows where each text begins."""
        *both, v = self._projections(x, inputs, line=True)
        q, k = (inputs.position.rotate(made, layout.places) for made in both)
        context = attend_in_line(q, self.shared(k), self.shared(v), layout, self.scale, causal=self.stream == "decoder")
        made: Tensor = self.output(context.transpose(1, 2).flatten(2))
        return made

    @property
    def _drop(self) -> float:
        return self.dropout if self.training else 0.0

    def _openly(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, attention_mask: Tensor | None) -> Tensor:
        """The six steps one by one, with taps and edits."""
        scale = tap.edited("scale", *self.name, self.scale)
        allowed = self._edited_mask(self._allowed(q, k, attention_mask))
        weights = attend(q, self.shared(k), scale, bias, allowed)  # [batch, head, query, key]
        weights = tap.edited("weights", *self.name, weights, allowed)
        context = tap.edited(
            "context", *self.name, weights @ self.shared(v)
        )  # 6  the values, weighted  [batch, head, query, dim]
        tap.tap("attention", *self.name, q=q, k=k, v=v, scale=scale, bias=bias, allowed=allowed, weights=weights)
        return context

    def _allowed(self, q: Tensor, k: Tensor, attention_mask: Tensor | None) -> Tensor:
        """The attention mask [batch or 1, 1, query, key]: the one difference between an encoder and a decoder."""
        queries, keys = q.shape[2], k.shape[2]
        allowed = torch.ones(queries, keys, dtype=torch.bool, device=q.device)
        if self.stream == "decoder":
            allowed = allowed.tril(diagonal=keys - queries)
        return allowed[None, None] if attention_mask is None else allowed & attention_mask[:, None, None, :]

    def _edited_mask(self, allowed: Tensor) -> Tensor:
        shape = allowed.shape
        allowed = torch.as_tensor(tap.edited("allowed", *self.name, allowed), device=allowed.device)
        if allowed.shape[-2:] != shape[-2:]:
            given, needed = (" × ".join(map(str, s[-2:])) for s in (allowed.shape, shape))
            raise ChoiceError(
                f"The mask is {given}, but this text needs {needed}: a row for each query, a column for each key."
            )
        if not bool(allowed.any(dim=-1).all()):
            raise ChoiceError("A row of the mask allows nothing. Let every position see at least one, if only itself.")
        return allowed.expand(*shape)


def _length(cache: KeyValueCache, name: tuple[str, int]) -> int:
    return cache.kept[name][0].shape[2] if name in cache.kept else 0
