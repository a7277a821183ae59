"""Scaled dot-product and multi-head attention, in six steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from explorer.errors import ChoiceError
from explorer.nn import fast, tap
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import Config
from explorer.nn.layers import NORMS
from explorer.nn.positions import NO_POSITIONS, POSITIONS, Position, Positions
from explorer.records import TapPlace


@dataclass(frozen=True)
class AttentionInputs:
    """What the attention of one stack needs besides its input x.

    `positions` are those of the queries and of the keys; `attention_mask` [batch, key] is False at padding (None: there is none);
    `memory` [batch, key, dim] are the encoder's last hidden states, which cross-attention attends to; `cache` holds what earlier
    steps computed; keys and values are computed from `key_value_states` [batch, key, dim] instead of x (None: from x).
    """

    position: Position
    positions: Positions
    attention_mask: Tensor | None = None
    memory: Tensor | None = None
    memory_mask: Tensor | None = None
    cache: KeyValueCache | None = None
    key_value_states: Tensor | None = None


def consecutive(count: int, cached: int = 0, device: torch.device | None = None) -> tuple[Tensor, Tensor]:
    """The positions of `count` queries after those in the cache, and of all keys: the cached ones and these."""
    positions = torch.arange(cached + count, device=device)
    return positions[cached:], positions


def attend(q: Tensor, k: Tensor, scale: float, bias: Tensor | None, allowed: Tensor) -> Tensor:
    """The attention weights of every query over every key: softmax(q·kᵀ · scale + bias, where allowed).

    The formula is written in seven places. `tests/test_attention.py` compares four: here, `nn/fast/attention.py` (fused),
    `records/trace.py` (NumPy, derived from a record) and `views/board/js/derive.js` (in the browser). To this one are held the
    model that runs in a page (`views/live/js/transformer.js`, by `tests/test_live.py`), the one that is trained in a page, with
    its gradients (`#attention` in `views/learning/js/network.js` and the tape in `attention.js`, by `tests/test_backward.py`),
    and the step of a decoder on preallocated arrays (`nn/fast/numpy_decoder.py`, by `tests/test_step.py`). The record and the
    board also have what only some of Hugging Face's models have: scores with a cap, and a sink in the softmax.
    """
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
        is_cross = self.stream == "cross"
        scheme, positions = (NO_POSITIONS, inputs.positions) if is_cross else self._edited_positions(inputs)
        mask = inputs.memory_mask if is_cross else inputs.attention_mask
        q = scheme.rotate(self._queries(x), positions[0])  # W_Q x  [batch, head, query, dim]
        q = tap.edited(TapPlace.VECTORS, *self.name, q, "q")
        k, v = self._keys_values(x, scheme, positions[0], inputs)  # W_K x, W_V x  [batch, key/value head, key, dim]
        bias = None if is_cross else self._bias(scheme, q, k, positions)  # [batch or 1, head, query, key]
        if fast.chosen():
            qkv, dropout = (q, self.repeat_kv(k), self.repeat_kv(v)), self.dropout if self.training else 0.0
            context = fast.fused_attention(qkv, bias, mask, scale=self.scale, causal=self.stream == "decoder", dropout=dropout)
        else:
            context = self._step_by_step(q, k, v, bias, mask)  # [batch, head, query, dim]
        out: Tensor = self.output(context.transpose(1, 2).flatten(2))  # heads concatenated, then W_O  [batch, position, dim]
        tap.tap(TapPlace.ATTENTION_OUT, *self.name, output=out)
        return out

    def _step_by_step(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, mask: Tensor | None) -> Tensor:
        """The six steps one by one, with taps and edits."""
        scale = tap.edited(TapPlace.SCALE, *self.name, self.scale)
        allowed = self._edited_mask(self._allowed(q, k, mask))
        weights = attend(q, self.repeat_kv(k), scale, bias, allowed)  # steps 1 to 5  [batch, head, query, key]
        weights = tap.edited(TapPlace.WEIGHTS, *self.name, weights, allowed)
        context = weights.to(v.dtype) @ self.repeat_kv(v)  # 6  the values, weighted  [batch, head, query, dim]
        context = tap.edited(TapPlace.CONTEXT, *self.name, context)
        tap.tap(TapPlace.ATTENTION, *self.name, q=q, k=k, v=v, scale=scale, bias=bias, allowed=allowed, weights=weights)
        return context

    def _queries(self, x: Tensor) -> Tensor:
        return self._normed(self.query(x), self.query_norm, self.heads, "q")

    def _keys(self, x: Tensor) -> Tensor:
        return self._normed(self.key(x), self.key_norm, self.groups, "k")

    def _normed(self, projected: Tensor, norm: nn.Module | None, heads: int, which: str) -> Tensor:
        """Queries or keys by head; in some models all heads together are normalised first."""
        handed: dict[str, Any] = {which: self._by_head(projected, heads)}
        tap.tap(TapPlace.PROJECTED, *self.name, **handed)
        return self._by_head(projected if norm is None else norm(projected), heads)

    @staticmethod
    def _by_head(x: Tensor, heads: int) -> Tensor:
        """[batch, position, dim] as [batch, head, position, dim of a head]."""
        by_head: Tensor = x.unflatten(-1, (heads, -1)).transpose(1, 2)
        return by_head

    def _keys_values(self, x: Tensor, scheme: Position, positions: Tensor, inputs: AttentionInputs) -> tuple[Tensor, Tensor]:
        """Those of the text, with the earlier ones from the cache; in cross-attention those of the source, computed once."""
        cache, source = inputs.cache, x if inputs.key_value_states is None else inputs.key_value_states
        if self.stream == "cross":
            if cache is not None and self.name in cache.entries:
                return cache.entries[self.name]
            assert inputs.memory is not None, "cross-attention needs the encoder's states"
            source = inputs.memory
        k = scheme.rotate(self._keys(source), positions)
        v = self._by_head(self.value(source), self.groups)
        k, v = tap.edited(TapPlace.VECTORS, *self.name, k, "k"), tap.edited(TapPlace.VECTORS, *self.name, v, "v")
        return (k, v) if cache is None else cache.update(self.name, k, v)

    def repeat_kv(self, x: Tensor) -> Tensor:
        """Keys or values, once for every query head of their group."""
        return x if self.groups == self.heads else x.repeat_interleave(self.heads // self.groups, dim=1)

    def _bias(self, scheme: Position, q: Tensor, k: Tensor, positions: Positions) -> Tensor | None:
        """What a scheme adds to the scores: independent of the tokens, or the sum of its terms, which it fills instead."""
        bias = scheme.bias(*positions)
        if bias is not None:
            bias = bias.expand(-1, self.heads, -1, -1)  # also where every head gets the same
        terms = {} if bias is not None else scheme.score(q, self.repeat_kv(k), (self._queries, self._keys), positions)
        tap.tap(TapPlace.TERMS, *self.name, terms=terms)
        for term in terms.values():
            bias = term if bias is None else bias + term
        return bias

    def _edited_positions(self, inputs: AttentionInputs) -> tuple[Position, Positions]:
        """The scheme and the positions after edits; where an edit removes the positions, the scheme that does nothing."""
        queries, keys = (tap.edited(TapPlace.POSITIONS, *self.name, positions) for positions in inputs.positions)
        return (NO_POSITIONS, inputs.positions) if queries is None else (inputs.position, (queries, keys))

    def _allowed(self, q: Tensor, k: Tensor, attention_mask: Tensor | None) -> Tensor:
        """The attention mask [batch or 1, 1, query, key]: the one difference between an encoder and a decoder."""
        queries, keys = q.shape[2], k.shape[2]
        allowed = torch.ones(queries, keys, dtype=torch.bool, device=q.device)
        if self.stream == "decoder":
            allowed = allowed.tril(diagonal=keys - queries)
        return allowed[None, None] if attention_mask is None else allowed & attention_mask[:, None, None, :]

    def _edited_mask(self, allowed: Tensor) -> Tensor:
        shape = allowed.shape
        allowed = torch.as_tensor(tap.edited(TapPlace.ALLOWED, *self.name, allowed), device=allowed.device)
        if allowed.shape[-2:] != shape[-2:]:
            given, needed = (" × ".join(map(str, s[-2:])) for s in (allowed.shape, shape))
            raise ChoiceError(
                f"The mask is {given}, but this text needs {needed}: a row for each query, a column for each key."
            )
        if not bool(allowed.any(dim=-1).all()):
            raise ChoiceError("A row of the mask allows nothing. Let every position see at least one, if only itself.")
        return allowed.expand(*shape)
