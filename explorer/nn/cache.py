"""What a decoder need not compute twice."""

from __future__ import annotations

import torch
from torch import Tensor

Name = tuple[str, int]


class Cache:
    """Keys and values by (stream, layer): those of the text so far grow by each step, those of the source are made once."""

    def __init__(self) -> None:
        self.kept: dict[Name, tuple[Tensor, Tensor]] = {}

    @property
    def length(self) -> int:
        """How many positions of the text are kept."""
        return next((k.shape[2] for (stream, _), (k, _) in self.kept.items() if stream == "decoder"), 0)

    def grown(self, name: Name, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values so far, with these new ones at the end: [batch, head, position, dim]."""
        if name in self.kept:
            old_k, old_v = self.kept[name]
            k, v = torch.cat((old_k, k), dim=2), torch.cat((old_v, v), dim=2)
        self.kept[name] = k, v
        return k, v

    def reorder(self, parents: Tensor) -> None:
        """Go on with these rows of the batch, in this order: the beams that were kept."""
        self.kept = {name: (k[parents], v[parents]) for name, (k, v) in self.kept.items()}
