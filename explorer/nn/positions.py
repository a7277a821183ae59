"""How a model knows where a word stands.

A position scheme fills one slot and leaves the others alone: `add` (onto the embeddings), `turn` (the queries and
keys), `bias` (onto the scores, whatever the words) or `score` (onto the scores, depending on the words). Attention
calls every slot and asks no names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from explorer import tap

Project = Callable[[Tensor], Tensor]
TO_PLACE, FROM_PLACE = "content → position", "position → content"  # the terms that DeBERTa adds to content → content


@dataclass(frozen=True)
class Room:
    """What a scheme may know of the model that it serves."""

    dim: int
    heads: int
    length: int
    causal: bool
    base: float = 10000.0  # RoPE's
    norm_epsilon: float = 1e-5


class Position(nn.Module):
    """No positions at all: every slot hands back what it was given, and a word is the same wherever it stands."""

    longest: int | None = None  # the most places there are, where there is a table
    terms = 1  # how many products a score sums up: √d becomes √(terms · d)

    def __init__(self, room: Room) -> None:
        super().__init__()
        self.room = room

    def add(self, where: Tensor) -> Tensor | None:
        """What is added to the embeddings at the places `where`: [position, dim], or None."""
        return None

    def turn(self, x: Tensor, where: Tensor) -> Tensor:
        """Queries or keys [batch, head, position, dim] as the scheme leaves them."""
        return x

    def bias(self, query: Tensor, key: Tensor) -> Tensor | None:
        """What is added to the scores between the places `query` and `key`: [1, head, query, key], or None."""
        return None

    def score(self, q: Tensor, k: Tensor, project: tuple[Project, Project], at: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        """What is added to the scores and depends on the words: terms by name, [batch, head, query, key] each.

        `project` makes queries and keys of any vectors; `at` are the places of the queries and of the keys. They follow one
        another, unless somebody watches: then an edit may have moved them.
        """
        return {}


class Learned(Position):
    """One trained vector for each place, as in BERT and GPT; there is none beyond the table.

    A table of chance takes a small model most of its five minutes to put in order, so here it begins as sines, near places
    alike and more than three times as strong as the word vectors at the start (`begin`); what training makes of it is the model's own.
    """

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self.table = nn.Embedding(room.length, room.dim)
        self.longest = room.length

    def begin(self, height: float = 0.1) -> None:
        """Fill the table with sines of this height, as it is before training."""
        pairs = torch.arange(self.room.dim) // 2 * 2
        angle = torch.arange(self.room.length)[:, None] / 10000 ** (pairs / self.room.dim)
        self.table.weight.copy_(height * torch.where(torch.arange(self.room.dim) % 2 == 0, angle.sin(), angle.cos()))

    def add(self, where: Tensor) -> Tensor:
        """The rows of the table."""
        return self.table(where)  # [position, dim]


class Sinusoidal(Position):
    """Sines and cosines of falling frequency, interleaved: PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(the same)."""

    def add(self, where: Tensor) -> Tensor:
        """The curves read off at the places asked for."""
        angle = self.angles(where)
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # [position, dim]

    def angles(self, where: Tensor) -> Tensor:
        """How far each pair of features has turned: [position, dim / 2]."""
        pairs = torch.arange(0, self.room.dim, 2, device=where.device)
        return where[:, None] / 10000 ** (pairs / self.room.dim)


class SinusoidalHalves(Sinusoidal):
    """The same curves in another order, as in Marian: first all the sines, then all the cosines."""

    def add(self, where: Tensor) -> Tensor:
        """The curves read off at the places asked for."""
        angle = self.angles(where)
        return torch.cat((angle.sin(), angle.cos()), dim=-1)  # [position, dim]


class Rotary(Position):
    """RoPE: each pair of features of q and k is turned by an angle that grows with the place; q·k then sees only the distance.

    Feature i is paired with feature i + d/2, as Llama's published weights expect.
    """

    def turn(self, x: Tensor, where: Tensor) -> Tensor:
        """x turned by its place."""
        half = x.shape[-1] // 2
        speed = self.room.base ** (-torch.arange(half, device=x.device) / half)
        angle = where[:, None] * speed  # [position, dim / 2]
        first, second = x[..., :half], x[..., half:]
        return torch.cat((first * angle.cos() - second * angle.sin(), second * angle.cos() + first * angle.sin()), dim=-1)


class Alibi(Position):
    """ALiBi: the further away, the lower the score; each head has its own slope."""

    def bias(self, query: Tensor, key: Tensor) -> Tensor:
        """−slope · distance."""
        distance = (key[None, :] - query[:, None]).abs()
        return -slopes(self.room.heads).to(key.device)[None, :, None, None] * distance


def slopes(heads: int) -> Tensor:
    """ALiBi's slopes: 2^(−8h/n) for n heads, n a power of two; otherwise every second one of the next power fills up."""
    whole = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * h / whole) for h in range(1, whole + 1)]
    rest = [2 ** (-4 * h / whole) for h in range(1, 2 * (heads - whole), 2)]
    return torch.tensor(first + rest)


class RelativeBuckets(Position):
    """T5: one trained number for each head and each range of distances, shared by all layers; far distances share a bucket."""

    buckets, furthest = 32, 128

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self.table = nn.Embedding(self.buckets, room.heads)

    def bias(self, query: Tensor, key: Tensor) -> Tensor:
        """The numbers of the buckets."""
        return self.table(self.bucket(key[None, :] - query[:, None])).permute(2, 0, 1)[None]

    def bucket(self, distance: Tensor) -> Tensor:
        """The bucket of a distance (key − query). Looking both ways, one half of the buckets is for each side."""
        count = self.buckets if self.room.causal else self.buckets // 2
        side = 0 if self.room.causal else (distance > 0).long() * count
        far = (-distance).clamp(min=0) if self.room.causal else distance.abs()
        exact = count // 2
        log = torch.log(far.clamp(min=1) / exact) / math.log(self.furthest / exact) * (count - exact)
        return side + torch.where(far < exact, far, (exact + log.long()).clamp(max=count - 1))


class Disentangled(Position):
    """DeBERTa: word to word, word to distance and distance to word are three products, ÷ √(3d) together.

    A distance is query − key in both of the terms with distances, as in the released code; the paper writes key − query in the
    third.
    """

    terms = 3

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self.span = room.length
        self.table = nn.Embedding(2 * self.span, room.dim)
        self.norm = nn.LayerNorm(room.dim, eps=room.norm_epsilon)

    def score(self, q: Tensor, k: Tensor, project: tuple[Project, Project], at: tuple[Tensor, Tensor]) -> dict[str, Tensor]:
        """Word to distance and distance to word; the same W_Q and W_K read words and distances."""
        as_query, as_key = project
        scale = (self.terms * q.shape[-1]) ** -0.5
        table = self.norm(self.table.weight)
        row = (at[0][:, None] - at[1][None, :] + self.span).clamp(0, 2 * self.span - 1)  # [query, key]
        products = looked_up if tap.watched() else shifted
        to_place = products(q, lambda x: as_key(x) * scale, table, row)
        from_place = products(k, lambda x: as_query(x) * scale, table, row.T)
        return {TO_PLACE: to_place, FROM_PLACE: from_place.transpose(-1, -2)}


def looked_up(x: Tensor, project: Project, table: Tensor, row: Tensor) -> Tensor:
    """The product of word i with the row of the table that stands at [i, j] of `row`: [batch, head, i, j]."""
    every = x @ _for_all(project(table[None]), x)  # [batch, head, i, row]
    return every.gather(-1, row.expand(*x.shape[:2], -1, -1))


def shifted(x: Tensor, project: Project, table: Tensor, row: Tensor) -> Tensor:
    """The same where places follow one another: a line of `row` is the one above moved by one, so few rows are asked for.

    Looking up is what takes longest on a processor; here the products are only read along their diagonals.
    """
    lines, columns = row.shape
    few = table.index_select(0, torch.cat((row[:, 0].flip(0), row[0, 1:])))  # the last line comes first
    every = (x @ _for_all(project(few[None]), x)).contiguous()  # [batch, head, i, lines + columns − 1]
    wide = every.shape[-1]
    strides = (every.stride(0), every.stride(1), wide - 1, 1)
    return every.as_strided((*every.shape[:2], lines, columns), strides, every.storage_offset() + lines - 1)


def _for_all(made: Tensor, x: Tensor) -> Tensor:
    """What was made of a table, once for every head of x (grouped heads share a key), ready to be multiplied from the right."""
    return made.repeat_interleave(x.shape[1] // made.shape[1], dim=1).transpose(-1, -2)


NOWHERE = Position(Room(0, 0, 0, False))  # what cross-attention uses: source and target share no places
POSITIONS: dict[str, type[Position]] = {
    "none": Position,
    "learned": Learned,
    "sinusoidal": Sinusoidal,
    "sinusoidal-halves": SinusoidalHalves,
    "t5": RelativeBuckets,
    "rope": Rotary,
    "alibi": Alibi,
    "disentangled": Disentangled,
}
