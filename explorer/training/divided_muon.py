"""Muon in several processes: each evens out some of the matrices, whether it holds all weights or its rows of each."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as distributed
from torch import Tensor

from explorer.training.muon import StackedMuon, evened_out


class DividedMuon(StackedMuon):
    """Every process holds all weights: each finds the way of its matrices, and hands it to the others."""

    def _ways(self, ahead: list[Tensor], shapes: list[tuple[int, ...]], group: dict[str, Any]) -> list[Tensor]:
        count, number = distributed.get_world_size(), distributed.get_rank()
        size = max(sum(ahead[n].numel() for n in range(first, len(ahead), count)) for first in range(count))
        mine = evened_out(ahead[number::count], group)
        sent = torch.cat([*(way.reshape(-1) for way in mine), ahead[0].new_zeros(size)])[:size]
        every = sent.new_empty(count * size)
        distributed.all_gather_into_tensor(every, sent)
        made: dict[int, Tensor] = {}
        for first, part in enumerate(every.split(size)):
            begin = 0
            for n in range(first, len(ahead), count):
                made[n] = part[begin : begin + ahead[n].numel()].view(shapes[n])
                begin += ahead[n].numel()
        return [made[n] for n in range(len(ahead))]


class ShardedMuon(StackedMuon):
    """Every process holds some rows of each matrix: whole matrices go to the process that evens them out, and their rows back."""

    def _held(self, matrices: list[Tensor]) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        whole: Any = super()._held(matrices)
        mine, gradients, kept = ([part.to_local() for part in parts] for parts in whole)
        return mine, gradients, kept

    def _ways(self, ahead: list[Tensor], shapes: list[tuple[int, ...]], group: dict[str, Any]) -> list[Tensor]:
        alike = {one: [n for n, shape in enumerate(shapes) if shape == one] for one in dict.fromkeys(shapes)}
        number = distributed.get_rank()
        given = {one: collected([ahead[n] for n in places], one[0]) for one, places in alike.items()}
        own = {one: max(0, min(len(stack), len(alike[one]) - number * len(stack))) for one, stack in given.items()}
        ways = iter(evened_out([matrix for one, stack in given.items() for matrix in stack[: own[one]]], group))
        made: dict[int, Tensor] = {}
        for one, places in alike.items():
            stack = torch.zeros_like(given[one])
            for n in range(own[one]):
                stack[n] = next(ways)
            rows = handed_back(stack)
            made |= {n: rows[place][: len(ahead[n])] for place, n in enumerate(places)}
        return [made[n] for n in range(len(ahead))]


def collected(parts: list[Tensor], rows: int) -> Tensor:
    """The matrices that this process evens out, whole [matrix, row, column], from everybody's rows; the last may be zeros.

    Process 0 gets the first matrices, process 1 the next ones.
    """
    count, columns = distributed.get_world_size(), parts[0].shape[1]
    each, high = -(-len(parts) // count), -(-rows // count)
    sent = parts[0].new_zeros(count * each, high, columns)
    for n, part in enumerate(parts):
        sent[n, : len(part)] = part
    got = torch.empty_like(sent)
    distributed.all_to_all_single(got, sent)
    return got.view(count, each, high, columns).transpose(0, 1).reshape(each, count * high, columns)[:, :rows]


def handed_back(stack: Tensor) -> Tensor:
    """This process's rows of everybody's matrices, in the order in which they were collected; padded at the end."""
    (each, rows, columns), count = stack.shape, distributed.get_world_size()
    high = -(-rows // count)
    sent = stack.new_zeros(each, count * high, columns)
    sent[:, :rows] = stack
    sent = sent.view(each, count, high, columns).transpose(0, 1).contiguous()
    got = torch.empty_like(sent)
    distributed.all_to_all_single(got, sent)
    return got.view(count * each, high, columns)
