"""The six steps of attention in one call, for whoever does not watch them: what training and generation run.

`nn/attention.py` computes the same step by step. Here is only what makes it quick: which of PyTorch's kernels is asked, and what is
added to the scores (a bias, and −∞ where nothing may be seen), once for all layers of a stack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from explorer.nn.unpadded import Unpadded

Table = Callable[[str, Callable[[], Any]], Any]  # hands out what the first layer of a stack made under a name
WIDEST_HEAD, ROUND_HEAD = 256, 8  # what the kernel for texts end to end takes
AMPERE = (8, 0)  # the first kind of GPU that has it


@dataclass(frozen=True)
class How:
    """What a layer says of its attention: its stream, the factor of its scores, the share of weights that is dropped.

    `table` hands out what the stack has made already; `shared` says that the bias is that of every layer of the stack.
    """

    stream: str
    scale: float
    drop: float
    table: Table
    shared: bool


def at_once(qkv: tuple[Tensor, Tensor, Tensor], bias: Tensor | None, attention_mask: Tensor | None, how: How) -> Tensor:
    """All six steps: queries, keys and values [batch, head, position, dim] to contexts of the same shape."""
    q, k, v = qkv
    q, k = q.to(v.dtype), k.to(v.dtype)  # in mixed precision turned ones come back wide
    slow, causal = slow_back(q), how.stream == "decoder" and q.shape[2] > 1
    if causal and bias is None and q.shape[2] == k.shape[2] and not slow:
        return functional.scaled_dot_product_attention(q, k, v, dropout_p=how.drop, is_causal=True, scale=how.scale)

    def added() -> Tensor | None:
        """The bias and the mask, as the kernel takes them."""
        seen = _seen(q, k, attention_mask, how)
        made = seen if bias is None else bias if seen is None else bias + seen
        return made if made is None or slow else made.to(q.dtype)

    mask = how.table(f"added {how.stream}", added) if how.shared else added()
    if slow:
        return by_products(q, k, v, mask, how)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=how.drop, scale=how.scale)


def by_products(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, how: How) -> Tensor:
    """The same from two matrix products and a softmax."""
    scores = (q * how.scale) @ k.transpose(-2, -1)
    added = scores if mask is None else scores + mask
    weights = added.softmax(dim=-1, dtype=torch.float32)  # slow and coarse in bfloat16
    return functional.dropout(weights.to(v.dtype), how.drop, how.drop > 0) @ v


def shareable(x: Tensor) -> bool:
    """Whether the layers of a stack share one bias: everywhere but where a processor trains, whose bits stay what they always were.

    The gradients of a shared bias are added up before they reach its weights, which rounds in another order.
    """
    return not (torch.is_grad_enabled() and x.device.type == "cpu")


def slow_back(q: Tensor) -> bool:
    """Whether gradients through PyTorch's own call would be slow: on a processor in bfloat16 they take six times as long."""
    return torch.is_grad_enabled() and q.dtype == torch.bfloat16 and q.device.type == "cpu"


def takes_a_line(x: Tensor, width: int, layout: Unpadded) -> bool:
    """Whether there is a kernel for texts that lie end to end: on a GPU, in 16 bits, for heads as wide as it can read."""
    half = torch.is_autocast_enabled("cuda") or x.dtype in (torch.bfloat16, torch.float16)
    fits = width % ROUND_HEAD == 0 and width <= WIDEST_HEAD
    return layout.whole and half and fits and torch.cuda.get_device_capability(x.device) >= AMPERE


def _seen(q: Tensor, k: Tensor, attention_mask: Tensor | None, how: How) -> Tensor | None:
    """What hides later positions from a decoder, and padding from all others; None where nothing is hidden."""
    if how.stream == "decoder":
        made: Tensor | None = how.table("later", lambda: _future(q, k)) if q.shape[2] > 1 else None
    else:
        made = None if attention_mask is None else how.table(f"padding {how.stream}", lambda: _padding(q, attention_mask))
    return made


def _future(q: Tensor, k: Tensor) -> Tensor:
    """The causal mask: −∞ at later positions, 0 elsewhere [query, key]. Padding is at the end, where no query sees it."""
    queries, keys = q.shape[2], k.shape[2]
    return torch.full((queries, keys), -torch.inf, device=q.device).triu(keys - queries + 1)


def _padding(q: Tensor, attention_mask: Tensor) -> Tensor:
    """The padding mask [batch, 1, 1, key]: −∞ at padding, 0 elsewhere."""
    return torch.zeros(attention_mask.shape, device=q.device).masked_fill_(~attention_mask, -torch.inf)[:, None, None]
