"""A conditional random field over the tags of a text: every tag is scored by itself, and every pair of neighbours by what follows what."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TagChain(nn.Module):
    """The score of a row of tags y for scores x [word, tag]: begin[y₁] + Σ x[t, yₜ] + Σ follow[yₜ, yₜ₊₁] + end[y_T].

    A softmax over all rows of tags makes it a probability; the sum over these rows is computed word by word.
    """

    def __init__(self, tags: int) -> None:
        super().__init__()
        self.begin, self.end = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))
        self.follow = nn.Parameter(torch.zeros(tags, tags))

    def table(self) -> Tensor:
        """What may follow what, as one table [begin and every tag, every tag and end]; a text has a word, so end never follows begin."""
        never = self.begin.new_full((1,), float("nan"))
        begins, ends = torch.cat((self.begin, never))[None], self.end[:, None]
        return torch.cat((begins, torch.cat((self.follow, ends), dim=1)))

    def score(self, x: Tensor, tags: Tensor) -> Tensor:
        """The score of one row of tags [word]."""
        own = x.gather(1, tags[:, None]).sum() + self.begin[tags[0]] + self.end[tags[-1]]
        return own + self.follow[tags[:-1], tags[1:]].sum()

    def log_sum(self, x: Tensor) -> Tensor:
        """log Σ exp(score) over all rows of tags."""
        reached = self.begin + x[0]
        for here in x[1:]:
            reached = torch.logsumexp(reached[:, None] + self.follow, dim=0) + here
        return torch.logsumexp(reached + self.end, dim=0)

    def loss(self, x: Tensor, tags: Tensor) -> Tensor:
        """−log P(tags | x)."""
        return self.log_sum(x) - self.score(x, tags)

    def best(self, x: Tensor) -> list[int]:
        """The row of tags with the highest score (Viterbi)."""
        reached, back = self.begin + x[0], []
        for here in x[1:]:
            ways = reached[:, None] + self.follow
            back.append(ways.argmax(0))
            reached = ways.amax(0) + here
        tags = [int((reached + self.end).argmax())]
        for pointers in reversed(back):
            tags.append(int(pointers[tags[-1]]))
        return tags[::-1]
