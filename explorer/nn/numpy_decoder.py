"""One decoding step of one text, for small decoders on a CPU: the computation of `nn.incremental` on preallocated arrays.

With one text and a few hundred dimensions, the overhead of a PyTorch call is larger than its work. So all results are preallocated,
the large products write into them, and everything between them is NumPy, whose overhead is four times smaller.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from explorer.nn.attention import MultiHeadAttention
from explorer.nn.cache import KeyValueCache, Name
from explorer.nn.incremental import IncrementalDecoder, add_norm, alone, supported
from explorer.nn.layers import AbsentFeedForward, AbsentNorm, AddNorm, FeedForward, Norm
from explorer.nn.transformer import Layer, Transformer

WIDEST = 256  # beyond it the products take longer than their calls, and nothing is won
Map = Callable[[np.ndarray], np.ndarray]


class PreallocatedCache(KeyValueCache):
    """The cache of one text with space for what will come: keys and values of each layer as arrays [head, position, width]."""

    def __init__(self, cache: KeyValueCache, capacity: int) -> None:
        super().__init__()
        self.count = cache.length
        self.keys_values: dict[Name, tuple[np.ndarray, np.ndarray]] = {
            name: (_preallocated(k, capacity), _preallocated(v, capacity)) for name, (k, v) in cache.kept.items()
        }

    @property
    def length(self) -> int:
        """How many positions of the text are kept."""
        return self.count

    def as_cache(self) -> KeyValueCache:
        """The same as a cache that grows."""
        cache, count = KeyValueCache(), self.count
        for name, pair in self.keys_values.items():
            k, v = (torch.from_numpy(part[None, :, :count].copy()) for part in pair)
            cache.kept[name] = k, v
        return cache


def _preallocated(x: Tensor, capacity: int) -> np.ndarray:
    """[1, head, position, width] as an array [head, capacity, width] that begins with it."""
    _, heads, count, width = x.shape
    made = np.empty((heads, max(capacity, count), width), np.float32)
    made[:, :count] = x[0].detach().numpy()
    return made


class NumpyDecoder:
    """A small decoder prepared for one text. It keeps the current weights: create it again after training."""

    def __init__(self, module: Transformer) -> None:
        embeddings, self.capacity = module.embeddings, module.config.length
        self.table, self.scale = _array(embeddings.tokens.weight), embeddings.scale
        with torch.no_grad():
            added = embeddings.position.add(torch.arange(self.capacity))
        self.added = None if added is None else _array(added).astype(np.float32, copy=False)
        self.embedding_norm = None if embeddings.norm is None else _norm(embeddings.norm)
        self.final_norm = None if module.norm is None else _norm(module.norm)
        self.layers = [_Layer(layer) for layer in module.layers if isinstance(layer, Layer)]
        self.head = _Product(module.head.project.weight, module.head.bias)
        self.head_scale = module.head.scale

    @staticmethod
    def fits(module: Transformer) -> bool:
        """Whether this decoder can be laid out so: small, in single precision on a processor, and of parts that have a sum here."""
        if not IncrementalDecoder.fits(module) or module.project is not None or not supported(module.head):
            return False
        weight, added = module.embeddings.tokens.weight, module.embeddings.position.slots <= {"add"}
        near = weight.device.type == "cpu" and weight.dtype == torch.float32
        return added and near and module.config.dim <= WIDEST and all(_plain(layer) for layer in module.layers)

    def __call__(self, token: int, cache: PreallocatedCache) -> np.ndarray:
        """The scores [1, vocab] of every token after this one; the cache, which holds all before, grows by it."""
        at = cache.count
        x = self.table[token] * np.float32(self.scale)
        x = x if self.added is None else x + self.added[at]
        x = x if self.embedding_norm is None else self.embedding_norm(x)
        for layer in self.layers:
            x = layer(x, at, cache)
        cache.count = at + 1
        x = x if self.final_norm is None else self.final_norm(x)
        return self.head(x if self.head_scale == 1 else x * np.float32(self.head_scale)).copy()[None]


def _plain(layer: nn.Module) -> bool:
    """Whether a layer reads no source, and its attention has as many keys as queries and no norms of them."""
    if not isinstance(layer, Layer) or layer.cross is not None:
        return False
    return layer.attention.groups == layer.attention.heads and layer.attention.query_norm is None


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
    """One layer: attention over the cache and the new position, and the feed-forward part."""

    def __init__(self, layer: Layer) -> None:
        self.attention, self.add_norm = _SelfAttention(layer.attention), _add_norm(layer.after_attention)
        self.feed_forward, self.add_norm_feed_forward = _feed_forward(layer.feed_forward), _add_norm(layer.after_feed_forward)

    def __call__(self, x: np.ndarray, at: int, cache: PreallocatedCache) -> np.ndarray:
        x = self.add_norm(x, lambda y: self.attention(y, at, cache))
        return self.add_norm_feed_forward(x, self.feed_forward)


class _SelfAttention:
    """Attention of the new position to itself and to all before it."""

    def __init__(self, part: MultiHeadAttention) -> None:
        parts = [part.query, part.key, part.value]
        bias = None if part.query.bias is None else torch.cat([p.bias.detach() for p in parts])
        self.project = _Product(torch.cat([p.weight.detach() for p in parts]), bias)
        self.out, self.name, self.scale = _Product(part.output.weight, part.output.bias), part.name, np.float32(part.scale)
        self.qkv = self.project.made.reshape(3, part.heads, -1)  # the same memory

    def __call__(self, x: np.ndarray, at: int, cache: PreallocatedCache) -> np.ndarray:
        self.project(x)
        q, k, v = self.qkv
        keys, values = cache.keys_values[self.name]
        keys[:, at], values[:, at] = k, v
        q *= self.scale
        weights = np.matmul(keys[:, : at + 1], q[:, :, None])[:, :, 0]  # [head, key]
        weights -= np.maximum.reduce(weights, axis=1, keepdims=True)
        np.exp(weights, out=weights)
        context = np.matmul(weights[:, None], values[:, : at + 1])[:, 0]  # [head, width]
        context /= np.add.reduce(weights, axis=1, keepdims=True)
        return self.out(context.reshape(-1))


def _add_norm(part: AddNorm) -> Callable[[np.ndarray, Map], np.ndarray]:
    return (add_norm if part.residual else alone)(part.place, _norm(part.norm))


def _norm(part: Norm) -> Map:
    """The norm of one vector."""
    if isinstance(part, AbsentNorm):
        return lambda x: x
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


def _feed_forward(part: FeedForward | AbsentFeedForward) -> Map:
    """The feed-forward layer of one vector."""
    if isinstance(part, AbsentFeedForward):
        return np.zeros_like
    widen, narrow = _Product(part.widen.weight, part.widen.bias), _Product(part.narrow.weight, part.narrow.bias)
    activation, gate = part.activation, None if part.gate is None else _Product(part.gate.weight, part.gate.bias)
    if gate is None:

        def fed(x: np.ndarray) -> np.ndarray:
            widen(x)
            return narrow(activation(widen.y).numpy())

        return fed

    def gated(x: np.ndarray) -> np.ndarray:
        gate(x)
        return narrow(activation(gate.y).numpy() * widen(x))

    return gated


def _array(x: Tensor) -> np.ndarray:
    return x.detach().numpy()
