"""The products of DeBERTa's scores where positions are consecutive."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def shifted(x: Tensor, project: Callable[[Tensor], Tensor], table: Tensor, row: Tensor) -> Tensor:
    """The product of position i with the row of the table at [i, j] of `row`: [batch, head, i, j], as `positions.looked_up` gives it.

    A line of `row` is the one above moved by one, so few rows of the table are needed, and the products are read along their
    diagonals: with one number less a line, they lie below each other. Looking up is what takes longest on a processor.
    """
    lines, columns = row.shape
    few = table.index_select(0, torch.cat((row[:, 0].flip(0), row[0, 1:])))  # the last line comes first
    every = (x @ for_all_heads(project(few[None]), x)).contiguous()  # [batch, head, i, lines + columns − 1]
    if lines == 1:
        return every
    less = every.shape[-1] - 1
    diagonals: Tensor = every.flatten(-2).narrow(-1, lines - 1, lines * less).unflatten(-1, (lines, less))
    return diagonals[..., :columns]


def for_all_heads(projected: Tensor, x: Tensor) -> Tensor:
    """Projections of a table, once for every head of x (grouped heads share a key), ready to be multiplied from the right."""
    return projected.repeat_interleave(x.shape[1] // projected.shape[1], dim=1).transpose(-1, -2)
