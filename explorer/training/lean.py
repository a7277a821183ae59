"""A lean step: one product for queries, keys and values, a loss that never holds all scores, and weights that are 16 bits wide already.

In mixed precision every product casts its weights to bfloat16, and their gradients back. Here the linear layers have working copies
in bfloat16 while a batch is computed; all of them are refreshed from the float32 weights at once, and their gradients return at
once. What is optimised, kept and measured are the float32 weights alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from explorer.nn.attention import MultiHeadAttention
from explorer.nn.heads import Head


class LeanStep:
    """What a module computes its losses with. `half` keeps working copies in bfloat16."""

    def __init__(self, module: nn.Module, *, half: bool) -> None:
        self.module = module
        self.places: list[tuple[nn.Module, str]] = []
        self.masters: list[nn.Parameter] = []
        self.copies: list[nn.Parameter] = []
        if half:
            self._copy()

    def _copy(self) -> None:
        """A copy of each weight that only one linear layer reads; a matrix that is the embeddings', too, stays as it is."""
        read = [id(weight) for part in self.module.modules() for weight in part.parameters(recurse=False)]
        for part in self.module.modules():
            for name, weight in part.named_parameters(recurse=False) if type(part) is nn.Linear else ():
                if read.count(id(weight)) == 1 and weight.requires_grad:
                    self.places.append((part, name))
                    self.masters.append(weight)
                    self.copies.append(nn.Parameter(weight.detach().to(torch.bfloat16)))

    def _refresh(self) -> None:
        """Copies of the weights as they are now, without what a step that was broken off has left."""
        for copy in self.copies:
            copy.grad = None
        if self.copies:
            torch._foreach_copy_([copy.detach() for copy in self.copies], [master.detach() for master in self.masters])

    @contextmanager
    def working(self) -> Iterator[None]:
        """While inside, the module computes with what is lean."""
        for part in self.module.modules():
            if isinstance(part, MultiHeadAttention):
                part.fused = True
            elif isinstance(part, Head):
                part.chunked = True
        self._refresh()
        for (part, name), copy in zip(self.places, self.copies, strict=True):
            part._parameters[name] = copy
        try:
            yield
        finally:
            for (part, name), master in zip(self.places, self.masters, strict=True):
                part._parameters[name] = master
            for part in self.module.modules():
                if isinstance(part, MultiHeadAttention):
                    del part.fused
                elif isinstance(part, Head):
                    del part.chunked

    def collect(self) -> None:
        """Add the gradients of the copies to those of the weights."""
        pairs = [(weight, copy.grad) for weight, copy in zip(self.masters, self.copies, strict=True) if copy.grad is not None]
        fresh = [(weight, grad) for weight, grad in pairs if weight.grad is None]
        later = [(weight.grad, grad) for weight, grad in pairs if weight.grad is not None]
        if later:
            torch._foreach_add_([whole for whole, _ in later], [grad for _, grad in later])
        if fresh:
            made = [torch.empty_like(weight) for weight, _ in fresh]
            torch._foreach_copy_(made, [grad for _, grad in fresh])
            for (weight, _), grad in zip(fresh, made, strict=True):
                weight.grad = grad
        for copy in self.copies:
            copy.grad = None
