"""Many tasks learn at once on the same frozen layers: each has its own mix of layers and its own output layer, and they share nothing else.

The head is linear and sees each word by itself, or it is a GRU, which reads the words of a text before it answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.errors import ChoiceError, unknown
from explorer.nn.elmo import ScalarMix
from explorer.records import Mix
from explorer.training.finetune.task import Task, majority

RATE, BATCH, DECAY, HIDDEN = 1e-2, 128, 1e-3, 64
HEADS, WIDE = ("linear", "gru"), 32  # kinds of heads; how many numbers a GRU remembers in each direction


@dataclass(frozen=True)
class Frozen:
    """A task as a head meets it: what the layers say [example, place, layer, dim] and the right answers, to learn and to be asked.

    `train_texts` and `new` are the numbers of the texts that the examples are about, those of one text side by side: a GRU needs them.
    """

    task: Task
    train: np.ndarray
    gold: tuple[str, ...]
    test: np.ndarray
    asked: tuple[str, ...]
    train_texts: tuple[int, ...] = ()
    new: tuple[int, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """The answers that there are to learn."""
        return tuple(sorted(set(self.gold)))

    def only(self, layer: int) -> Frozen:
        """The same with one layer alone."""
        return replace(self, train=self.train[:, :, [layer]], test=self.test[:, :, [layer]])

    @property
    def blind(self) -> float:
        """The score of who always gives the most frequent answer."""
        return self.task.score([majority(self.gold)] * len(self.asked), self.asked)


class Reader(nn.Module):
    """A mix of the layers, the places of an example made one, and a head: linear (for pairs with one layer of 64 between) or a GRU."""

    def __init__(self, frozen: Frozen, head: str = "linear") -> None:
        super().__init__()
        check_head(frozen, head)
        _, places, layers, dim = frozen.train.shape
        self.join, self.reads = frozen.task.join, head == "gru"
        self.mix = ScalarMix(layers)
        if self.join == "compared":
            self.head: nn.Module = nn.Sequential(nn.Linear(4 * dim, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, len(frozen.classes)))
        else:
            self.head = (Gru if self.reads else nn.Linear)(places * dim, len(frozen.classes))

    def forward(self, layers: Tensor, texts: Tensor | None = None) -> Tensor:
        """From [example, place, layer, dim] to a score for each answer [example, class]; a GRU must know the text of each example."""
        mixed = self.mix(layers.movedim(2, 0))  # [example, place, dim]
        if self.join == "compared":
            u, v = mixed[:, 0], mixed[:, 1]
            return self.head(torch.cat((u, v, (u - v).abs(), u * v), dim=-1))
        return self.head(mixed.flatten(1), texts) if self.reads else self.head(mixed.flatten(1))


class Gru(nn.Module):
    """A head that reads all examples of a text in both directions before it answers about each."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.read = nn.GRU(dim, WIDE, batch_first=True, bidirectional=True)
        self.say = nn.Linear(2 * WIDE, classes)

    def forward(self, x: Tensor, texts: Tensor) -> Tensor:
        """From [example, dim], those of one text side by side, to [example, class]."""
        counts = torch.unique_consecutive(texts, return_counts=True)[1].tolist()
        packed = nn.utils.rnn.pack_sequence(x.split(counts), enforce_sorted=False)
        states, lengths = nn.utils.rnn.pad_packed_sequence(self.read(packed)[0], batch_first=True)  # [text, example, 2 WIDE]
        return self.say(torch.cat([row[:length] for row, length in zip(states, lengths.tolist(), strict=True)]))


def check_head(frozen: Frozen, head: str) -> None:
    """Refuse a head that there is not, or one that reads where there is nothing to read."""
    if head not in HEADS:
        raise unknown("head", head, HEADS)
    if head == "gru" and (
        frozen.task.kind != "token" or len(frozen.train_texts) != len(frozen.train) or len(frozen.new) != len(frozen.test)
    ):
        raise ChoiceError(
            f"A GRU reads the words of a text, so it needs a task about words and the text of each example; {frozen.task.name!r} is about "
            f"one {frozen.task.kind}, with {len(frozen.train_texts)} texts for {len(frozen.train)} examples."
        )


class Learning:
    """Iterate: after every step each task's mix, as records. Then `said` holds the answers and `scores` what they are worth.

    One optimiser takes the sum of all losses. Since the tasks share no weight, each learns as it would alone.
    """

    def __init__(self, tasks: Mapping[str, Frozen], seed: int, steps: int = 300, head: str = "linear") -> None:
        self.tasks, self.steps, self.rng = dict(tasks), steps, np.random.default_rng((seed, 8))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.readers = {name: Reader(frozen, head) for name, frozen in tasks.items()}
        self._given = {name: torch.as_tensor(frozen.train) for name, frozen in tasks.items()}
        self._right = {name: _numbers(frozen) for name, frozen in tasks.items()}
        self._texts = {name: torch.tensor(frozen.train_texts) for name, frozen in tasks.items()}

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
        if self.readers[name].reads:
            some = self._whole_texts(self._texts[name])
            return functional.cross_entropy(self.readers[name](given[some], self._texts[name][some]), right[some])
        some = torch.as_tensor(self.rng.integers(len(right), size=min(BATCH, len(right))))
        return functional.cross_entropy(self.readers[name](given[some]), right[some])

    def _whole_texts(self, texts: Tensor) -> Tensor:
        """The numbers of all examples of some texts, about as many as a batch has."""
        different = torch.unique(texts).numpy()
        many = max(1, round(BATCH * len(different) / len(texts)))
        chosen = self.rng.choice(different, min(many, len(different)), replace=False)
        return torch.isin(texts, torch.as_tensor(chosen)).nonzero()[:, 0]

    def mixes(self, step: int) -> tuple[Mix, ...]:
        """How each task weighs the layers now."""
        mixes_by_name = ((name, reader.mix) for name, reader in self.readers.items())
        return tuple(Mix(mix.shares.detach().numpy(), mix.gamma.item(), name, step) for name, mix in mixes_by_name)

    @torch.no_grad()
    def said(self, name: str) -> tuple[str, ...]:
        """The answers to the questions of a task that were not learned from."""
        frozen = self.tasks[name]
        texts = torch.tensor(frozen.new) if self.readers[name].reads else None
        best = self.readers[name](torch.as_tensor(frozen.test), texts).argmax(-1).tolist()
        return tuple(frozen.classes[number] for number in best)

    def scores(self) -> dict[str, float]:
        """What the answers are worth, by task."""
        return {name: frozen.task.score(self.said(name), frozen.asked) for name, frozen in self.tasks.items()}


def _numbers(frozen: Frozen) -> Tensor:
    classes = {name: number for number, name in enumerate(frozen.classes)}
    return torch.tensor([classes[label] for label in frozen.gold])
