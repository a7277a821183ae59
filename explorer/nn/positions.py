"""Position schemes: how a model knows the position of a token.

A position scheme fills one slot and leaves the others alone: `add` (onto the embeddings), `rotate` (the queries and keys), `bias`
(onto the scores, independent of the tokens) or `score` (onto the scores, depending on the tokens). Attention calls every slot and
never asks for names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from inspect import cleandoc
from typing import ClassVar

import torch
from torch import Tensor, nn

from explorer.nn import fast
from explorer.nn.fast.attention import for_all_heads

SLOTS = ("add", "rotate", "bias", "score")
NOTHING = "0: a formula"  # what a scheme without weights has to learn
Project = Callable[[Tensor], Tensor]
Positions = tuple[Tensor, Tensor]  # of the queries and of the keys
TO_PLACE, FROM_PLACE = "content → position", "position → content"  # the terms that DeBERTa adds to content → content


@dataclass(frozen=True)
class PositionContext:
    """What a scheme may know about its model."""

    dim: int
    heads: int
    length: int
    causal: bool
    base: float = 10000.0  # RoPE's
    norm_epsilon: float = 1e-5


class Position(nn.Module):
    """No positions at all: every slot does nothing (`rotate` gives back its input, the others add nothing), and a word is the same at
    every position.

    A scheme is a class below this one and one entry in `POSITIONS`: it fills a slot, and says of itself what others ask. Its
    methods are called with whole tensors, and may be given positions in any order.
    """

    about: ClassVar[str] = (
        "No position encoding. To an encoder the sentence is then a bag of words."  # what students read, see `description`
    )
    about_trained: ClassVar[str] = ""  # what they read where a trained model's is shown; empty: the same
    lr_scale: ClassVar[float] = 1.0  # how much faster than others its weights learn
    slots: ClassVar[frozenset[str]] = frozenset()  # those of SLOTS that the class fills, found from its methods
    longest: int | None = None  # the most places there are, where there is a table
    terms = 1  # how many products a score sums up: √d becomes √(terms · d)

    def __init_subclass__(cls, **kwargs: object) -> None:
        """Note which slots a scheme fills: those whose method is not the one that does nothing."""
        super().__init_subclass__(**kwargs)
        cls.slots = frozenset(slot for slot in SLOTS if getattr(cls, slot) is not getattr(Position, slot))

    def __init__(self, context: PositionContext) -> None:
        super().__init__()
        self.context = context
        self._last: tuple[tuple[Tensor, ...], Tensor] | None = None

    def cached(self, make: Callable[[], Tensor], *positions: Tensor) -> Tensor:
        """What was made for these very positions, which all layers of a stack share; another tensor is made again for.

        Only for what has no gradient: a table of angles, of distances.
        """
        last = self._last
        if last is None or any(a is not b for a, b in zip(last[0], positions, strict=True)):
            last = self._last = positions, make()
        return last[1]

    @classmethod
    def description(cls, *, trained: bool = False) -> str:
        """What students read about it; a class without an `about` shows the first paragraph of its docstring."""
        known = vars(cls).get("about", "")
        return (vars(cls).get("about_trained", "") if trained else "") or known or cleandoc(cls.__doc__ or "").split("\n\n")[0]

    @classmethod
    def by_head(cls) -> bool:
        """Whether it is made for one number of heads: where it adds to scores, each head has its own."""
        return bool(cls.slots & {"bias", "score"})

    @classmethod
    def misfit(cls, embedding: int, dim: int, heads: int) -> str:
        """Why it cannot serve a model whose embeddings and layers are so wide, with so many heads; empty where it can."""
        return ""

    @classmethod
    def parameter_count(cls, context: PositionContext) -> tuple[int, str]:
        """How many numbers it has to learn, and that as a formula."""
        with torch.random.fork_rng(devices=[]):
            shapes = [weight.shape for weight in cls(context).parameters()]
        return sum(shape.numel() for shape in shapes), " + ".join(" · ".join(map(str, shape)) for shape in shapes) or NOTHING

    def add(self, positions: Tensor) -> Tensor | None:
        """What is added to the embeddings at these positions: [position, dim], or None."""
        return None

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """Queries or keys [batch, head, position, dim] as the scheme leaves them."""
        return x

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor | None:
        """What is added to the scores between queries and keys at these positions: [1, head, query, key], or None."""
        return None

    def score(self, q: Tensor, k: Tensor, project: tuple[Project, Project], positions: Positions) -> dict[str, Tensor]:
        """What is added to the scores and depends on the tokens: terms by name, [batch, head, query, key] each.

        `project` makes queries and keys of any vectors; `positions` are those of the queries and of the keys. They are consecutive,
        except where an edit has moved them.
        """
        return {}


class Learned(Position):
    """One trained vector for each position, as in BERT and GPT; there is none beyond the table.

    A random table takes a small model most of its five minutes of training, so here it is initialised with sines, similar for near
    positions and more than three times as large as the token embeddings (`begin`); training changes it like any weight.
    """

    about = "A learned vector for each position, **added** to the token embeddings. There is none beyond the table."

    def __init__(self, context: PositionContext) -> None:
        super().__init__(context)
        self.table = nn.Embedding(context.length, context.dim)
        self.longest = context.length

    def begin(self, height: float = 0.1) -> None:
        """Initialise the table with sines of this amplitude."""
        pairs = torch.arange(self.context.dim) // 2 * 2
        angle = torch.arange(self.context.length)[:, None] / 10000 ** (pairs / self.context.dim)
        self.table.weight.copy_(height * torch.where(torch.arange(self.context.dim) % 2 == 0, angle.sin(), angle.cos()))

    def add(self, positions: Tensor) -> Tensor:
        """The rows of the table."""
        rows: Tensor = self.table(positions)  # [position, dim]
        return rows


class Sinusoidal(Position):
    """Sines and cosines of falling frequency, interleaved: PE(p, 2i) = sin(p / 10000^(2i/d)), PE(p, 2i+1) = cos(the same)."""

    about = (
        "Fixed curves, **added** to the token embeddings: $PE(p,2i)=\\sin(p/10000^{2i/d})$, "
        "$PE(p,2i{+}1)=\\cos(p/10000^{2i/d})$, with the position $p$, the pair of dimensions $i$ and the dimension $d$ of the model."
    )

    @classmethod
    def misfit(cls, embedding: int, dim: int, heads: int) -> str:
        """Each sine is followed by its cosine."""
        return f"Sinusoidal positions come in pairs of sine and cosine: the width {embedding} must be even." * (embedding % 2)

    def add(self, positions: Tensor) -> Tensor:
        """The values of the curves at these positions."""
        angle = self.angles(positions)
        return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # [position, dim]

    def angles(self, positions: Tensor) -> Tensor:
        """The angle of each pair of dimensions: [position, dim / 2]."""
        pairs = torch.arange(0, self.context.dim, 2, device=positions.device)
        return positions[:, None] / 10000 ** (pairs / self.context.dim)


class SinusoidalHalves(Sinusoidal):
    """The same curves in another order, as in Marian: first all the sines, then all the cosines."""

    about = "The same sines and cosines in another order (all sines first), as in Marian."

    def add(self, positions: Tensor) -> Tensor:
        """The values of the curves at these positions."""
        angle = self.angles(positions)
        return torch.cat((angle.sin(), angle.cos()), dim=-1)  # [position, dim]


class Rotary(Position):
    """RoPE: each pair of dimensions of q and k is rotated by an angle proportional to the position; q·k then depends only on the
    distance.

    Dimension i is paired with dimension i + d/2, as Llama's published weights expect.
    """

    about = (
        "Each pair of dimensions of $q$ and $k$ is **rotated** by an angle proportional to the position; "
        "$q\\cdot k$ depends on the distance."
    )

    @classmethod
    def misfit(cls, embedding: int, dim: int, heads: int) -> str:
        """Features turn in pairs."""
        return f"RoPE turns pairs of features: the width of a head, {dim // heads}, must be even." * (dim // heads % 2)

    def rotate(self, x: Tensor, positions: Tensor) -> Tensor:
        """x rotated by its position."""
        half = x.shape[-1] // 2
        cos, sin = self.cached(lambda: self._turns(half, positions), positions)
        first, second = x[..., :half], x[..., half:]
        return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)

    def _turns(self, half: int, positions: Tensor) -> Tensor:
        """The cosines and sines of every angle [2, position, dim / 2]."""
        speed = self.context.base ** (-torch.arange(half, device=positions.device) / half)
        angle = positions[:, None] * speed  # [position, dim / 2]
        return torch.stack((angle.cos(), angle.sin()))


class Alibi(Position):
    """ALiBi: the further away, the lower the score; each head has its own slope."""

    about = (
        "A fixed penalty for distance, **added to the score** of the query at position $i$ and the key at $j$; each head has a different "
        "slope $m$: $-m\\,|i-j|$."
    )

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """−slope · distance."""
        distance = (key_positions[None, :] - query_positions[:, None]).abs()
        return -slopes(self.context.heads).to(distance.device)[None, :, None, None] * distance


def slopes(heads: int) -> Tensor:
    """ALiBi's slopes: 2^(−8h/n) for n heads, n a power of two; otherwise every second one of the next power fills up."""
    whole = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * h / whole) for h in range(1, whole + 1)]
    rest = [2 ** (-4 * h / whole) for h in range(1, 2 * (heads - whole), 2)]
    return torch.tensor(first + rest)


class RelativeBuckets(Position):
    """T5: one trained number for each head and each range of distances, shared by all layers; far distances share a bucket."""

    about = (
        "One learned number for each head and each range of distances, **added to the scores**. "
        "Here random; *t5 (t5)* is trained."
    )
    about_trained = (
        "What the encoder of a shipped T5 learned to **add to the scores**: "
        "one number for each head and each range of distances."
    )
    lr_scale = 10.0  # a bias must reach several units before a head looks at one place, and every head has few of them
    buckets, furthest = 32, 128

    def __init__(self, context: PositionContext) -> None:
        super().__init__(context)
        self.table = nn.Embedding(self.buckets, context.heads)

    def bias(self, query_positions: Tensor, key_positions: Tensor) -> Tensor:
        """The numbers of the buckets."""
        positions = query_positions, key_positions
        buckets = self.cached(lambda: self.bucket(key_positions[None, :] - query_positions[:, None]), *positions)
        bias: Tensor = self.table(buckets).permute(2, 0, 1)[None]  # [1, head, query, key]
        return bias

    @classmethod
    def parameter_count(cls, context: PositionContext) -> tuple[int, str]:
        """A number for each head and range of distances."""
        return cls.buckets * context.heads, f"{cls.buckets} · {context.heads} heads"

    def bucket(self, distance: Tensor) -> Tensor:
        """The bucket of a distance (key − query). Looking both ways, one half of the buckets is for each side."""
        count = self.buckets if self.context.causal else self.buckets // 2
        side = 0 if self.context.causal else (distance > 0).long() * count
        far = (-distance).clamp(min=0) if self.context.causal else distance.abs()
        exact = count // 2
        log = torch.log(far.clamp(min=1) / exact) / math.log(self.furthest / exact) * (count - exact)
        return side + torch.where(far < exact, far, (exact + log.long()).clamp(max=count - 1))


class Disentangled(Position):
    """DeBERTa: content to content, content to position and position to content are three products, ÷ √(3d) together.

    A distance is query − key in both of the terms with distances, as in the released code; the paper writes key − query in the third.
    """

    about = "DeBERTa: token-to-distance and distance-to-token are separate **scores**. Here random."
    about_trained = "What a shipped DeBERTa learned: the **scores** of distances, with the same token at every position."
    terms = 3

    @classmethod
    def misfit(cls, embedding: int, dim: int, heads: int) -> str:
        """The layers read distances by the matrices with which they read words."""
        return "" if embedding == dim else "Disentangled positions are read by the layers themselves: leave embedding=… out."

    @classmethod
    def parameter_count(cls, context: PositionContext) -> tuple[int, str]:
        """A table with a row for each distance, and a norm."""
        return 2 * context.length * context.dim + 2 * context.dim, f"2 · {context.length} · {context.dim} + 2 · {context.dim}"

    def __init__(self, context: PositionContext) -> None:
        super().__init__(context)
        self.span = context.length
        self.table = nn.Embedding(2 * self.span, context.dim)
        self.norm = nn.LayerNorm(context.dim, eps=context.norm_epsilon)

    def score(self, q: Tensor, k: Tensor, project: tuple[Project, Project], positions: Positions) -> dict[str, Tensor]:
        """Content to position and position to content; the same W_Q and W_K project tokens and relative positions."""
        as_query, as_key = project
        scale = (self.terms * q.shape[-1]) ** -0.5
        table = self.norm(self.table.weight)
        row = (positions[0][:, None] - positions[1][None, :] + self.span).clamp(0, 2 * self.span - 1)  # [query, key]
        products = fast.shifted if fast.chosen() else looked_up
        to_place = products(q, lambda x: as_key(x) * scale, table, row)
        from_place = products(k, lambda x: as_query(x) * scale, table, row.T)
        return {TO_PLACE: to_place, FROM_PLACE: from_place.transpose(-1, -2)}


def looked_up(x: Tensor, project: Project, table: Tensor, row: Tensor) -> Tensor:
    """The product of position i with the row of the table at [i, j] of `row`: [batch, head, i, j]."""
    every = x @ for_all_heads(project(table[None]), x)  # [batch, head, i, row]
    return every.gather(-1, row.expand(*x.shape[:2], -1, -1))


NO_POSITIONS = Position(PositionContext(0, 0, 0, False))  # what cross-attention uses: source and target share no positions
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
