"""Products that take less when nobody watches: one for several layers of the same input, and a loss that never holds all scores.

Each is equal to the plain way within its rounding. A run asks for them (`lean=True`), and a trace never sees them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from explorer.nn.cross_entropy import NOT_SCORED, loss_and_slope

SCORES = 1 << 24  # so many scores are held at once


def fused_products(x: Tensor, layers: tuple[nn.Module, ...]) -> tuple[Tensor, ...] | None:
    """What several linear layers make of x, by one product; None where one of them is something else, such as an adapter."""
    plain = [layer for layer in layers if type(layer) is nn.Linear]
    if len(plain) < len(layers):
        return None
    biases: list[Tensor] = [layer.bias for layer in plain if layer.bias is not None]
    bias = torch.cat(biases) if len(biases) == len(plain) else None
    made = functional.linear(x, torch.cat([layer.weight for layer in plain]), bias)
    parts: tuple[Tensor, ...] = made.split([layer.out_features for layer in plain], -1)
    return parts


def chunked_cross_entropy(
    states: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, smoothing: float = 0.0, scores: int = SCORES
) -> Tensor:
    """The cross-entropy of `labels` [row] under linear(states, weight, bias), a few rows at a time.

    The gradients are made together with the loss, so that at most so many `scores` are ever held, where the plain way holds
    [row, vocab] several times.
    """
    kind = torch.get_autocast_dtype(states.device.type) if torch.is_autocast_enabled(states.device.type) else states.dtype
    rows = max(1, scores // len(weight))
    with torch.autocast(states.device.type, enabled=False):
        made: Tensor = _ChunkedCrossEntropy.apply(states, weight, bias, labels, smoothing, rows, kind)
    return made


class _ChunkedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(  # noqa: PLR0913  as autograd hands them over
        ctx: Any,
        states: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        smoothing: float,
        rows: int,
        kind: torch.dtype,
    ) -> Tensor:
        count, narrow = (labels != NOT_SCORED).sum(), weight.to(kind)
        by_states, by_weight = torch.empty_like(states), torch.zeros_like(weight)
        by_bias = None if bias is None else torch.zeros_like(bias)
        total = torch.zeros((), device=states.device)
        for begin in range(0, len(states), rows):
            part = slice(begin, begin + rows)
            given = states[part].to(kind)
            scores = (given @ narrow.T).to(torch.promote_types(weight.dtype, torch.float32))
            scores = scores if bias is None else scores.add_(bias)
            loss, wide = loss_and_slope(scores, labels[part], count, smoothing)
            total = total + loss
            slope = wide.to(kind)
            by_states[part] = slope @ narrow
            by_weight += slope.T @ given
            if by_bias is not None:
                by_bias += wide.sum(0)
        ctx.made = by_states, by_weight, by_bias
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        made = [None if grad is None else grad.mul_(above[0]) for grad in ctx.made]
        del ctx.made  # they are scaled now: a second pass fails loudly
        return (*made, None, None, None, None)
