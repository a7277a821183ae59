"""One decoding step of a few texts, for small decoders on a CPU: the computation of the modules on preallocated arrays.

With few texts and a few hundred dimensions, the overhead of a PyTorch call is larger than its work. So all results are preallocated,
the large products write into them, and everything between them is NumPy, whose overhead is four times smaller. One text is an array
[dim], several beams are [beam, dim]; the code is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from explorer.nn.attention import MultiHeadAttention
from explorer.nn.cache import KeyValueCache, Name
from explorer.nn.known_parts import all_known, parts_of
from explorer.nn.layers import AbsentFeedForward, AbsentNorm, AddNorm, FeedForward, Norm
from explorer.nn.transformer import Layer, Transformer

WIDEST, MOST_BEAMS = 256, 16  # beyond them the products take longer than their calls, and nothing is won
Map = Callable[[np.ndarray], np.ndarray]
Sublayer = Callable[[np.ndarray, int, "PreallocatedCache"], np.ndarray]  # the new position, its number, the cache


class PreallocatedCache(KeyValueCache):
    """A cache with space for what will come: keys and values of each layer as arrays [beam, head, position, width].

    A single beam has no first axis. `source` are those of the source [head, position, width], which all beams share. Where they look
    in it is kept in `cross` if that is wanted: [beam, head, source] of each layer.
    """

    def __init__(self, cache: KeyValueCache, capacity: int, *, cross: bool = False) -> None:
        super().__init__()
        self.count, self.capacity = cache.length, capacity
        self.cross: list[np.ndarray] | None = [] if cross else None
        self.keys_values: dict[Name, tuple[np.ndarray, np.ndarray]] = {}
        self.source: dict[Name, tuple[np.ndarray, np.ndarray]] = {}
        for name, (k, v) in cache.entries.items():
            if name[0] == "cross":
                self.source[name] = k[0].detach().numpy(), v[0].detach().numpy()
            else:
                self.keys_values[name] = self._preallocated(k.detach().numpy()), self._preallocated(v.detach().numpy())

    @property
    def length(self) -> int:
        """How many positions of the text are kept."""
        return self.count

    def _preallocated(self, x: np.ndarray) -> np.ndarray:
        """[beam, head, position, width] as an array with all positions, which begins with it."""
        x = x[0] if len(x) == 1 else x
        array = np.empty((*x.shape[:-2], max(self.capacity, x.shape[-2]), x.shape[-1]), np.float32)
        array[..., : x.shape[-2], :] = x
        return array

    def select(self, parents: Sequence[int]) -> None:
        """Go on with these beams, in this order."""
        count, chosen = self.count, list(parents)
        for name, pair in self.keys_values.items():
            several = [_by_beam(x) for x in pair]
            kept = [x[chosen, :, :count] for x in several]  # copies
            if len(chosen) == len(several[0]):
                several[0][:, :, :count], several[1][:, :, :count] = kept
            else:
                self.keys_values[name] = self._preallocated(kept[0]), self._preallocated(kept[1])

    def as_cache(self) -> KeyValueCache:
        """The same as a cache that grows."""
        cache, count, beams = KeyValueCache(), self.count, 1
        for name, pair in self.keys_values.items():
            k, v = (torch.from_numpy(_by_beam(x)[:, :, :count].copy()) for x in pair)
            cache.entries[name], beams = (k, v), len(k)
        for name, pair in self.source.items():
            k, v = (torch.from_numpy(x)[None].expand(beams, *x.shape) for x in pair)
            cache.entries[name] = k, v
        return cache


def _by_beam(x: np.ndarray) -> np.ndarray:
    """Keys or values with a first axis for the beams, also where there is one only."""
    return x if x.ndim == 4 else x[None]


class NumpyDecoder:
    """A small decoder prepared for a few texts. It keeps the current weights: create it again after training."""

    def __init__(self, module: Transformer) -> None:
        embeddings, self.capacity = module.embeddings, module.config.length
        self.table, self.scale = _array(embeddings.tokens.weight), embeddings.scale
        with torch.no_grad():
            added = embeddings.position.add(torch.arange(self.capacity))
        self.added = None if added is None else _array(added).astype(np.float32, copy=False)
        self.embedding_norm = None if embeddings.norm is None else _norm(embeddings.norm)
        self.final_norm = None if module.norm is None else _norm(module.norm)
        self.sublayers = [part for layer in module.layers if isinstance(layer, Layer) for part in _sublayers(layer)]
        self.head, self.head_scale = _Product(module.head.project), module.head.scale
        self.head.bias = None if module.head.bias is None else module.head.bias.detach()

    @staticmethod
    def fits(module: Transformer) -> bool:
        """Whether this decoder can be laid out so: small, in single precision on a processor, and of parts that have a sum here."""
        if type(module) is not Transformer or module.stream != "decoder" or module.training or module.project is not None:
            return False
        embeddings, weight = module.embeddings, module.embeddings.tokens.weight
        added = embeddings.segments is None and embeddings.position.slots <= {"add"}
        near = weight.device.type == "cpu" and weight.dtype == torch.float32 and module.config.dim <= WIDEST
        return added and near and all(map(all_known, (*parts_of(module), module.head))) and all(map(_is_plain, module.layers))

    def __call__(self, tokens: Sequence[int], cache: PreallocatedCache) -> np.ndarray:
        """The scores [beam, vocab] of every token after these; the cache, which holds all before, grows by them."""
        at = cache.count
        x = self.table[tokens[0] if len(tokens) == 1 else list(tokens)] * np.float32(self.scale)
        x = x if self.added is None else x + self.added[at]
        x = x if self.embedding_norm is None else self.embedding_norm(x)
        for sublayer in self.sublayers:
            x = sublayer(x, at, cache)
        cache.count = at + 1
        x = x if self.final_norm is None else self.final_norm(x)
        scores = self.head(x if self.head_scale == 1 else x * np.float32(self.head_scale)).copy()
        return scores.reshape(len(tokens), -1)


def _is_plain(layer: nn.Module) -> bool:
    """Whether the attention of a layer has as many keys as queries and no norms of them."""
    if not isinstance(layer, Layer):
        return False
    parts = [part for part in (layer.attention, layer.cross) if part is not None]
    return all(part.groups == part.heads and part.query_norm is None for part in parts)


def _sublayers(layer: Layer) -> Iterator[Sublayer]:
    """Attention over the cache and the new position, perhaps over the source, and the feed-forward part."""
    yield _add_norm(layer.after_attention, _Attention(layer.attention))
    if layer.cross is not None and layer.after_cross is not None:
        yield _add_norm(layer.after_cross, _Attention(layer.cross))
    yield _add_norm(layer.after_feed_forward, _feed_forward(layer.feed_forward))


def _joined(parts: Sequence[Tensor]) -> Tensor:
    return (parts[0] if len(parts) == 1 else torch.cat([*parts])).detach()


class _Product:
    """W x + b for each text, into an array that is used again at the next call; several W are one below the other."""

    def __init__(self, *layers: nn.Linear) -> None:
        self.weight = _joined([layer.weight for layer in layers])
        self.bias: Tensor | None = None if layers[0].bias is None else _joined([layer.bias for layer in layers])
        self._lay_out(())

    def _lay_out(self, beams: tuple[int, ...]) -> None:
        """Arrays for so many texts; () is one."""
        self.given, self.product = (np.empty((*beams, size), np.float32) for size in self.weight.shape[::-1])
        self.x, self.y = torch.from_numpy(self.given), torch.from_numpy(self.product)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        if x.shape != self.given.shape:
            self._lay_out(x.shape[:-1])
        self.given[:] = x
        single = x.ndim == 1
        if self.bias is None:
            torch.mv(self.weight, self.x, out=self.y) if single else torch.mm(self.x, self.weight.T, out=self.y)
        elif single:
            torch.addmv(self.bias, self.weight, self.x, out=self.y)
        else:
            torch.addmm(self.bias, self.x, self.weight.T, out=self.y)
        return self.product


class _Attention:
    """Attention of the new position to itself and to all before it, or to the source, whose keys and values do not change."""

    def __init__(self, part: MultiHeadAttention) -> None:
        self.crossing, self.name, self.scale, self.heads = part.stream == "cross", part.name, np.float32(part.scale), part.heads
        self.project = _Product(part.query) if self.crossing else _Product(part.query, part.key, part.value)
        self.out = _Product(part.output)

    def __call__(self, x: np.ndarray, at: int, cache: PreallocatedCache) -> np.ndarray:
        """softmax(q·kᵀ · scale) · v, then W_O."""
        projected = self.project(x).reshape(*x.shape[:-1], -1, self.heads, x.shape[-1] // self.heads)  # the same memory
        keys, values = (cache.source if self.crossing else cache.keys_values)[self.name]
        if not self.crossing:
            keys[..., at, :], values[..., at, :] = projected[..., 1, :, :], projected[..., 2, :, :]
            keys, values = keys[..., : at + 1, :], values[..., : at + 1, :]
        q = projected[..., 0, :, :]
        q *= self.scale
        weights: np.ndarray = np.matmul(keys, q[..., None])[..., 0]  # [beam, head, key]
        weights -= np.maximum.reduce(weights, axis=-1, keepdims=True)
        np.exp(weights, out=weights)
        total = np.add.reduce(weights, axis=-1, keepdims=True)
        if self.crossing and cache.cross is not None:
            cache.cross.append(weights / total)
        context = np.matmul(weights[..., None, :], values)[..., 0, :]
        context /= total
        return self.out(context.reshape(*context.shape[:-2], -1))


def _add_norm(part: AddNorm, inner: Sublayer) -> Sublayer:
    """A sub-layer with the residual sum and the norm, where this model has them."""
    norm, place, residual = _norm(part.norm), part.place, part.residual

    def sublayer(x: np.ndarray, at: int, cache: PreallocatedCache) -> np.ndarray:
        out = inner(norm(x) if place == "pre" else x, at, cache)
        out = norm(out) if place == "inside" else out
        total = x + out if residual else out
        return norm(total) if place == "post" else total

    return sublayer


def _norm(part: Norm) -> Map:
    """The norm of a vector, or of one for each beam."""
    if isinstance(part, AbsentNorm):
        return lambda x: x
    gain, shift = _array(part.weight), None if part.bias is None else _array(part.bias)
    epsilon, size, centred = part.epsilon, len(gain), part.centred
    share = np.full(size, 1 / size, np.float32)

    def normed(x: np.ndarray) -> np.ndarray:
        several = x.ndim > 1
        if centred:
            x = x - (x.dot(share)[:, None] if several else x.dot(share))
        if several:
            x = x * ((np.einsum("bd,bd->b", x, x) / size + epsilon) ** -0.5)[:, None]
        else:
            x = x * np.float32((float(x.dot(x)) / size + epsilon) ** -0.5)
        x *= gain
        if shift is not None:
            x += shift
        return x

    return normed


def _feed_forward(part: FeedForward | AbsentFeedForward) -> Sublayer:
    """The feed-forward layer of a vector, or of one for each beam."""
    if isinstance(part, AbsentFeedForward):
        return lambda x, at, cache: np.zeros_like(x)
    widen, narrow, activation = _Product(part.widen), _Product(part.narrow), part.activation
    gate = None if part.gate is None else _Product(part.gate)

    def fed(x: np.ndarray, at: int, cache: PreallocatedCache) -> np.ndarray:
        units = widen(x)
        if gate is None:
            return narrow(activation(widen.y).numpy())
        gate(x)
        return narrow(activation(gate.y).numpy() * units)

    return fed


def _array(x: Tensor) -> np.ndarray:
    return x.detach().numpy()
