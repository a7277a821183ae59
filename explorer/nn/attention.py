"""Attention, in the six steps of the lecture."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer import tap
from explorer.errors import ChoiceError
from explorer.nn.config import Config
from explorer.nn.positions import Position


def attend(q: Tensor, k: Tensor, scale: float, bias: Tensor | None, allowed: Tensor) -> Tensor:
    """The attention weights of every query over every key: softmax(q·kᵀ · scale + bias, where allowed)."""
    scores = q @ k.transpose(-2, -1)  # 1  every query meets every key    [batch, head, query, key]
    scaled = scores * scale  # 2  divided by √d
    biased = scaled if bias is None else scaled + bias  # 3  what the positions add
    masked = biased.masked_fill(~allowed, -torch.inf)  # 4  who may not be seen is −∞
    return masked.softmax(dim=-1)  # 5  each row becomes shares that sum to one; step 6 is weights @ v


class Attention(nn.Module):
    """Multi-head self-attention. Its name is (stream, layer), so that what it hands out can be told apart."""

    def __init__(self, config: Config, name: tuple[str, int], *, terms: int = 1) -> None:
        super().__init__()
        dim, width = config.dim, config.dim // config.heads
        self.query, self.output = (nn.Linear(dim, dim, bias=config.bias) for _ in range(2))
        self.key, self.value = (nn.Linear(dim, width * config.groups, bias=config.bias) for _ in range(2))
        self.heads, self.groups, self.causal, self.dropout = config.heads, config.groups, config.causal, config.dropout
        self.scale = (terms * width) ** -0.5 if config.scaled else 1.0
        self.stream, self.layer = name

    def forward(self, x: Tensor, position: Position, real: Tensor | None) -> Tensor:
        """From [batch, position, dim] to the same shape. `real` [batch, key] is False at padding; None means no padding."""
        where = torch.arange(x.shape[1], device=x.device)
        q = position.turn(self._queries(x), where)  # [batch, head, query, dim]
        k = position.turn(self._keys(x), where)
        v = self.value(x).unflatten(-1, (self.groups, -1)).transpose(1, 2)
        parts = [position.bias(where, where), position.score(q, k, self._queries, self._keys)]
        bias = next(
            (part for part in parts if part is not None), None
        )  # a scheme fills one slot  [batch or 1, head, query, key]
        context = (self._openly if tap.watched() else self._fast)(q, k, v, bias, real)
        out = self.output(context.transpose(1, 2).flatten(2))  # heads side by side, then W_O  [batch, position, dim]
        tap.tap("attention out", self.stream, self.layer, output=out)
        return out

    def _queries(self, x: Tensor) -> Tensor:
        return self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)  # [batch, head, position, dim]

    def _keys(self, x: Tensor) -> Tensor:
        return self.key(x).unflatten(-1, (self.groups, -1)).transpose(1, 2)

    def _shared(self, x: Tensor) -> Tensor:
        """Keys or values, once for every query head of their group."""
        return x if self.groups == self.heads else x.repeat_interleave(self.heads // self.groups, dim=1)

    def _fast(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, real: Tensor | None) -> Tensor:
        """All six steps at once, when nobody watches."""
        drop = self.dropout if self.training else 0.0
        mask: Tensor | None = None
        if bias is not None or (real is not None and not self.causal):
            mask = self._allowed(q, real)
            if bias is not None:
                mask = bias.masked_fill(~mask, -torch.inf)
        causal = self.causal and mask is None
        return functional.scaled_dot_product_attention(
            q, self._shared(k), self._shared(v), attn_mask=mask, dropout_p=drop, is_causal=causal, scale=self.scale
        )

    def _openly(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, real: Tensor | None) -> Tensor:
        """The six steps one by one, handing each out and letting edits in."""
        name = (self.stream, self.layer)
        scale = tap.edited("scale", *name, self.scale)
        allowed = self._edited_mask(self._allowed(q, real))
        weights = tap.edited("weights", *name, attend(q, self._shared(k), scale, bias, allowed))  # [batch, head, query, key]
        context = tap.edited("context", *name, weights @ self._shared(v))  # 6  the values, weighed   [batch, head, query, dim]
        tap.tap("attention", *name, q=q, k=k, v=v, scale=scale, bias=bias, allowed=allowed, weights=weights)
        return context

    def _allowed(self, q: Tensor, real: Tensor | None) -> Tensor:
        """Who may see whom: [batch or 1, 1, query, key]. The one difference between an encoder and a decoder."""
        n = q.shape[2]
        allowed = torch.ones(n, n, dtype=torch.bool, device=q.device)
        if self.causal:
            allowed = allowed.tril()
        return allowed[None, None] if real is None else allowed & real[:, None, None, :]

    def _edited_mask(self, allowed: Tensor) -> Tensor:
        shape = allowed.shape
        allowed = torch.as_tensor(tap.edited("allowed", self.stream, self.layer, allowed), device=allowed.device)
        if allowed.shape[-2:] != shape[-2:]:
            raise ChoiceError(
                f"The mask is {tuple(allowed.shape)}, but this text needs {shape}: one row and one column for each piece."
            )
        if not bool(allowed.any(dim=-1).all()):
            raise ChoiceError("A row of the mask allows nothing. Let every position see at least one, if only itself.")
        return allowed.expand(*shape)
