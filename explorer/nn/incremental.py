"""One more position of a decoder that has read the rest: the same sums as in the modules, without what listens around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from explorer.nn.attention import Attention
from explorer.nn.cache import Cache
from explorer.nn.layers import AddNorm, FeedForward
from explorer.nn.positions import Position
from explorer.nn.transformer import Layer, Transformer

Norm = Callable[[Tensor], Tensor]
X = TypeVar("X", Tensor, np.ndarray)  # one position as a tensor, or in `nn.alone` as an array


class Step:
    """A decoder laid out for texts that grow by one piece at a time.

    At one position, a small model spends more time on finding its parts than on multiplying. So the parts are looked up once, and
    queries, keys and values are one product. The weights are those of now: after training, lay it out anew.
    """

    def __init__(self, module: Transformer) -> None:
        embeddings = module.embeddings
        self.tokens, self.scale, self.position = embeddings.tokens.weight, embeddings.scale, embeddings.position
        self.first = None if embeddings.norm is None else embeddings.norm.forward
        self.project, self.last = module.project, None if module.norm is None else module.norm.forward
        self.layers = [_Layer(layer, self.position) for layer in module.layers if isinstance(layer, Layer)]
        self.places = torch.arange(module.config.length, device=self.tokens.device)

    @staticmethod
    def fits(module: Transformer) -> bool:
        """Whether this decoder can be laid out: not where scores need the words of all places at once (DeBERTa), nor in training."""
        return module.stream == "decoder" and not module.training and module.config.positions != "disentangled"

    def __call__(self, pieces: Tensor, cache: Cache) -> Tensor:
        """The last states [beam, dim] of one new piece for each beam; the cache, which holds all before, grows by it."""
        begin = cache.length
        if begin >= len(self.places):
            self.places = torch.arange(2 * begin, device=pieces.device)
        where, seen = self.places[begin : begin + 1], self.places[: begin + 1]
        x = functional.embedding(pieces, self.tokens)
        x = x * self.scale if self.scale != 1 else x
        added = self.position.add(where)
        x = x if added is None else x + added
        x = x if self.first is None else self.first(x)
        x = x if self.project is None else self.project(x)
        for layer in self.layers:
            x = layer(x, where, seen, cache)
        return x if self.last is None else self.last(x)


class _Layer:
    """One layer: attention over the cache and the new place, perhaps over the source, and the feed-forward part."""

    def __init__(self, layer: Layer, position: Position) -> None:
        self.attention, self.around = _Own(layer.attention, position), _around(layer.after_attention)
        self.cross, self.around_cross = None, None
        if layer.cross is not None and layer.after_cross is not None:
            self.cross, self.around_cross = _Cross(layer.cross), _around(layer.after_cross)
        self.feed, self.around_feed = _feed(layer.feed_forward), _around(layer.after_feed_forward)

    def __call__(self, x: Tensor, where: Tensor, seen: Tensor, cache: Cache) -> Tensor:
        x = self.around(x, lambda y: self.attention(y, where, seen, cache))
        if self.cross is not None and self.around_cross is not None:
            cross = self.cross
            x = self.around_cross(x, lambda y: cross(y, cache))
        return self.around_feed(x, self.feed)


def _around(part: AddNorm) -> Callable[[Tensor, Norm], Tensor]:
    return around(part.place, part.norm.forward)


def around(place: str, norm: Callable[[X], X]) -> Callable[[X, Callable[[X], X]], X]:
    """The residual sum and the norm, where this model has it."""
    if place == "pre":
        return lambda x, inner: x + inner(norm(x))
    if place == "inside":
        return lambda x, inner: x + norm(inner(x))
    return lambda x, inner: norm(x + inner(x))


def _feed(part: FeedForward) -> Norm:
    """Widen, bend, narrow."""
    widen, narrow, gate, bend, linear = part.widen, part.narrow, part.gate, part.bend, functional.linear
    if gate is not None:
        return lambda x: linear(
            bend(linear(x, gate.weight, gate.bias)) * linear(x, widen.weight, widen.bias), narrow.weight, narrow.bias
        )
    return lambda x: linear(bend(linear(x, widen.weight, widen.bias)), narrow.weight, narrow.bias)


class _Own:
    """Attention of the new place to itself and to all before it."""

    def __init__(self, part: Attention, position: Position) -> None:
        self.part, self.position, self.name = part, position, part.name
        parts = [part.query, part.key, part.value]
        self.weight = torch.cat([p.weight for p in parts])
        self.bias = None if part.query.bias is None else torch.cat([p.bias for p in parts])
        self.widths = [p.out_features for p in parts]
        self.out, self.width = part.output, part.query.out_features // part.heads
        self.norms = (part.query_norm, part.key_norm)

    def __call__(self, x: Tensor, where: Tensor, seen: Tensor, cache: Cache) -> Tensor:
        part, width, beams = self.part, self.width, len(x)
        q, k, v = functional.linear(x, self.weight, self.bias).split(self.widths, dim=-1)
        if self.norms[0] is not None and self.norms[1] is not None:
            q, k = self.norms[0].forward(q), self.norms[1].forward(k)
        q = self.position.turn(q.view(beams, part.heads, 1, width), where)
        k = self.position.turn(k.view(beams, part.groups, 1, width), where)
        k, v = cache.grown(self.name, k, v.view(beams, part.groups, 1, width))
        bias = self.position.bias(where, seen)
        k, v = part.shared(k), part.shared(v)
        context = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=part.scale)
        return functional.linear(context.view(beams, -1), self.out.weight, self.out.bias)


class _Cross:
    """Attention of the new place to the source, whose keys and values lie in the cache."""

    def __init__(self, part: Attention) -> None:
        self.part, self.width = part, part.query.out_features // part.heads

    def __call__(self, x: Tensor, cache: Cache) -> Tensor:
        part = self.part
        q = functional.linear(x, part.query.weight, part.query.bias)
        q = q if part.query_norm is None else part.query_norm.forward(q)
        k, v = cache.kept[part.name]
        k, v = part.shared(k), part.shared(v)
        q = q.view(len(x), part.heads, 1, self.width)
        context = functional.scaled_dot_product_attention(q, k, v, scale=part.scale)
        return functional.linear(context.view(len(x), -1), part.output.weight, part.output.bias)
