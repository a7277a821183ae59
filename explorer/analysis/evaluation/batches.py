"""Many texts through a model, in batches of a few dozen rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from explorer.corruption.rows import Rows, rows_of
from explorer.models.model import padded_batch
from explorer.models.transformer import TransformerModel
from explorer.nn.losses import shifted_right

ROWS = 64


@dataclass(frozen=True)
class Inputs:
    """Rows of ids padded at the right, which positions are real, and the segment of each: [row, position]."""

    ids: np.ndarray
    attention_mask: np.ndarray
    segments: np.ndarray

    def cut(self, rows: slice) -> Inputs:
        """Some of the rows, as wide as the longest of them."""
        wide = max(1, int(self.attention_mask[rows].sum(axis=1).max()))
        return Inputs(self.ids[rows, :wide], self.attention_mask[rows, :wide], self.segments[rows, :wide])


def inputs_of(rows: Sequence[Sequence[int] | np.ndarray], segments: Sequence[Sequence[int]] | None = None) -> Inputs:
    """Rows of ids, padded."""
    ids, attention_mask = padded_batch(rows)
    return Inputs(ids, attention_mask, np.zeros_like(ids) if segments is None else padded_batch(segments)[0])


def rows_from(texts: Sequence[Any], pad: int) -> Rows:
    """Texts in tokens (`Tokens` or stories, with words and sentences) as rows that a corruption takes."""
    ids, attention_mask = padded_batch([text.ids for text in texts], pad)
    words, _ = padded_batch([text.words for text in texts], -1)
    parts, _ = padded_batch([text.sentences for text in texts], -1)
    return rows_of(ids, attention_mask, words, np.where(words < 0, -1, parts))


def batches(count: int) -> Iterator[slice]:
    """The rows in turn."""
    for first in range(0, count, ROWS):
        yield slice(first, min(first + ROWS, count))


def as_tensors(model: TransformerModel, *arrays: np.ndarray) -> list[Tensor]:
    """Arrays as tensors on the device of the model."""
    return [torch.as_tensor(np.ascontiguousarray(array), device=model.device) for array in arrays]


def states(model: TransformerModel, inputs: Inputs) -> Tensor:
    """The last hidden states of one stack, [row, position, dim]."""
    ids, attention_mask, segments = as_tensors(model, inputs.ids, inputs.attention_mask, inputs.segments)
    return model.module(ids, segments if model.config.segments else None, attention_mask)


@torch.no_grad()
def logp_at(model: TransformerModel, inputs: Inputs, where: np.ndarray) -> np.ndarray:
    """The log-probabilities over the vocabulary at some positions, in the order of rows and positions: [position, vocab]."""
    parts = []
    for rows in batches(len(inputs.ids)):
        part = inputs.cut(rows)
        (there,) = as_tensors(model, where[rows, : part.ids.shape[1]])
        parts.append(_logp(model, states(model, part)[there]).cpu().numpy())
    return np.concatenate(parts)


@torch.no_grad()
def logp_of(
    model: TransformerModel, inputs: Inputs, labels: np.ndarray, loss_mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """At every predicted position, in the order of rows and positions: log P of the label, and whether it was the most probable
    token.

    An encoder or a decoder predicts over the inputs. An encoder-decoder reads the inputs, and its decoder the right tokens, shifted.
    """
    logp, right = [], []
    for rows in batches(len(inputs.ids)):
        part = inputs.cut(rows)
        wide = part.ids.shape[1] if model.family != "encoder-decoder" else int(loss_mask[rows].sum(axis=1).max())
        target, there = as_tensors(model, labels[rows, :wide], loss_mask[rows, :wide])
        hidden = decoder_states(model, part, target) if model.family == "encoder-decoder" else states(model, part)
        chances = _logp(model, hidden[there])
        logp.append(chances.gather(1, target[there][:, None])[:, 0].cpu().numpy())
        right.append((chances.argmax(1) == target[there]).cpu().numpy())
    return np.concatenate(logp).astype(np.float64), np.concatenate(right)


def decoder_states(model: TransformerModel, source: Inputs, target: Tensor) -> Tensor:
    """The decoder's last states when it reads the right tokens, shifted: row i is about token i of the target."""
    ids, attention_mask = as_tensors(model, source.ids, source.attention_mask)
    read = shifted_right(target, model.config.start)
    return model.module.decode(model.module.encode(ids, attention_mask), read, attention_mask)


def _logp(model: TransformerModel, hidden: Tensor) -> Tensor:
    return functional.log_softmax(model.module.head(hidden).float(), dim=-1)
