"""One decoding step with a cache: the same computation as in the modules, without taps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.nn.attention import MultiHeadAttention
from explorer.nn.cache import KeyValueCache
from explorer.nn.heads import Head
from explorer.nn.layers import AbsentFeedForward, AbsentNorm, AddNorm, BareNorm, FeedForward, Norm, RMSNorm
from explorer.nn.positions import Position
from explorer.nn.transformer import Embeddings, Layer, Transformer

Map = Callable[[Tensor], Tensor]
X = TypeVar("X", Tensor, np.ndarray)  # one position as a tensor, or in `nn.numpy_decoder` as an array


def accepts_cache(module: Transformer) -> bool:
    """Whether the decoder's parts may be given the new positions alone, with all that they need of earlier ones in a `Cache`.

    The cache counts positions by the keys of self-attention, so at least one layer must have it.
    """
    attentive = any(isinstance(part, MultiHeadAttention) and part.stream == "decoder" for part in module.layers.modules())
    known = type(module) is Transformer or _declares(module)
    return known and attentive and all(map(_incremental, _parts(module)))


def supported(part: nn.Module) -> bool:
    """Whether a part and all parts in it are of known types, so that what they compute may be computed without calling them."""
    return _known(part) and all(map(supported, _children(part)))


def _incremental(part: nn.Module) -> bool:
    """Whether one part may be given the new positions alone."""
    return all(map(_incremental, _children(part))) if _known(part) else _declares(part)


def _parts(module: Transformer) -> Iterator[nn.Module]:
    """What a decoder runs through from ids to last states."""
    parts = (module.embeddings, module.project, *module.layers, module.mask_decoder, module.norm)
    return (part for part in parts if part is not None)


def _children(part: nn.Module) -> Iterator[nn.Module]:
    """The parts of a part; those of a position scheme concern its slots only."""
    return iter(()) if isinstance(part, Position) else part.children()


def _known(part: nn.Module) -> bool:
    """Whether a part computes what its type says: no other class, no hook, and no `forward` that was put in.

    A position scheme is known by its slots, which are given the positions and keys of the whole text. One that needs more, such as
    the length of the text, says `incremental = False`.
    """
    if isinstance(part, Position):
        return bool(getattr(type(part), "incremental", True))
    hooked = part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part)
    return type(part) in SUPPORTED and not hooked


def _declares(part: nn.Module) -> bool:
    """Whether the class that wrote this part's `forward` says `incremental = True`; a subclass with another `forward` must say it, too."""
    author = next(kind for kind in type(part).__mro__ if "forward" in vars(kind))
    return bool(vars(author).get("incremental", False))


class IncrementalDecoder:
    """A decoder prepared for generating one token at a time.

    At one position, a small model spends more time on finding its parts than on multiplying. So the parts are looked up once, and
    queries, keys and values are one product. The weights are those of now: after training, make a new one.
    """

    def __init__(self, module: Transformer) -> None:
        embeddings = module.embeddings
        self.table, self.scale, self.position = embeddings.tokens.weight, embeddings.scale, embeddings.position
        self.embedding_norm = None if embeddings.norm is None else embeddings.norm.forward
        self.project, self.final_norm = module.project, None if module.norm is None else module.norm.forward
        self.layers = [_Layer(layer, self.position) for layer in module.layers if isinstance(layer, Layer)]
        self.positions = torch.arange(module.config.length, device=self.table.device)

    @staticmethod
    def fits(module: Transformer) -> bool:
        """Whether this decoder can be laid out: of known parts, without a scheme in the `score` slot, and not in training."""
        if module.stream != "decoder" or module.training or module.embeddings.segments is not None:
            return False
        known = type(module) is Transformer and all(map(supported, _parts(module)))
        return known and "score" not in module.embeddings.position.slots

    def __call__(self, tokens: Tensor, cache: KeyValueCache) -> Tensor:
        """The last states [beam, dim] of one new token for each beam; the cache, which holds all before, grows by it."""
        begin = cache.length
        if begin >= len(self.positions):
            self.positions = torch.arange(2 * begin, device=tokens.device)
        query_at, key_at = self.positions[begin : begin + 1], self.positions[: begin + 1]
        x = functional.embedding(tokens, self.table)
        x = x * self.scale if self.scale != 1 else x
        added = self.position.add(query_at)
        x = x if added is None else x + added
        x = x if self.embedding_norm is None else self.embedding_norm(x)
        x = x if self.project is None else self.project(x)
        for layer in self.layers:
            x = layer(x, query_at, key_at, cache)
        return x if self.final_norm is None else self.final_norm(x)


class _Layer:
    """One layer: attention over the cache and the new position, perhaps over the source, and the feed-forward part."""

    def __init__(self, layer: Layer, position: Position) -> None:
        self.attention, self.add_norm = _SelfAttention(layer.attention, position), _add_norm(layer.after_attention)
        self.cross, self.add_norm_cross = None, None
        if layer.cross is not None and layer.after_cross is not None:
            self.cross, self.add_norm_cross = _CrossAttention(layer.cross), _add_norm(layer.after_cross)
        self.feed_forward, self.add_norm_feed_forward = _feed_forward(layer.feed_forward), _add_norm(layer.after_feed_forward)

    def __call__(self, x: Tensor, query_at: Tensor, key_at: Tensor, cache: KeyValueCache) -> Tensor:
        x = self.add_norm(x, lambda y: self.attention(y, query_at, key_at, cache))
        if self.cross is not None and self.add_norm_cross is not None:
            cross = self.cross
            x = self.add_norm_cross(x, lambda y: cross(y, cache))
        return self.add_norm_feed_forward(x, self.feed_forward)


def _add_norm(part: AddNorm) -> Callable[[Tensor, Map], Tensor]:
    return add_norm(part.place, part.norm.forward) if part.residual else alone(part.place, part.norm.forward)


def add_norm(place: str, norm: Callable[[X], X]) -> Callable[[X, Callable[[X], X]], X]:
    """The residual sum and the norm, where this model has it."""
    if place == "pre":
        return lambda x, inner: x + inner(norm(x))
    if place == "inside":
        return lambda x, inner: x + norm(inner(x))
    return lambda x, inner: norm(x + inner(x))


def alone(place: str, norm: Callable[[X], X]) -> Callable[[X, Callable[[X], X]], X]:
    """The norm where this model has it, without a residual sum."""
    return (lambda x, inner: inner(norm(x))) if place == "pre" else (lambda x, inner: norm(inner(x)))


def _feed_forward(part: FeedForward | AbsentFeedForward) -> Map:
    """The feed-forward layer as one function of one position."""
    if isinstance(part, AbsentFeedForward):
        return torch.zeros_like
    widen, narrow, gate, activation, linear = part.widen, part.narrow, part.gate, part.activation, functional.linear
    if gate is not None:
        return lambda x: linear(
            activation(linear(x, gate.weight, gate.bias)) * linear(x, widen.weight, widen.bias), narrow.weight, narrow.bias
        )
    return lambda x: linear(activation(linear(x, widen.weight, widen.bias)), narrow.weight, narrow.bias)


class _SelfAttention:
    """Attention of the new position to itself and to all before it."""

    def __init__(self, part: MultiHeadAttention, position: Position) -> None:
        self.part, self.position, self.name = part, position, part.name
        parts = [part.query, part.key, part.value]
        self.weight = torch.cat([p.weight for p in parts])
        self.bias = None if part.query.bias is None else torch.cat([p.bias for p in parts])
        self.widths = [p.out_features for p in parts]
        self.out, self.width = part.output, part.query.out_features // part.heads
        self.query_norm, self.key_norm = part.query_norm, part.key_norm

    def __call__(self, x: Tensor, query_at: Tensor, key_at: Tensor, cache: KeyValueCache) -> Tensor:
        part, width, beams = self.part, self.width, len(x)
        q, k, v = functional.linear(x, self.weight, self.bias).split(self.widths, dim=-1)
        if self.query_norm is not None and self.key_norm is not None:
            q, k = self.query_norm.forward(q), self.key_norm.forward(k)
        q = self.position.rotate(q.view(beams, part.heads, 1, width), query_at)
        k = self.position.rotate(k.view(beams, part.groups, 1, width), query_at)
        k, v = cache.grown(self.name, k, v.view(beams, part.groups, 1, width))
        bias = self.position.bias(query_at, key_at)
        k, v = part.shared(k), part.shared(v)
        context = functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=part.scale)
        return functional.linear(context.view(beams, -1), self.out.weight, self.out.bias)


class _CrossAttention:
    """Attention of the new position to the source, whose keys and values lie in the cache."""

    def __init__(self, part: MultiHeadAttention) -> None:
        self.part, self.width = part, part.query.out_features // part.heads

    def __call__(self, x: Tensor, cache: KeyValueCache) -> Tensor:
        part = self.part
        q = functional.linear(x, part.query.weight, part.query.bias)
        q = q if part.query_norm is None else part.query_norm.forward(q)
        k, v = cache.kept[part.name]
        k, v = part.shared(k), part.shared(v)
        q = q.view(len(x), part.heads, 1, self.width)
        context = functional.scaled_dot_product_attention(q, k, v, scale=part.scale)
        return functional.linear(context.view(len(x), -1), part.output.weight, part.output.bias)


SUPPORTED: frozenset[type[nn.Module]] = frozenset(
    {
        Embeddings,
        Layer,
        MultiHeadAttention,
        AddNorm,
        FeedForward,
        Head,
        Norm,
        RMSNorm,
        BareNorm,
        AbsentNorm,
        AbsentFeedForward,
        nn.Linear,
        nn.Embedding,
        nn.Dropout,
    }
)
