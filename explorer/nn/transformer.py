"""One Transformer for every family.

An encoder and a decoder are the same stack under a different mask. An encoder-decoder is a decoder that also looks at
the last states of an encoder: each of its layers has a cross-attention block between the two others.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer import tap
from explorer.nn.attention import Attention, Sight
from explorer.nn.cache import Cache
from explorer.nn.config import Config
from explorer.nn.heads import Head, NextSentence, Replaced, SpanBoundary
from explorer.nn.layers import NORMS, AddNorm, FeedForward, Norm
from explorer.nn.positions import POSITIONS, Learned, Room


def norm_of(config: Config, width: int = 0) -> Norm:
    """A norm of the kind that this model uses, as wide as its layers unless said."""
    return NORMS[config.norm](width or config.dim, config.norm_epsilon)


def room_of(config: Config, stream: str, width: int = 0) -> Room:
    """What a position scheme may know of this model; its vectors are as wide as the layers unless said."""
    return Room(width or config.dim, config.heads, config.length, stream == "decoder", config.rope_base, config.norm_epsilon)


class Embeddings(nn.Module):
    """The input as a sum: token + position + segment, then (in some models) a norm."""

    def __init__(self, config: Config, stream: str, tokens: nn.Embedding | None = None) -> None:
        super().__init__()
        self.stream, width = stream, config.embedding_width
        self.tokens = nn.Embedding(config.vocab, width) if tokens is None else tokens
        self.position = POSITIONS[config.positions](room_of(config, stream, width))
        self.segments = nn.Embedding(config.segments, width) if config.segments else None
        self.norm = norm_of(config, width) if config.embedding_norm else None
        self.scale = config.dim**0.5 if config.embedding_scale else 1.0
        self.drop = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor | None = None, begin: int = 0) -> Tensor:
        """From ids [batch, position], the first of which stands at place `begin`, to vectors [batch, position, width]."""
        parts = {"token": self.tokens(ids) * self.scale}
        where = tap.edited("places", self.stream, -1, torch.arange(begin, begin + ids.shape[1], device=ids.device))
        added = None if where is None else self.position.add(where)
        if added is not None:
            parts["position"] = added.expand_as(parts["token"])
        if self.segments is not None:
            parts["segment"] = self.segments(torch.zeros_like(ids) if segments is None else segments)
        total = sum(parts.values(), torch.zeros(()).to(parts["token"]))
        tap.tap("embeddings", self.stream, **parts, sum=total)
        return self.drop(total if self.norm is None else self.norm(total))


class Layer(nn.Module):
    """Attention, add & norm; in an encoder-decoder cross-attention, add & norm; feed-forward, add & norm."""

    def __init__(self, config: Config, stream: str, layer: int) -> None:
        super().__init__()
        self.name = (stream, layer)
        self.attention = Attention(config, self.name)
        self.after_attention = self._add_norm(config)
        self.cross, self.after_cross = None, None
        if stream == "decoder" and config.family == "encoder-decoder":
            self.cross, self.after_cross = Attention(config, ("cross", layer)), self._add_norm(config)
        self.feed_forward = FeedForward(config.dim, config.hidden, config.activation, bias=config.bias)
        self.after_feed_forward = self._add_norm(config)

    @staticmethod
    def _add_norm(config: Config) -> AddNorm:
        return AddNorm(norm_of(config), config.norm_place, config.dropout)

    def forward(self, x: Tensor, sight: Sight) -> Tensor:
        """From [batch, position, dim] to the same shape."""
        attention, cross = self.attention, self.cross
        x = self.after_attention(x, lambda y: attention(y, sight), (*self.name, "attention"))
        if cross is not None and self.after_cross is not None:
            x = self.after_cross(x, lambda y: cross(y, sight), (*self.name, "cross-attention"))
        x = self.after_feed_forward(x, lambda y: self.feed_forward(y, self.name), (*self.name, "feed-forward"))
        x = tap.edited("hidden", *self.name, x)
        tap.tap("hidden", *self.name, x=x)
        return x


class MaskDecoder(nn.Module):
    """DeBERTa's enhanced mask decoder: the last layer twice, with the same weights, asked from absolute places.

    Keys and values are made of H, the states that enter the last layer, both times. The queries are H + a vector for each place
    the first time, and what came of that the second: so places enter only where words are guessed, on top of all distances.
    """

    def __init__(self, config: Config, last: Layer) -> None:
        super().__init__()
        self.position = Learned(room_of(config, last.name[0]))
        self.again = Layer(config, last.name[0], last.name[1] + 1)
        for mine, its in ((self.again, last), (self.again.attention, last.attention)):
            for name, part in its.named_children():
                if name != "attention":  # which knows the number of its layer
                    setattr(mine, name, part)

    def forward(self, last: Layer, x: Tensor, sight: Sight) -> Tensor:
        """From what enters the last layer, [batch, position, dim], to what words are guessed from."""
        seen = replace(sight, states=x)
        where = tap.edited("places", last.name[0], -1, torch.arange(x.shape[1], device=x.device))
        asking = x if where is None else x + self.position.add(where)
        return self.again(last(asking, seen), seen)


class Stack(nn.Module):
    """Embeddings and layers; in some models a matrix from the width of the ones to that of the others, and a last norm."""

    def __init__(
        self, config: Config, stream: str, tokens: nn.Embedding | None = None, embeddings: Embeddings | None = None
    ) -> None:
        super().__init__()
        self.config, self.stream = config, stream
        self.embeddings = Embeddings(config, stream, tokens) if embeddings is None else embeddings
        apart = config.embedding_width != config.dim
        self.project = nn.Linear(config.embedding_width, config.dim) if apart else None
        count = config.encoder_depth if stream == "encoder" else config.layers
        layers = [Layer(config, stream, i) for i in range(count)]
        self.layers = nn.ModuleList(layers)
        self.norm = norm_of(config) if config.final_norm else None
        self.mask_decoder = MaskDecoder(config, layers[-1]) if config.mask_decoder else None

    def run(self, ids: Tensor, segments: Tensor | None, sight: Sight) -> Tensor:
        """The last hidden states [batch, position, dim] of `ids` [batch, position]."""
        begin = 0 if sight.cache is None else sight.cache.length
        x = self.embeddings(ids, segments, begin)
        x = x if self.project is None else self.project(x)
        x = tap.edited("hidden", self.stream, -1, x)
        tap.tap("hidden", self.stream, -1, x=x)
        for layer in self.layers if self.mask_decoder is None else self.layers[:-1]:
            x = layer(x, sight)
        if self.mask_decoder is not None:
            x = self.mask_decoder(self.layers[-1], x, sight)
        return x if self.norm is None else self.norm(x)


class Transformer(Stack):
    """A stack with one head for each thing that it predicts; as an encoder-decoder, with an encoder beside it.

    One that finds what was replaced says nothing about the vocabulary. Its generator is a Transformer of its own, smaller and on
    the same embeddings; only training runs it.
    """

    def __init__(self, config: Config, embeddings: Embeddings | None = None) -> None:
        super().__init__(config, "encoder" if config.family == "encoder" else "decoder", embeddings=embeddings)
        self.encoder = Stack(config, "encoder", self.embeddings.tokens) if config.family == "encoder-decoder" else None
        if not config.replaced:
            self.head = Head(config, self.embeddings.tokens)
        self.replaced = Replaced(config) if config.replaced else None
        self.generator = Transformer(config.generator_config, self.embeddings) if config.generator else None
        self.next_sentence = NextSentence(config.dim) if config.next_sentence else None
        self.span_boundary = SpanBoundary(config) if config.span_boundary else None

    def forward(
        self, ids: Tensor, segments: Tensor | None = None, real: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        """The last hidden states [batch, position, dim] of one stack; `real` is False at padding (at the right end)."""
        return self.run(ids, segments, Sight(self.embeddings.position, real, cache=cache))

    def encode(self, source: Tensor, real: Tensor | None = None) -> Tensor:
        """What the encoder of an encoder-decoder makes of the source: [batch, key, dim]. Once for a whole decoding."""
        assert self.encoder is not None, "only an encoder-decoder encodes"
        return self.encoder.run(source, None, Sight(self.encoder.embeddings.position, real))

    def decode(self, memory: Tensor, target: Tensor, real: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """The decoder's last states for `target` (which begins with the start piece), looking at `memory`."""
        return self.run(target, None, Sight(self.embeddings.position, memory=memory, memory_real=real, cache=cache))

    def outputs(self, hidden: Tensor) -> dict[str, Tensor]:
        """Everything that this model predicts from its last hidden states: raw scores by name."""
        if self.replaced is not None:
            return {"rtd": self.replaced(hidden)}  # [batch, position]
        found = {"lm": self.head(hidden)}  # [batch, position, vocab]
        if self.next_sentence is not None:
            found["nsp"] = self.next_sentence(hidden)  # [batch, 2]
        return found


def initialise(module: nn.Module, seed: int, deviation: float = 0.02) -> nn.Module:
    """Fill every weight anew from `seed`: matrices from a normal distribution, biases 0, norms 1; tables as chosen.

    Where the head divides by √d (T5), the vectors of the pieces that it shares have deviation 1; where q·k is not divided by
    √d, the queries begin so much smaller. Both are as published.
    """
    chance = torch.Generator().manual_seed(seed)
    tables = module.config.tables if isinstance(module, Transformer) else "random"
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                part.weight.normal_(0.0, deviation, generator=chance)
            if isinstance(part, nn.Linear) and part.bias is not None:
                part.bias.zero_()
        if isinstance(module, Transformer) and module.config.scaled_head:
            module.embeddings.tokens.weight.div_(deviation)
        for part in module.modules():
            if isinstance(part, Attention) and part.scale == 1.0:
                part.query.weight.mul_((part.query.out_features // part.heads) ** -0.5)
            if isinstance(part, Learned) and tables == "sines":
                part.begin()
    return module
