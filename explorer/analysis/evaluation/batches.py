"""Many texts through a model: side by side, a few dozen rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from explorer.corruption.rows import Rows, rows_of
from explorer.model import OwnModel

ROWS = 64


@dataclass(frozen=True)
class Sheet:
    """Rows of ids filled up at the right, which places are real, and the segment of each: [row, place]."""

    ids: np.ndarray
    real: np.ndarray
    segments: np.ndarray

    def cut(self, rows: slice) -> Sheet:
        """Some of the rows, as wide as the longest of them."""
        wide = max(1, int(self.real[rows].sum(axis=1).max()))
        return Sheet(self.ids[rows, :wide], self.real[rows, :wide], self.segments[rows, :wide])


def filled(rows: Sequence[Sequence[int] | np.ndarray], fill: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of numbers side by side, filled up at the right, and which places are real."""
    longest = max(map(len, rows))
    real = np.arange(longest) < np.array([len(row) for row in rows])[:, None]
    made = np.full(real.shape, fill, np.int64)
    made[real] = np.concatenate([np.asarray(row, np.int64) for row in rows])
    return made, real


def sheet_of(rows: Sequence[Sequence[int] | np.ndarray], segments: Sequence[Sequence[int]] | None = None) -> Sheet:
    """Rows of ids as a sheet."""
    ids, real = filled(rows)
    return Sheet(ids, real, np.zeros_like(ids) if segments is None else filled(segments)[0])


def rows_from(texts: Sequence[Any], pad: int) -> Rows:
    """Texts in pieces (`Tokens` or stories, with words and sentences) as rows that a corruption takes."""
    ids, real = filled([text.ids for text in texts], pad)
    words, _ = filled([text.words for text in texts], -1)
    parts, _ = filled([text.sentences for text in texts], -1)
    return rows_of(ids, real, words, np.where(words < 0, -1, parts))


def batches(count: int) -> Iterator[slice]:
    """The rows in turn."""
    for first in range(0, count, ROWS):
        yield slice(first, min(first + ROWS, count))


def given(model: OwnModel, *arrays: np.ndarray) -> list[Tensor]:
    """Arrays as tensors where the model is."""
    return [torch.as_tensor(np.ascontiguousarray(array), device=model.device) for array in arrays]


def states(model: OwnModel, sheet: Sheet) -> Tensor:
    """The last states of one stack for a sheet, [row, place, dim]."""
    ids, real, segments = given(model, sheet.ids, sheet.real, sheet.segments)
    return model.module(ids, segments if model.config.segments else None, real)


@torch.no_grad()
def logp_at(model: OwnModel, sheet: Sheet, where: np.ndarray) -> np.ndarray:
    """The log-probabilities over the vocabulary at some places, in the order of rows and places: [place, vocab]."""
    found = []
    for rows in batches(len(sheet.ids)):
        part = sheet.cut(rows)
        (there,) = given(model, where[rows, : part.ids.shape[1]])
        found.append(_logp(model, states(model, part)[there]).cpu().numpy())
    return np.concatenate(found)


@torch.no_grad()
def judged(model: OwnModel, sheet: Sheet, answers: np.ndarray, scored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At every scored place, in the order of rows and places: log P of the right piece, and whether it was the likeliest.

    An encoder or a decoder answers over the sheet. An encoder-decoder reads the sheet, and its decoder the right pieces, shifted.
    """
    logp, right = [], []
    for rows in batches(len(sheet.ids)):
        part = sheet.cut(rows)
        wide = part.ids.shape[1] if model.family != "encoder-decoder" else int(scored[rows].sum(axis=1).max())
        target, there = given(model, answers[rows, :wide], scored[rows, :wide])
        hidden = taught(model, part, target) if model.family == "encoder-decoder" else states(model, part)
        chances = _logp(model, hidden[there])
        logp.append(chances.gather(1, target[there][:, None])[:, 0].cpu().numpy())
        right.append((chances.argmax(1) == target[there]).cpu().numpy())
    return np.concatenate(logp).astype(np.float64), np.concatenate(right)


def taught(model: OwnModel, source: Sheet, target: Tensor) -> Tensor:
    """The decoder's last states when it reads the right pieces, shifted: row i is about piece i of the target."""
    ids, real = given(model, source.ids, source.real)
    read = torch.cat((torch.full_like(target[:, :1], model.config.start), target[:, :-1]), dim=1)
    return model.module.decode(model.module.encode(ids, real), read, real)


def _logp(model: OwnModel, hidden: Tensor) -> Tensor:
    return functional.log_softmax(model.module.head(hidden).float(), dim=-1)
