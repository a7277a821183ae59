"""One more position of one text, for small decoders on a processor: the sums of `nn.step` on arrays that stay where they are.

With one text and a width of some hundred, a call of PyTorch's takes longer to begin than to finish. So all results have their place
from the start, the large products write into it, and everything between them is NumPy, which begins four times as fast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from explorer.nn.attention import Attention
from explorer.nn.cache import Cache, Name
from explorer.nn.layers import AddNorm, FeedForward, Norm
from explorer.nn.positions import Position
from explorer.nn.step import around
from explorer.nn.transformer import Layer, Transformer

WIDEST = 256  # beyond it the products take longer than their calls, and nothing is won
Inner = Callable[[np.ndarray], np.ndarray]


class Roomy(Cache):
    """The cache of one text with room for what will come: keys and values of each layer as arrays [head, place, width]."""

    def __init__(self, cache: Cache, room: int) -> None:
        super().__init__()
        self.count = cache.length
        self.held: dict[Name, tuple[np.ndarray, np.ndarray]] = {
            name: (_with_room(k, room), _with_room(v, room)) for name, (k, v) in cache.kept.items()
        }

    @property
    def length(self) -> int:
        """How many positions of the text are kept."""
        return self.count

    def plain(self) -> Cache:
        """The same as a cache that grows."""
        cache, count = Cache(), self.count
        for name, pair in self.held.items():
            k, v = (torch.from_numpy(part[None, :, :count].copy()) for part in pair)
            cache.kept[name] = k, v
        return cache


def _with_room(x: Tensor, room: int) -> np.ndarray:
    """[1, head, position, width] as an array [head, room, width] that begins with it."""
    _, heads, count, width = x.shape
    made = np.empty((heads, max(room, count), width), np.float32)
    made[:, :count] = x[0].detach().numpy()
    return made


class Alone:
    """A small decoder laid out for one text. The weights are those of now: after training, lay it out anew."""

    def __init__(self, module: Transformer) -> None:
        embeddings, self.room = module.embeddings, module.config.length
        self.tokens, self.scale = _array(embeddings.tokens.weight), embeddings.scale
        with torch.no_grad():
            added = embeddings.position.add(torch.arange(self.room))
        self.added = None if added is None else _array(added).astype(np.float32, copy=False)
        self.first = None if embeddings.norm is None else _norm(embeddings.norm)
        self.last = None if module.norm is None else _norm(module.norm)
        self.layers = [_Layer(layer) for layer in module.layers if isinstance(layer, Layer)]
        self.head = _Product(module.head.project.weight, module.head.bias)
        self.head_scale = module.head.scale

    @staticmethod
    def fits(module: Transformer) -> bool:
        """Whether this decoder can be laid out so: small, in single precision on a processor, with places on the embeddings alone."""
        config, weight = module.config, module.embeddings.tokens.weight
        scheme = type(module.embeddings.position)
        empty = all(getattr(scheme, slot) is getattr(Position, slot) for slot in ("turn", "bias", "score"))
        plain = module.project is None and config.groups == config.heads and not config.qk_norm and not config.head_transform
        near = weight.device.type == "cpu" and weight.dtype == torch.float32
        return config.family == "decoder" and not module.training and empty and plain and near and config.dim <= WIDEST

    def __call__(self, piece: int, cache: Roomy) -> np.ndarray:
        """The scores [1, vocab] of every piece after this one; the cache, which holds all before, grows by it."""
        at = cache.count
        x = self.tokens[piece] * np.float32(self.scale)
        x = x if self.added is None else x + self.added[at]
        x = x if self.first is None else self.first(x)
        for layer in self.layers:
            x = layer(x, at, cache)
        cache.count = at + 1
        x = x if self.last is None else self.last(x)
        return self.head(x if self.head_scale == 1 else x * np.float32(self.head_scale)).copy()[None]


class _Product:
    """W x + b, into an array that is used again at the next call."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.weight = weight.detach()
        self.bias = None if bias is None else bias.detach()
        self.given, self.made = (np.empty(size, np.float32) for size in (weight.shape[1], weight.shape[0]))
        self.x, self.y = torch.from_numpy(self.given), torch.from_numpy(self.made)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        self.given[:] = x
        if self.bias is None:
            torch.mv(self.weight, self.x, out=self.y)
        else:
            torch.addmv(self.bias, self.weight, self.x, out=self.y)
        return self.made


class _Layer:
    """One layer: attention over the cache and the new place, and the feed-forward part."""

    def __init__(self, layer: Layer) -> None:
        self.attention, self.around = _Own(layer.attention), _around(layer.after_attention)
        self.feed, self.around_feed = _feed(layer.feed_forward), _around(layer.after_feed_forward)

    def __call__(self, x: np.ndarray, at: int, cache: Roomy) -> np.ndarray:
        x = self.around(x, lambda y: self.attention(y, at, cache))
        return self.around_feed(x, self.feed)


class _Own:
    """Attention of the new place to itself and to all before it."""

    def __init__(self, part: Attention) -> None:
        parts = [part.query, part.key, part.value]
        bias = None if part.query.bias is None else torch.cat([p.bias.detach() for p in parts])
        self.project = _Product(torch.cat([p.weight.detach() for p in parts]), bias)
        self.out, self.name, self.scale = _Product(part.output.weight, part.output.bias), part.name, np.float32(part.scale)
        self.qkv = self.project.made.reshape(3, part.heads, -1)  # the same memory

    def __call__(self, x: np.ndarray, at: int, cache: Roomy) -> np.ndarray:
        self.project(x)
        q, k, v = self.qkv
        keys, values = cache.held[self.name]
        keys[:, at], values[:, at] = k, v
        q *= self.scale
        weights = np.matmul(keys[:, : at + 1], q[:, :, None])[:, :, 0]  # [head, key]
        weights -= np.maximum.reduce(weights, axis=1, keepdims=True)
        np.exp(weights, out=weights)
        context = np.matmul(weights[:, None], values[:, : at + 1])[:, 0]  # [head, width]
        context /= np.add.reduce(weights, axis=1, keepdims=True)
        return self.out(context.reshape(-1))


def _around(part: AddNorm) -> Callable[[np.ndarray, Inner], np.ndarray]:
    return around(part.place, _norm(part.norm))


def _norm(part: Norm) -> Inner:
    """The norm of one vector."""
    gain, shift = _array(part.weight), None if part.bias is None else _array(part.bias)
    epsilon, size, centred = part.epsilon, len(gain), part.centred
    share = np.full(size, 1 / size, np.float32)

    def normed(x: np.ndarray) -> np.ndarray:
        if centred:
            x = x - x.dot(share)
        x = x * np.float32((float(x.dot(x)) / size + epsilon) ** -0.5)
        x *= gain
        if shift is not None:
            x += shift
        return x

    return normed


def _feed(part: FeedForward) -> Inner:
    """Widen, bend, narrow."""
    widen, narrow = _Product(part.widen.weight, part.widen.bias), _Product(part.narrow.weight, part.narrow.bias)
    bend, gate = part.bend, None if part.gate is None else _Product(part.gate.weight, part.gate.bias)
    if gate is None:

        def fed(x: np.ndarray) -> np.ndarray:
            widen(x)
            return narrow(bend(widen.y).numpy())

        return fed

    def gated(x: np.ndarray) -> np.ndarray:
        gate(x)
        return narrow(bend(gate.y).numpy() * widen(x))

    return gated


def _array(x: Tensor) -> np.ndarray:
    return x.detach().numpy()
