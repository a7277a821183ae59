"""How a model knows where a word stands.

A position scheme fills one slot and leaves the others alone: `add` (onto the embeddings), `turn` (the queries
and keys) or `bias` (onto the scores). Attention calls every slot and asks no names.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Position(nn.Module):
    """No positions at all: every slot hands back what it was given."""

    longest: int | None = None

    def add(self, where: Tensor) -> Tensor | None:
        """What is added to the embeddings at the places `where`: [position, dim], or None."""
        return None

    def turn(self, x: Tensor, where: Tensor) -> Tensor:
        """Queries or keys [batch, head, position, dim] as the scheme leaves them."""
        return x

    def bias(self, query: Tensor, key: Tensor) -> Tensor | None:
        """What is added to the scores [1, head, query, key], or None."""
        return None


class Learned(Position):
    """One trained vector for each place, as in BERT and GPT; there is none beyond the table."""

    def __init__(self, dim: int, length: int, heads: int) -> None:
        super().__init__()
        self.table = nn.Embedding(length, dim)
        self.longest = length

    def add(self, where: Tensor) -> Tensor:
        """The rows of the table."""
        return self.table(where)  # [position, dim]


class Sinusoidal(Position):
    """Sines and cosines of falling frequency, interleaved: PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(the same)."""

    def __init__(self, dim: int, length: int, heads: int) -> None:
        super().__init__()
        self.dim = dim

    def add(self, where: Tensor) -> Tensor:
        """The curves read off at the places asked for."""
        pairs = torch.arange(0, self.dim, 2, device=where.device)
        angle = where[:, None] / 10000 ** (pairs / self.dim)  # [position, dim / 2]
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # [position, dim]


class Nowhere(Position):
    """No positions: a word is the same word wherever it stands."""

    def __init__(self, dim: int, length: int, heads: int) -> None:
        super().__init__()


POSITIONS: dict[str, type[Position]] = {"none": Nowhere, "learned": Learned, "sinusoidal": Sinusoidal}
