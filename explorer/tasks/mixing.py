"""Many tasks learn at once on the same frozen layers: each has a mix of its own and a head of its own, and they share nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.nn.elmo import ScalarMix
from explorer.records import Mix
from explorer.tasks.task import Task, majority

RATE, BATCH, DECAY, HIDDEN = 1e-2, 128, 1e-3, 64


@dataclass(frozen=True)
class Frozen:
    """A task as a head meets it: what the layers say [example, place, layer, dim] and the right answers, to learn and to be asked."""

    task: Task
    train: np.ndarray
    gold: tuple[str, ...]
    test: np.ndarray
    asked: tuple[str, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The answers that there are to learn."""
        return tuple(sorted(set(self.gold)))

    def only(self, layer: int) -> Frozen:
        """The same with one layer alone."""
        return Frozen(self.task, self.train[:, :, [layer]], self.gold, self.test[:, :, [layer]], self.asked)

    @property
    def blind(self) -> float:
        """The score of who always gives the most frequent answer."""
        return self.task.score([majority(self.gold)] * len(self.asked), self.asked)


class Reader(nn.Module):
    """A mix of the layers, the places of an example made one, and a linear head (for pairs with one layer of 64 between)."""

    def __init__(self, held: Frozen) -> None:
        super().__init__()
        _, places, layers, dim = held.train.shape
        self.join = held.task.join
        self.mix = ScalarMix(layers)
        if self.join == "compared":
            self.head: nn.Module = nn.Sequential(nn.Linear(4 * dim, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, len(held.classes)))
        else:
            self.head = nn.Linear(places * dim, len(held.classes))

    def forward(self, layers: Tensor) -> Tensor:
        """From [example, place, layer, dim] to a score for each answer [example, class]."""
        mixed = self.mix(layers.movedim(2, 0))  # [example, place, dim]
        if self.join == "compared":
            u, v = mixed[:, 0], mixed[:, 1]
            return self.head(torch.cat((u, v, (u - v).abs(), u * v), dim=-1))
        return self.head(mixed.flatten(1))


class Learning:
    """Iterate: after every step each task's mix, as records. Then `said` holds the answers and `scores` what they are worth.

    One optimiser takes the sum of all losses. Since the tasks share no weight, each learns as it would alone.
    """

    def __init__(self, tasks: Mapping[str, Frozen], seed: int, steps: int = 300) -> None:
        self.tasks, self.steps, self.chance = dict(tasks), steps, np.random.default_rng((seed, 8))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.readers = {name: Reader(held) for name, held in tasks.items()}
        self._given = {name: torch.as_tensor(held.train) for name, held in tasks.items()}
        self._right = {name: _numbers(held) for name, held in tasks.items()}

    def __iter__(self) -> Iterator[tuple[Mix, ...]]:
        weights = [weight for reader in self.readers.values() for weight in reader.parameters()]
        optimiser = torch.optim.AdamW(weights, lr=RATE, weight_decay=DECAY, fused=True)
        for step in range(1, self.steps + 1):
            optimiser.zero_grad()
            optimiser.param_groups[0]["lr"] = RATE * (1 - (step - 1) / self.steps)
            loss = sum((self._loss(name) for name in self.tasks), torch.zeros(()))
            loss.backward()
            optimiser.step()
            yield self.mixes(step)

    def _loss(self, name: str) -> Tensor:
        given, right = self._given[name], self._right[name]
        some = torch.as_tensor(self.chance.integers(len(right), size=min(BATCH, len(right))))
        return functional.cross_entropy(self.readers[name](given[some]), right[some])

    def mixes(self, step: int) -> tuple[Mix, ...]:
        """How each task weighs the layers now."""
        held = ((name, reader.mix) for name, reader in self.readers.items())
        return tuple(Mix(mix.shares.detach().numpy(), mix.gamma.item(), name, step) for name, mix in held)

    @torch.no_grad()
    def said(self, name: str) -> tuple[str, ...]:
        """The answers to the questions of a task that were not learned from."""
        held = self.tasks[name]
        best = self.readers[name](torch.as_tensor(held.test)).argmax(-1).tolist()
        return tuple(held.classes[number] for number in best)

    def scores(self) -> dict[str, float]:
        """What the answers are worth, by task."""
        return {name: held.task.score(self.said(name), held.asked) for name, held in self.tasks.items()}


def _numbers(held: Frozen) -> Tensor:
    classes = {name: number for number, name in enumerate(held.classes)}
    return torch.tensor([classes[label] for label in held.gold])
