"""Classes of spans: every stretch of neighbouring tokens is described by where it begins, where it ends and what it holds."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn


class SpanScores(NamedTuple):
    """The score of every span and class [batch, first, width − 1, class], and the three parts whose sum (and bias) it is."""

    total: Tensor
    start: Tensor
    end: Tensor
    summary: Tensor


class SpanLayer(nn.Module):
    """softmax(W [s_i; e_j; g_ij] + b) for all spans i … j of at most `widest` tokens.

    s_i and e_j are the states of the first and the last token, each through its own layer, since a token may mean something else at
    the beginning of a span than at its end. g_ij sums up the states inside: their mean, or their sum weighed by softmax(w·z).
    """

    def __init__(self, dim: int, classes: int, widest: int, attentive: bool) -> None:
        super().__init__()
        self.widest = widest
        self.first, self.last = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.weigh = nn.Linear(dim, 1, bias=False) if attentive else None
        self.classify = nn.Linear(3 * dim, classes)

    def forward(self, z: Tensor) -> SpanScores:
        """From states [batch, position, dim]. Spans that reach beyond the last position have scores that nobody may read."""
        by_start, by_end, by_summary = self.classify.weight.chunk(3, dim=1)
        start = torch.relu(self.first(z)) @ by_start.T  # [batch, position, class]
        end = self.ahead(torch.relu(self.last(z)) @ by_end.T)  # [batch, first, width − 1, class]
        summary = self.summed(z) @ by_summary.T
        start = start[:, :, None].expand_as(end)
        return SpanScores(start + end + summary + self.classify.bias, start, end, summary)

    def ahead(self, x: Tensor) -> Tensor:
        """What stands 0, 1, 2 … places further on: from [batch, position, …] to [batch, position, place, …], zeros at the end."""
        padded = torch.cat((x, x.new_zeros(x.shape[0], self.widest - 1, x.shape[2])), dim=1)
        return torch.stack([padded[:, n : n + x.shape[1]] for n in range(self.widest)], dim=2)

    def summed(self, z: Tensor) -> Tensor:
        """g of every span [batch, first, width − 1, dim]."""
        inside = self.ahead(z)
        if self.weigh is None:
            return inside.cumsum(2) / torch.arange(1, self.widest + 1, device=z.device)[:, None]
        scores = self.ahead(self.weigh(z))
        weights = (scores - scores.amax(2, keepdim=True)).exp()
        return (weights * inside).cumsum(2) / weights.cumsum(2)


def legal(inside: Tensor, widest: int) -> Tensor:
    """Which spans hold only tokens of the text: from [batch, position] to [batch, first, width − 1]."""
    padded = torch.cat((inside, inside.new_zeros(len(inside), widest - 1)), dim=1)
    spans = torch.stack([padded[:, n : n + inside.shape[1]] for n in range(widest)], dim=2)
    return spans.cumprod(2).bool()
