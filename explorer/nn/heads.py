"""What is read off the last hidden states."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from explorer.nn.config import Config
from explorer.nn.layers import ACTIVATIONS


class Head(nn.Module):
    """A score for every piece of the vocabulary: hidden states against the token embeddings (tied) or a matrix of its own."""

    def __init__(self, config: Config, tokens: nn.Embedding) -> None:
        super().__init__()
        self.project = nn.Linear(config.embedding_width if config.head_transform else config.dim, config.vocab, bias=False)
        self.scale = config.dim**-0.5 if config.scaled_head else 1.0
        if config.tied:
            self.project.weight = tokens.weight
        self.bias = nn.Parameter(torch.zeros(config.vocab)) if config.head_bias else None
        self.transform = Transform(config) if config.head_transform else None

    def forward(self, hidden: Tensor) -> Tensor:
        """From [..., dim] to [..., vocab]."""
        hidden = hidden if self.transform is None else self.transform(hidden)
        scores = self.project(hidden * self.scale)
        return scores if self.bias is None else scores + self.bias


class Transform(nn.Module):
    """BERT's extra layer before the vocabulary: dense, bend, norm. It leads to the width of the embeddings."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(config.dim, config.embedding_width)
        self.bend = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.embedding_width, eps=config.norm_epsilon)

    def forward(self, hidden: Tensor) -> Tensor:
        """From [..., dim] to [..., width of the embeddings]."""
        return self.norm(self.bend(self.dense(hidden)))


class NextSentence(nn.Module):
    """Does B follow A? The first position, pooled by tanh(W h + b), against two classes (0: it follows)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.pool = nn.Linear(dim, dim)
        self.classify = nn.Linear(dim, 2)

    def forward(self, hidden: Tensor) -> Tensor:
        """From [batch, position, dim] to [batch, 2]."""
        return self.classify(torch.tanh(self.pool(hidden[:, 0])))


class Replaced(nn.Module):
    """Was this piece replaced? A dense layer, a bend, and one number for every piece (ELECTRA); above 0 it says yes."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(config.dim, config.dim)
        self.bend = ACTIVATIONS[config.activation]
        self.classify = nn.Linear(config.dim, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        """From [batch, position, dim] to [batch, position]."""
        return self.classify(self.bend(self.dense(hidden)))[..., 0]
