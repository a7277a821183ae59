"""One Transformer for every family. An encoder and a decoder are the same stack under a different mask."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer import tap
from explorer.nn.attention import Attention
from explorer.nn.config import Config
from explorer.nn.heads import Head, NextSentence
from explorer.nn.layers import NORMS, AddNorm, FeedForward, Norm
from explorer.nn.positions import POSITIONS, Room


def norm_of(config: Config) -> Norm:
    """A norm of the kind that this model uses."""
    return NORMS[config.norm](config.dim, config.norm_epsilon)


class Embeddings(nn.Module):
    """The input as a sum: token + position + segment, then (in some models) a norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.tokens = nn.Embedding(config.vocab, config.dim)
        self.position = POSITIONS[config.positions](Room(config.dim, config.heads, config.length, config.causal))
        self.segments = nn.Embedding(config.segments, config.dim) if config.segments else None
        self.norm = norm_of(config) if config.embedding_norm else None
        self.scale = config.dim**0.5 if config.embedding_scale else 1.0
        self.drop = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor, segments: Tensor | None = None) -> Tensor:
        """From ids [batch, position] to vectors [batch, position, dim]."""
        parts = {"token": self.tokens(ids) * self.scale}
        where = self.position.add(torch.arange(ids.shape[1], device=ids.device))
        if where is not None:
            parts["position"] = where.expand_as(parts["token"])
        if self.segments is not None:
            parts["segment"] = self.segments(torch.zeros_like(ids) if segments is None else segments)
        total = sum(parts.values(), torch.zeros(()).to(parts["token"]))
        tap.tap("embeddings", **parts, sum=total)
        return self.drop(total if self.norm is None else self.norm(total))


class Layer(nn.Module):
    """Attention, add & norm, feed-forward, add & norm."""

    def __init__(self, config: Config, stream: str, layer: int) -> None:
        super().__init__()
        self.name = (stream, layer)
        self.attention = Attention(config, self.name, terms=POSITIONS[config.positions].terms)
        self.feed_forward = FeedForward(config.dim, config.hidden, config.activation, bias=config.bias)
        self.after_attention, self.after_feed_forward = (
            AddNorm(norm_of(config), config.norm_place, config.dropout) for _ in range(2)
        )

    def forward(self, x: Tensor, embeddings: Embeddings, real: Tensor | None) -> Tensor:
        """From [batch, position, dim] to the same shape."""
        x = self.after_attention(x, lambda y: self.attention(y, embeddings.position, real), (*self.name, "attention"))
        x = self.after_feed_forward(x, self.feed_forward, (*self.name, "feed-forward"))
        tap.tap("hidden", *self.name, x=x)
        return x


class Transformer(nn.Module):
    """Embeddings, a stack of layers, and one head for each thing that it predicts."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config, config.family, i) for i in range(config.layers))
        self.norm = norm_of(config) if config.final_norm else None
        self.head = Head(config, self.embeddings.tokens)
        self.next_sentence = NextSentence(config.dim) if config.next_sentence else None

    def forward(self, ids: Tensor, segments: Tensor | None = None, real: Tensor | None = None) -> Tensor:
        """The last hidden states [batch, position, dim] of `ids` [batch, position]; `real` is False at padding (the right end)."""
        x = self.embeddings(ids, segments)
        tap.tap("hidden", self.config.family, -1, x=x)
        for layer in self.layers:
            x = layer(x, self.embeddings, real)
        return x if self.norm is None else self.norm(x)

    def outputs(self, hidden: Tensor) -> dict[str, Tensor]:
        """Everything that this model predicts from its last hidden states: raw scores by name."""
        found = {"lm": self.head(hidden)}  # [batch, position, vocab]
        if self.next_sentence is not None:
            found["nsp"] = self.next_sentence(hidden)  # [batch, 2]
        return found


def initialise(module: nn.Module, seed: int, deviation: float = 0.02) -> nn.Module:
    """Fill every weight anew from `seed`: matrices from a normal distribution, biases 0, norms 1."""
    chance = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, (nn.Linear, nn.Embedding)):
                part.weight.normal_(0.0, deviation, generator=chance)
            if isinstance(part, nn.Linear) and part.bias is not None:
                part.bias.zero_()
    return module
