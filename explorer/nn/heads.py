"""The output layers: what is predicted from the last hidden states."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.nn.config import Config
from explorer.nn.layers import ACTIVATIONS

FURTHEST = 20  # so many positions in a span have an embedding, as published; tokens further in share the last one


class Head(nn.Module):
    """The output layer: a score for every token of the vocabulary, by the token embeddings (tied) or a separate matrix."""

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
        states = (hidden if self.transform is None else self.transform(hidden)) * self.scale
        scores: Tensor = self.project(states)
        return scores if self.bias is None else scores + self.bias


class Transform(nn.Module):
    """BERT's extra layer before the output layer: dense, activation, norm. Its output has the dimension of the embeddings."""

    def __init__(self, config: Config, wide: int = 0) -> None:
        super().__init__()
        self.dense = nn.Linear(wide or config.dim, config.embedding_width)
        self.activation = ACTIVATIONS[config.activation]
        self.norm = nn.LayerNorm(config.embedding_width, eps=config.norm_epsilon)

    def forward(self, hidden: Tensor) -> Tensor:
        """From [..., dim] (or another input dimension) to [..., dimension of the embeddings]."""
        states: Tensor = self.norm(self.activation(self.dense(hidden)))
        return states


class NextSentence(nn.Module):
    """Does B follow A? The first position, pooled by tanh(W h + b), against two classes (0: it follows)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.pool = nn.Linear(dim, dim)
        self.classify = nn.Linear(dim, 2)

    def forward(self, hidden: Tensor) -> Tensor:
        """From [batch, position, dim] to [batch, 2]."""
        scores: Tensor = self.classify(torch.tanh(self.pool(hidden[:, 0])))
        return scores


class SpanBoundary(nn.Module):
    """SpanBERT's second output layer: each token of a hidden span from the span's two boundaries and the token's position in it.

    h = LN(GELU(W₁ [x_{s−1}; x_{e+1}; p_{i−s+1}])), y = LN(GELU(W₂ h)), scores = y Eᵀ + b with the token embeddings E. The x are the
    encoder's *last states* at the boundaries: they have seen all of the text around the span, not these two words alone.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.places = nn.Embedding(FURTHEST, config.dim)
        self.first = Transform(config, 3 * config.dim)
        self.second = Transform(config, config.embedding_width)
        self.bias = nn.Parameter(torch.zeros(config.vocab))

    def forward(self, hidden: Tensor, covered: Tensor, where: Tensor, tokens: Tensor) -> Tensor:
        """Scores [predicted token, vocab] at the positions `where`, counted through all rows of the last states [batch, position,
        dim].

        `covered` [batch, position] says which tokens are hidden; `tokens` are the embeddings [vocab, dim].
        """
        left, right, place = (part.flatten().index_select(0, where) for part in borders(covered))
        row, states = where - where % covered.shape[1], hidden.flatten(0, 1)
        inside = self.places(place.clamp(0, FURTHEST - 1))
        seen = torch.cat((states.index_select(0, row + left), states.index_select(0, row + right), inside), dim=-1)
        return functional.linear(self.second(self.first(seen)), tokens, self.bias)


def borders(covered: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The nearest positions to the left and to the right that are not hidden, and the position in the span from 0: each [batch,
    position].

    Hidden neighbours are one span, however they were drawn (the published code merges them too), so no boundary is hidden itself. A
    span at an end of the text lies beside [CLS] or [SEP]; the published code, whose texts have none there, leaves it out.
    """
    count = covered.shape[1]
    at = torch.arange(count, device=covered.device).expand_as(covered)
    left = at.masked_fill(covered, -1).cummax(dim=1).values
    right = at.masked_fill(covered, count).flip(1).cummin(dim=1).values.flip(1)
    return left, right, at - left - 1


class Replaced(nn.Module):
    """Was this token replaced? A dense layer, an activation, and one number for every token (ELECTRA); above 0 it says yes."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.dense = nn.Linear(config.dim, config.dim)
        self.activation = ACTIVATIONS[config.activation]
        self.classify = nn.Linear(config.dim, 1)

    def forward(self, hidden: Tensor) -> Tensor:
        """From [batch, position, dim] to [batch, position]."""
        scores: Tensor = self.classify(self.activation(self.dense(hidden)))[..., 0]
        return scores
