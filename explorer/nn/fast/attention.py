"""Attention in one call of PyTorch: what training and generation run. `attend` in `nn/attention.py` names its twins."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional


def fused_attention(
    qkv: tuple[Tensor, Tensor, Tensor],
    bias: Tensor | None,
    visible: Tensor | None,
    *,
    scale: float,
    causal: bool,
    dropout: float,
) -> Tensor:
    """softmax(q·kᵀ · scale + bias, where allowed) · v: from three [batch, head, position, dim] to contexts of the shape of q.

    `visible` [batch, key] is False at padding. A decoder needs none: padding is at the end, where no query that counts sees it.
    """
    q, k, v = qkv
    q, k = q.to(v.dtype), k.to(v.dtype)  # in mixed precision rotated ones come back in float32
    queries, keys, slow = q.shape[2], k.shape[2], _is_slow_back(q)
    if causal and bias is None and 1 < queries == keys and not slow:
        return functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True, scale=scale)
    allowed = None if visible is None else visible[:, None, None]
    if causal:
        allowed = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries) if queries > 1 else None
    if bias is not None and allowed is not None:
        bias, allowed = bias.masked_fill(~allowed, -torch.inf), None
    if slow:
        return _two_products(q * scale, k, v, bias, allowed, dropout)
    mask = allowed if bias is None else bias.to(q.dtype)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scale)


def _two_products(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, allowed: Tensor | None, dropout: float) -> Tensor:
    """The same by two matrix products and a softmax between them."""
    scores = q @ k.transpose(-2, -1)
    scores = scores if bias is None else scores + bias
    scores = scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
    weights = scores.softmax(dim=-1, dtype=torch.float32)  # slow and coarse in bfloat16
    return functional.dropout(weights.to(v.dtype), dropout, dropout > 0) @ v


def _is_slow_back(q: Tensor) -> bool:
    """Whether gradients through PyTorch's own call would be slow: on a processor in bfloat16 they take six times as long."""
    return torch.is_grad_enabled() and q.dtype == torch.bfloat16 and q.device.type == "cpu"


def shifted(x: Tensor, project: Callable[[Tensor], Tensor], table: Tensor, row: Tensor) -> Tensor:
    """The product of position i with the row of the table at [i, j] of `row`: [batch, head, i, j], as `positions.looked_up` gives it.

    A line of `row` is the one above moved by one, so few rows of the table are needed, and the products are read along their
    diagonals: with one number less a line, they lie below each other. Looking up is what takes longest on a processor.
    """
    lines, columns = row.shape
    few = table.index_select(0, torch.cat((row[:, 0].flip(0), row[0, 1:])))  # the last line comes first
    every = (x @ for_all_heads(project(few[None]), x)).contiguous()  # [batch, head, i, lines + columns − 1]
    if lines == 1:
        return every
    less = every.shape[-1] - 1
    diagonals: Tensor = every.flatten(-2).narrow(-1, lines - 1, lines * less).unflatten(-1, (lines, less))
    return diagonals[..., :columns]


def for_all_heads(projected: Tensor, x: Tensor) -> Tensor:
    """Projections of a table, once for every head of x (grouped heads share a key), ready to be multiplied from the right."""
    return projected.repeat_interleave(x.shape[1] // projected.shape[1], dim=1).transpose(-1, -2)
