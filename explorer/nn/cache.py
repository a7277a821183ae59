"""The key/value cache of a decoder."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

Name = tuple[str, int]


class KeyValueCache:
    """Keys and values by (stream, layer): those of the text grow with each step, those of the source are computed once."""

    def __init__(self) -> None:
        self.entries: dict[Name, tuple[Tensor, Tensor]] = {}

    @property
    def length(self) -> int:
        """How many positions of the text are kept."""
        return next((k.shape[2] for (stream, _), (k, _) in self.entries.items() if stream == "decoder"), 0)

    def update(self, name: Name, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values so far, with these new ones at the end: [batch, head, position, dim]."""
        if name in self.entries:
            old_k, old_v = self.entries[name]
            k, v = torch.cat((old_k, k), dim=2), torch.cat((old_v, v), dim=2)
        self.entries[name] = k, v
        return k, v

    def select(self, parents: Sequence[int]) -> None:
        """Go on with these beams, in this order. All beams of a text read one source, so its keys and values are only repeated."""
        count, device = len(parents), next((k.device for k, _ in self.entries.values()), None)
        chosen = torch.tensor(parents, device=device)
        for name, (k, v) in self.entries.items():
            if name[0] == "cross":
                self.entries[name] = k[:1].expand(count, *k.shape[1:]), v[:1].expand(count, *v.shape[1:])
            else:
                self.entries[name] = k.index_select(0, chosen), v.index_select(0, chosen)
