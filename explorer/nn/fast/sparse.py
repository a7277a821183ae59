"""Products of rows of two tables, for many pairs of rows at once, without a copy of every row.

Word vectors learn from tens of thousands of pairs a step. Taking w and c of each pair out of their tables, and adding the gradient of
each pair back, moves six numbers through memory for each that is computed. As entries of a sparse matrix [centre word, context word],
with one entry for each pair, they are read in place, and both gradients are products of that matrix with a table.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor

with warnings.catch_warnings():  # torch says once in a process that its sparse rows may still change
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 1], [0], [0.0], (1, 1))


def products(table: Tensor, other: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """table[row]·other[column] for each row [pair] and each of the columns beside it [pair, many], in the shape of these."""
    crowded = columns.numel() > len(table) * len(other)  # torch gives a sparse matrix no more entries than it has cells
    if crowded or table.device.type != "cpu" or table.dtype not in (torch.float32, torch.float64):
        return (table[rows][:, None] * other[columns]).sum(-1)
    entries: Tensor = _Products.apply(table, other, rows, columns)
    return entries


class _Products(torch.autograd.Function):
    """The products as entries of a sparse matrix: where ∂ is the matrix of their gradients, ∂table = ∂ other and ∂other = ∂ᵀ table."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, other: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        order, ends = _grouped(rows, len(table))
        ends, named = ends * columns.shape[1], columns.index_select(0, order).flatten()
        pattern = torch.sparse_csr_tensor(ends, named, table.new_zeros(named.shape), (len(table), len(other)))
        ctx.save_for_backward(table, other, rows, columns, order, ends, named)
        entries = torch.sparse.sampled_addmm(pattern, table, other.t(), beta=0.0).values().view(columns.shape)
        return torch.empty_like(entries).index_copy_(0, order, entries)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (each,) = gradients
        table, other, rows, columns, order, ends, named = ctx.saved_tensors
        shape = (len(table), len(other))
        by_row = torch.sparse_csr_tensor(ends, named, each.index_select(0, order).flatten(), shape)
        order, ends = _grouped(columns.flatten(), len(other))
        beside, flat = rows.repeat_interleave(columns.shape[1]), each.flatten()
        by_column = torch.sparse_csr_tensor(ends, beside.index_select(0, order), flat.index_select(0, order), shape[::-1])
        return torch.sparse.mm(by_row, other, "sum"), torch.sparse.mm(by_column, table, "sum"), None, None


def _grouped(numbers: Tensor, many: int) -> tuple[Tensor, Tensor]:
    """The order that groups equal numbers, and where each of so many numbers begins and ends in it [many + 1]."""
    plain = numbers.numpy()
    ends = np.concatenate(([0], np.cumsum(np.bincount(plain, minlength=many))))
    if many <= 1 << 16:  # numbers of sixteen bits are sorted by their digits, not by comparing them
        plain = plain.astype(np.uint16)
    return torch.from_numpy(np.argsort(plain, kind="stable")), torch.from_numpy(ends)
