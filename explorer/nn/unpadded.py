"""Texts end to end without padding: layers compute real tokens only, and attention stays inside each text.

A batch is as wide as its longest text, so a quarter to a third of it is padding. Here the stack takes the padding out once, after
the embeddings, and puts it back after its last layer. Positions begin again with each text, and none attends to another: a text's
states are those that it has alone. On a GPU attention itself runs over the line of texts (`varlen_attn`, the flash kernel, which
knows no mask); elsewhere queries, keys and values are put back into rows for it, where they take little of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


@dataclass(frozen=True)
class Unpadded:
    """Where the real tokens of a padded batch are.

    `mask` [batch, position] is False at padding; `kept` [token] are the numbers of the tokens that are computed, counted through all
    rows, the real ones and perhaps some more; `offsets` [batch + 1] says where each text begins among the real ones.
    """

    mask: Tensor
    kept: Tensor
    offsets: Tensor

    @property
    def width(self) -> int:
        """How many positions a row has, padding included."""
        return self.mask.shape[1]

    @property
    def whole(self) -> bool:
        """Whether the kept tokens are the real ones and no others, as `varlen_attn` needs them."""
        return self.kept.is_cuda

    @cached_property
    def places(self) -> Tensor:
        """The position of each kept token in its own text [token]."""
        return self.kept % self.width

    def take(self, x: Tensor) -> Tensor:
        """The kept tokens as one row: from [batch, position, dim] to [1, token, dim]."""
        rows = x.flatten(0, 1)
        if torch.compiler.is_compiling():
            return rows.index_select(0, self.kept)[None]
        made: Tensor = _Take.apply(rows, self.kept)
        return made[None]

    def spread(self, x: Tensor) -> Tensor:
        """Each token at its place again, and 0 at padding: from [1, token, dim] to [batch, position, dim]."""
        compiling = torch.compiler.is_compiling()
        count = self.mask.numel()
        made: Tensor = _put(x[0], self.kept, count) if compiling else _Spread.apply(x[0], self.kept, count)
        rows: Tensor = made.unflatten(0, tuple(self.mask.shape))
        return rows


class _Take(torch.autograd.Function):
    """Some rows of a table. No row comes twice, so that nothing need be added up on the way back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor) -> Tensor:
        ctx.kept, ctx.count = kept, len(x)
        return x.index_select(0, kept)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None]:
        return _put(above[0], ctx.kept, ctx.count), None


class _Spread(torch.autograd.Function):
    """Rows put back into a table."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, kept: Tensor, count: int) -> Tensor:
        ctx.kept = kept
        return _put(x, kept, count)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None, None]:
        return above[0].index_select(0, ctx.kept), None, None


def _put(x: Tensor, kept: Tensor, count: int) -> Tensor:
    return x.new_zeros(count, x.shape[1]).index_copy_(0, kept, x)


def attend_in_line(q: Tensor, k: Tensor, v: Tensor, layout: Unpadded, scale: float, *, causal: bool) -> Tensor:
    """Attention of texts that lie end to end, each inside itself: from [1, head, token, dim] to the same shape."""
    from torch.nn.attention import varlen  # late: a processor has no such kernel

    q, k = q.to(v.dtype), k.to(v.dtype)  # in mixed precision turned ones come back wide
    first, second, third = (x[0].transpose(0, 1).contiguous() for x in (q, k, v))  # [token, head, dim]
    window = (-1, 0) if causal else (-1, -1)
    starts, longest = layout.offsets, layout.width
    made = varlen.varlen_attn(first, second, third, starts, starts, longest, longest, scale=scale, window_size=window)
    assert isinstance(made, Tensor)
    return made.transpose(0, 1)[None]
