"""What is predicted, and where the loss falls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from explorer.corruption.masking import SPLIT, mlm
from explorer.corruption.rows import rows_of
from explorer.nn.transformer import Transformer
from explorer.records import Vocabulary


@dataclass(frozen=True)
class Batch:
    """Rows of text, padded at the right: [row, position]; `follows` says for each pair whether B follows A."""

    ids: np.ndarray
    segments: np.ndarray
    real: np.ndarray
    follows: np.ndarray | None = None


Losses = dict[str, Tensor]
Objective = Callable[[Transformer, Batch, Vocabulary, np.random.Generator], Losses]


def causal(module: Transformer, batch: Batch, vocabulary: Vocabulary, chance: np.random.Generator) -> Losses:
    """Every piece is predicted from the pieces before it."""
    ids, _, real = _tensors(module, batch)
    hidden = module(ids, None, real)
    scored = real[:, 1:]  # row i predicts piece i + 1, and padding is nobody's next piece
    return {"lm": functional.cross_entropy(module.head(hidden[:, :-1][scored]), ids[:, 1:][scored])}


def masked_and_next(module: Transformer, batch: Batch, vocabulary: Vocabulary, chance: np.random.Generator) -> Losses:
    """BERT's two objectives: the hidden pieces, and whether B follows A (class 0: it does)."""
    losses, hidden = _masked(module, batch, vocabulary, chance, SPLIT)
    if batch.follows is not None and module.next_sentence is not None:
        answer = torch.as_tensor(~batch.follows, device=hidden.device).long()
        losses["nsp"] = functional.cross_entropy(module.next_sentence(hidden), answer)
    return losses


def masked_by(split: tuple[float, ...]) -> Objective:
    """Only the hidden pieces, with another split than 80/10/10 into [MASK], another piece, and as it is."""

    def masked(module: Transformer, batch: Batch, vocabulary: Vocabulary, chance: np.random.Generator) -> Losses:
        """The hidden pieces."""
        return _masked(module, batch, vocabulary, chance, split)[0]

    return masked


def _masked(
    module: Transformer, batch: Batch, vocabulary: Vocabulary, chance: np.random.Generator, split: tuple[float, ...]
) -> tuple[Losses, Tensor]:
    """The loss at the chosen pieces, and the states that it was read from."""
    words = np.where(np.isin(batch.ids, vocabulary.special), -1, 0)
    corrupted = mlm(rows_of(batch.ids, batch.real, words, words), vocabulary, chance, split=split)
    ids, segments, real = _tensors(module, batch)
    source, scored = (torch.as_tensor(part, device=ids.device) for part in (corrupted.source.ids, corrupted.scored))
    hidden = module(source, segments, real)
    return {"mlm": functional.cross_entropy(module.head(hidden[scored]), ids[scored])}, hidden


def _tensors(module: Transformer, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    device = module.embeddings.tokens.weight.device
    ids, segments, real = (torch.as_tensor(part, device=device) for part in (batch.ids, batch.segments, batch.real))
    return ids, segments, real


OBJECTIVES: dict[str, Objective] = {"causal": causal, "mlm+nsp": masked_and_next}
