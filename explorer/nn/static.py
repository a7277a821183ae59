"""word2vec and GloVe: one vector for each word, independent of the context.

word2vec (skip-gram with negative sampling) distinguishes the context words of a word from negative samples; GloVe fits w·w̃ + b + b̃
to log X, the logarithm of the co-occurrence count of two words. Both have two vectors for each word: one as the centre word, one as a
context word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.errors import ChoiceError
from explorer.nn import tap
from explorer.nn.fast.sparse import products
from explorer.records import TapPlace


@dataclass(frozen=True)
class StaticConfig:
    """The configuration of word vectors: how many words, how many dimensions; `counts` is for GloVe, whose words have biases too."""

    vocab: int
    family: str = "static"
    dim: int = 64
    length: int = 512
    counts: bool = False
    segments: ClassVar[int] = 0  # what a Transformer may have and this has not
    replaced: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("vocab", "dim", "length"):
            if getattr(self, name) < 1:
                raise ChoiceError(f"{name}={getattr(self, name)!r} must be at least 1.")

    @property
    def streams(self) -> dict[str, tuple[int, int]]:
        """There is no attention that could be looked at or edited."""
        return {}


class WordVectors(nn.Module):
    """Two tables of vectors: `words` for the centre word, `near` for context words; for GloVe also a bias for each."""

    def __init__(self, config: StaticConfig) -> None:
        super().__init__()
        self.config = config
        self.words, self.near = nn.Embedding(config.vocab, config.dim), nn.Embedding(config.vocab, config.dim)
        self.word_bias = nn.Embedding(config.vocab, 1) if config.counts else None
        self.near_bias = nn.Embedding(config.vocab, 1) if config.counts else None

    @property
    def table(self) -> Tensor:
        """The vector of every word [word, dim]: for word2vec that of the centre word, for GloVe the sum of both, as published."""
        return self.words.weight + self.near.weight if self.config.counts else self.words.weight

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors of words: from [batch, position] to [batch, position, dim]."""
        x = functional.embedding(ids, self.table)
        tap.tap(TapPlace.HIDDEN, "static", 0, x=x)
        return x

    def closeness(self, middle: Tensor, near: Tensor) -> Tensor:
        """w·w̃, with the biases of GloVe: of each centre word [pair, 1] with each of its context words or negative samples [pair,
        many].
        """
        scores = products(self.words.weight, self.near.weight, middle[:, 0], near)
        if self.word_bias is not None and self.near_bias is not None:
            scores = scores + self.word_bias(middle)[..., 0] + self.near_bias(near)[..., 0]
        return scores


def initialise(module: WordVectors, seed: int) -> WordVectors:
    """Initialise every weight from `seed`: words uniformly within ± 1/(2 dim) and all else 0 (word2vec), or all within that
    (GloVe).
    """
    rng, bound = torch.Generator().manual_seed(seed), 0.5 / module.config.dim
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if module.config.counts or name == "words.weight":
                weight.uniform_(-bound, bound, generator=rng)
            else:
                weight.zero_()
    return module
