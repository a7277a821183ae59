"""One Transformer for every family.

An encoder and a decoder are the same stack under a different mask. An encoder-decoder is a decoder that also attends to the last
hidden states of an encoder: each of its layers has a cross-attention between the two others.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from explorer.nn import tap
from explorer.nn.attention import AttentionInputs, MultiHeadAttention, consecutive
from explorer.nn.cache import KeyValueCache
from explorer.nn.config import Config
from explorer.nn.heads import Head, NextSentence, Replaced, SpanBoundary
from explorer.nn.layers import NORMS, AbsentFeedForward, AddNorm, FeedForward, Norm
from explorer.nn.positions import POSITIONS, Learned, PositionContext
from explorer.records import TapPlace


def norm_of(config: Config, width: int = 0) -> Norm:
    """A norm of the kind that this model uses, of the layers' dimension unless given."""
    return NORMS[config.norm](width or config.dim, config.norm_epsilon)


def position_context(config: Config, stream: str, width: int = 0) -> PositionContext:
    """What a position scheme may know about this model; its vectors have the layers' dimension unless given."""
    return PositionContext(
        width or config.dim, config.heads, config.length, stream == "decoder", config.rope_base, config.norm_epsilon
    )


class Embeddings(nn.Module):
    """The input as a sum: token + position + segment, then (in some models) a norm."""

    def __init__(self, config: Config, stream: str, tokens: nn.Embedding | None = None) -> None:
        super().__init__()
        self.stream, width = stream, config.embedding_width
        self.tokens = nn.Embedding(config.vocab, width) if tokens is None else tokens
        self.position = POSITIONS[config.positions](position_context(config, stream, width))
        self.segments = nn.Embedding(config.segments, width) if config.segments else None
        self.norm = norm_of(config, width) if config.embedding_norm else None
        self.scale = config.dim**0.5 if config.embedding_scale else 1.0
        self.drop = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor | None, positions: Tensor) -> Tensor:
        """From ids [batch, position], which are at these positions, to vectors [batch, position, width]."""
        parts = {"token": self.tokens(ids) * self.scale}
        positions = tap.edited(TapPlace.POSITIONS, self.stream, -1, positions)
        added = None if positions is None else self.position.add(positions)
        if added is not None:
            parts["position"] = added.expand_as(parts["token"])
        if self.segments is not None:
            parts["segment"] = self.segments(torch.zeros_like(ids) if segments is None else segments)
        total = sum(parts.values(), parts["token"].new_zeros(()))
        tap.tap(TapPlace.EMBEDDINGS, self.stream, **parts, sum=total)
        vectors: Tensor = self.drop(total if self.norm is None else self.norm(total))
        return vectors


class Layer(nn.Module):
    """Attention, add & norm; in an encoder-decoder cross-attention, add & norm; feed-forward, add & norm.

    A part of a built model may be replaced by any module that is called as it is, for example a feed-forward layer by a mixture of
    experts: `model.module.layers[0].feed_forward = …`; and so may a whole layer. Decoding reads such a model over the whole text at
    every step, unless the class says `incremental = True` beside its `forward`: each position for itself, or with an `Attention`
    that is given the cache (see `nn.cache`).
    """

    def __init__(self, config: Config, stream: str, layer: int) -> None:
        super().__init__()
        self.name = (stream, layer)
        self.attention = MultiHeadAttention(config, self.name)
        self.after_attention = self._add_norm(config)
        self.cross, self.after_cross = None, None
        if stream == "decoder" and config.family == "encoder-decoder":
            self.cross, self.after_cross = MultiHeadAttention(config, ("cross", layer)), self._add_norm(config)
        self.feed_forward: FeedForward | AbsentFeedForward = AbsentFeedForward()
        if config.feed_forward:
            self.feed_forward = FeedForward(config.dim, config.hidden, config.activation, bias=config.bias)
        self.after_feed_forward = self._add_norm(config)

    @staticmethod
    def _add_norm(config: Config) -> AddNorm:
        return AddNorm(norm_of(config), config.norm_place, config.dropout, residual=config.residual)

    def forward(self, x: Tensor, inputs: AttentionInputs) -> Tensor:
        """From [batch, position, dim] to the same shape."""
        attention, cross = self.attention, self.cross
        x = self.after_attention(x, lambda y: attention(y, inputs), (*self.name, "attention"))
        if cross is not None and self.after_cross is not None:
            x = self.after_cross(x, lambda y: cross(y, inputs), (*self.name, "cross-attention"))
        x = self.after_feed_forward(x, lambda y: self.feed_forward(y, self.name), (*self.name, "feed-forward"))
        x = tap.edited(TapPlace.HIDDEN, *self.name, x)
        tap.tap(TapPlace.HIDDEN, *self.name, x=x)
        return x


class MaskDecoder(nn.Module):
    """DeBERTa's enhanced mask decoder: the last layer twice, with the same weights, with absolute positions in the queries.

    Keys and values are computed from H, the input of the last layer, both times. The queries come from H + a vector for each position
    the first time, and from the result the second time: so absolute positions enter only just before the prediction, in addition to
    all distances.
    """

    def __init__(self, config: Config, last: Layer) -> None:
        super().__init__()
        self.position = Learned(position_context(config, last.name[0]))
        self.again = Layer(config, last.name[0], last.name[1] + 1)
        for mine, its in ((self.again, last), (self.again.attention, last.attention)):
            for name, part in its.named_children():
                if name != "attention":  # which knows the number of its layer
                    setattr(mine, name, part)

    def forward(self, last: Layer, x: Tensor, inputs: AttentionInputs) -> Tensor:
        """From the input of the last layer, [batch, position, dim], to the input of the output layer."""
        inputs = replace(inputs, key_value_states=x)
        positions = tap.edited(TapPlace.POSITIONS, last.name[0], -1, inputs.positions[1])
        queries = x if positions is None else x + self.position.add(positions)
        states: Tensor = self.again(last(queries, inputs), inputs)
        return states


class Stack(nn.Module):
    """Embeddings and layers; in some models a projection from the dimension of the embeddings to that of the layers, and a final
    norm.
    """

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

    def run(
        self,
        ids: Tensor,
        segments: Tensor | None = None,
        attention_mask: Tensor | None = None,
        memory: tuple[Tensor, Tensor | None] | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """The last hidden states [batch, position, dim] of `ids` [batch, position]; `memory` is the encoder's, with its mask."""
        begin = 0 if cache is None else cache.length
        positions, (encoded, mask) = consecutive(ids.shape[1], begin, ids.device), memory or (None, None)
        inputs = AttentionInputs(self.embeddings.position, positions, attention_mask, encoded, mask, cache)
        x = self.embeddings(ids, segments, positions[0])
        x = x if self.project is None else self.project(x)
        x = tap.edited(TapPlace.HIDDEN, self.stream, -1, x)
        tap.tap(TapPlace.HIDDEN, self.stream, -1, x=x)
        for layer in self.layers if self.mask_decoder is None else self.layers[:-1]:
            x = layer(x, inputs)
        if self.mask_decoder is not None:
            x = self.mask_decoder(self.layers[-1], x, inputs)
        states: Tensor = x if self.norm is None else self.norm(x)
        return states


class Transformer(Stack):
    """A stack with one output layer for each thing that it predicts; as an encoder-decoder, with an encoder beside it.

    A discriminator (ELECTRA) predicts nothing over the vocabulary. Its generator is a separate, smaller Transformer with the same
    embeddings; only training runs it.
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
        self,
        ids: Tensor,
        segments: Tensor | None = None,
        attention_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """The last hidden states [batch, position, dim] of one stack; `attention_mask` is False at padding (at the right end)."""
        return self.run(ids, segments, attention_mask, cache=cache)

    def encode(self, source: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """The encoder's last hidden states for the source: [batch, key, dim]. Computed once for a whole decoding."""
        assert self.encoder is not None, "only an encoder-decoder encodes"
        return self.encoder.run(source, None, attention_mask)

    def decode(
        self,
        memory: Tensor,
        target: Tensor,
        attention_mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """The decoder's last states for `target` (which begins with the start token), looking at `memory`, whose mask this is."""
        return self.run(target, memory=(memory, attention_mask), cache=cache)

    def outputs(self, hidden: Tensor) -> dict[str, Tensor]:
        """Everything that this model predicts from its last hidden states: raw scores by name."""
        if self.replaced is not None:
            return {"rtd": self.replaced(hidden)}  # [batch, position]
        scores = {"lm": self.head(hidden)}  # [batch, position, vocab]
        if self.next_sentence is not None:
            scores["nsp"] = self.next_sentence(hidden)  # [batch, 2]
        return scores


def initialise(module: nn.Module, seed: int, deviation: float = 0.02) -> nn.Module:
    """Initialise every weight from `seed`: matrices from a normal distribution, biases 0, norms 1; tables as chosen.

    Where the output layer divides by √d (T5), the token embeddings that it shares have deviation 1; where q·k is not divided by √d,
    the queries begin so much smaller. Both are as published.
    """
    rng = torch.Generator().manual_seed(seed)
    tables = module.config.tables if isinstance(module, Transformer) else "random"
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                part.weight.normal_(0.0, deviation, generator=rng)
            if isinstance(part, nn.Linear) and part.bias is not None:
                part.bias.zero_()
        if isinstance(module, Transformer) and module.config.scaled_head:
            module.embeddings.tokens.weight.div_(deviation)
        for part in module.modules():
            if isinstance(part, MultiHeadAttention) and part.scale == 1.0:
                part.query.weight.mul_((part.query.out_features // part.heads) ** -0.5)
            if isinstance(part, Learned) and tables == "sines":
                part.begin()
    return module
