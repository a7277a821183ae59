"""How tasks weight the layers of ELMo: several biLMs, several classifiers on each, and every layer alone beside the mix.

`python -m studies.mixes` trains three biLMs in `runs/recipes`, or takes what lies there, and writes `data/results/mixes`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.errors import ChoiceError, an
from explorer.models import store
from explorer.models.elmo import ElmoModel
from explorer.models.model import TrainableModel, trainable
from explorer.nn.elmo import ScalarMix
from explorer.records import Bench, Mix, Mixes
from explorer.training.finetune import TASKS
from explorer.training.finetune.probes import inside
from explorer.training.finetune.task import Questions, Task, TokenPosition, majority
from explorer.training.fit import fit
from studies.recipes import WORKSHOP
from studies.study import Size, Study, bracketed, intervals, main, table

RATE, BATCH, DECAY, HIDDEN = 1e-2, 128, 1e-3, 64
TEXTS, EPSILON = 32, 1e-5
SHOWN = (1, 2, 5, 10, 20, 40, 60, 100, 150, 200, 300)
BENCHED = ("part of speech", "word sense", "sentiment", "last letter")
KEPT = 400  # so many examples to learn from, and as many new ones, are kept for the bench
ORDER = (("last letter",), ("entities", "part of speech"), ("word sense", "topic"))
Learned = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  # layer weights [task, step, layer], gammas [task, step], scores [task, way]
BILM = {"steps": 800}  # the preset alone takes 500
SIZE = Size(  # `options` change the biLM
    bilms=(0, 1, 2), heads=(0, 1, 2), stories=300, tested=150, steps=300, tasks=tuple(TASKS), options=BILM, workshop=WORKSHOP
)


def logged(size: Size) -> tuple[int, ...]:
    """The steps after which the weights are logged."""
    return (*(step for step in SHOWN if step < size.steps), size.steps)


@dataclass(frozen=True)
class Frozen:
    """A task as a linear classifier gets it: the states of all layers [example, place, layer, dim] and the right answers, to learn and
    to be asked.
    """

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
        return replace(self, train=self.train[:, :, [layer]], test=self.test[:, :, [layer]])

    @property
    def blind(self) -> float:
        """The score of who always gives the most frequent answer."""
        return self.task.score([majority(self.gold)] * len(self.asked), self.asked)


class Reader(nn.Module):
    """A mix of the layers, the places of an example made one, and a linear layer (for pairs with one of 64 before it)."""

    def __init__(self, frozen: Frozen) -> None:
        super().__init__()
        _, places, layers, dim = frozen.train.shape
        self.compares, count = frozen.task.join == "compared", len(frozen.classes)
        self.mix = ScalarMix(layers)
        if self.compares:
            self.head: nn.Module = nn.Sequential(nn.Linear(4 * dim, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, count))
        else:
            self.head = nn.Linear(places * dim, count)

    def forward(self, layers: Tensor) -> Tensor:
        """From [example, place, layer, dim] to a score for each answer [example, class]."""
        mixed = self.mix(layers.movedim(2, 0))  # [example, place, dim]
        if self.compares:
            u, v = mixed[:, 0], mixed[:, 1]
            return self.head(torch.cat((u, v, (u - v).abs(), u * v), dim=-1))
        return self.head(mixed.flatten(1))


class Learning:
    """Iterate: after every step each task's mix, as records. Then `said` holds the answers and `scores` what they are worth.

    One optimiser takes the sum of all losses. Since the tasks share no weight, each learns as it would alone.
    """

    def __init__(self, tasks: Mapping[str, Frozen], seed: int, steps: int = 300) -> None:
        self.tasks, self.steps, self.rng = dict(tasks), steps, np.random.default_rng((seed, 8))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.readers = {name: Reader(frozen) for name, frozen in tasks.items()}
        self._given = {name: torch.as_tensor(frozen.train) for name, frozen in tasks.items()}
        self._right = {name: _numbers(frozen) for name, frozen in tasks.items()}

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
        some = torch.as_tensor(self.rng.integers(len(right), size=min(BATCH, len(right))))
        return functional.cross_entropy(self.readers[name](given[some]), right[some])

    def mixes(self, step: int) -> tuple[Mix, ...]:
        """How each task weighs the layers now."""
        mixes_by_name = ((name, reader.mix) for name, reader in self.readers.items())
        return tuple(Mix(mix.shares.detach().numpy(), mix.gamma.item(), name, step) for name, mix in mixes_by_name)

    @torch.no_grad()
    def said(self, name: str) -> tuple[str, ...]:
        """The answers to the questions of a task that were not learned from."""
        frozen = self.tasks[name]
        best = self.readers[name](torch.as_tensor(frozen.test)).argmax(-1).tolist()
        return tuple(frozen.classes[number] for number in best)

    def scores(self) -> dict[str, float]:
        """What the answers are worth, by task."""
        return {name: frozen.task.score(self.said(name), frozen.asked) for name, frozen in self.tasks.items()}


def _numbers(frozen: Frozen) -> Tensor:
    classes = {name: number for number, name in enumerate(frozen.classes)}
    return torch.tensor([classes[label] for label in frozen.gold])


def features(model: TrainableModel, questions: Questions) -> np.ndarray:
    """For every example and each of its places the vector of every layer: [example, place, layer, dim].

    Each word's vector is brought to mean 0 and deviation 1, layer by layer, so that a share of a layer means the same in all of
    them; a place of several words is their mean.
    """
    if not isinstance(model, ElmoModel):
        raise ChoiceError(
            f"Mixing layers is ELMo's way; {model.name} is {an(model.family)}. Give an ELMo, for example of ex.fit('elmo')."
        )
    places_by_text: dict[int, list[tuple[int, int, TokenPosition]]] = {}
    for number, example in enumerate(questions.examples):
        for which, place in enumerate(example.places):
            places_by_text.setdefault(place.text, []).append((number, which, place))
    many, layers = len(questions.examples[0].places), model.config.layers + 1
    vectors = np.zeros((len(questions.examples), many, layers, 2 * model.config.dim), np.float32)
    wanted = sorted(places_by_text)
    for first in range(0, len(wanted), TEXTS):
        part = wanted[first : first + TEXTS]
        tokens = [model.tokens(questions.texts[text]) for text in part]
        for text, read, states in zip(part, tokens, model.layers(tokens), strict=True):
            states = normed(states)
            for number, which, place in places_by_text[text]:
                vectors[number, which] = states[:, inside(read, place)].mean(axis=1)
    return vectors


def normed(states: np.ndarray) -> np.ndarray:
    """Every vector with mean 0 and deviation 1."""
    apart = states - states.mean(-1, keepdims=True)
    return apart / np.sqrt((apart**2).mean(-1, keepdims=True) + EPSILON)


def bilm(seed: int, size: Size) -> TrainableModel:
    """The biLM of a seed; one that lies in the workshop is taken as it is."""
    folder = size.workshop / f"elmo-{seed}"
    run = fit("elmo", seed=seed, folder=folder, device="cpu", **size.options)
    for step in run:
        if step.metrics:
            sys.stderr.write(f"elmo-{seed} {step.step}: {dict(step.metrics)}\n")
    return trainable(store.read(folder, "elmo"))


def frozen(model: TrainableModel, size: Size) -> dict[str, Frozen]:
    """The hidden states of all layers of a model for the examples of every task."""
    states = {}
    for name in size.tasks:
        train, test = TASKS[name].make(size.stories, "train"), TASKS[name].make(size.tested, "test")
        states[name] = Frozen(TASKS[name], features(model, train), train.labels, features(model, test), test.labels)
    return states


def learned(tasks: Mapping[str, Frozen], seed: int, size: Size) -> Learned:
    """One run of all classifiers, and of those on each layer alone."""
    whole = Learning(tasks, seed, size.steps)
    course = [mixes for mixes in whole if mixes[0].step in logged(size)]
    scores = [whole.scores()]
    for layer in range(next(iter(tasks.values())).train.shape[2]):
        alone = Learning({name: states.only(layer) for name, states in tasks.items()}, seed, size.steps)
        for _ in alone:
            pass
        scores.append(alone.scores())
    shares = np.array([[mix.weights for mix in mixes] for mixes in course]).swapaxes(0, 1)
    gammas = np.array([[mix.gamma for mix in mixes] for mixes in course]).T
    return shares, gammas, np.array([[states[name] for states in scores] for name in tasks])


def train(seed: int, size: Size) -> tuple[list[Learned], list[float], list[Bench]]:
    """All classifiers on the biLM of one seed, the baseline of the most frequent label, and benches."""
    tasks = frozen(bilm(seed, size), size)
    heads = [learned(tasks, head, size) for head in size.heads]
    benches = [
        bench(tasks[name], np.array([shares[size.tasks.index(name), -1] for shares, _, _ in heads]))
        for name in BENCHED
        if name in tasks
    ]
    return heads, [states.blind for states in tasks.values()], benches


def bench(states: Frozen, shares: np.ndarray) -> Bench:
    """Some of the examples of a task, to mix by hand."""
    rng = np.random.default_rng(4)
    known = np.flatnonzero(np.isin(np.array(states.asked), np.array(states.classes)))
    some, new = rng.permutation(len(states.gold))[:KEPT], rng.permutation(known)[:KEPT]
    gold, new_labels = (np.searchsorted(np.array(states.classes), np.array(labels)) for labels in (states.gold, states.asked))
    old, test = (x[:, 0].astype(np.float16) for x in (states.train[some], states.test[new]))  # each asks about one place
    return Bench(states.task.name, states.classes, old, gold[some], test, new_labels[new], shares)


def measure(results: list[tuple[list[Learned], list[float], list[Bench]]], size: Size) -> dict[str, Mixes | Bench]:
    """Every task on every biLM with every seed of its classifiers; the benches are those of the first biLM."""
    shares, gammas, scores = (np.stack([head[n] for heads, _, _ in results for head in heads], axis=1) for n in range(3))
    ways = ("mix", *(f"layer {layer}" for layer in range(shares.shape[-1])))
    by_bilm = scores.reshape(len(size.tasks), len(size.bilms), len(size.heads), len(ways)).mean(2).swapaxes(1, 2)
    stories = f"{size.stories} stories to learn from, {size.tested} new ones to be asked about"
    note = f"{len(size.bilms)} biLMs × {len(size.heads)} seeds of heads; {stories}; {size.steps} steps"
    mixes = Mixes(
        size.tasks, tuple(TASKS[name].metric for name in size.tasks), tuple((b, h) for b in size.bilms for h in size.heads),
        np.array(logged(size)), shares, gammas, ways, scores, intervals(by_bilm), intervals(by_bilm[:, :1] - by_bilm),
        np.array(results[0][1]), note,
    )  # fmt: skip
    return {"mixes": mixes} | {f"mixes/{kept.task.replace(' ', '-')}": kept for kept in results[0][2]}


def followed(mixes: Mixes, order: Sequence[Sequence[str]]) -> list[bool]:
    """For every biLM whether each group of tasks reads lower in the stack than the next one, by the mean of Σ j s_j over its
    classifiers.
    """
    kept = []
    for seed in dict.fromkeys(seed for seed, _ in mixes.runs):
        mine = [n for n, run in enumerate(mixes.runs) if run[0] == seed]
        height = dict(zip(mixes.tasks, mixes.heights[:, mine].mean(1), strict=True))
        groups = [[height[name] for name in group if name in height] for group in order]
        kept.append(all(max(low) < min(high) for low, high in zip(groups, groups[1:], strict=False) if low and high))
    return kept


def facts(mixes: Mixes, size: Size) -> dict[str, Any]:
    """The table, and how many biLMs keep the order."""
    rows = [
        [
            name,
            " ".join(f"{share:.2f}" for share in mixes.shares[n, :, -1].mean(0)),
            f"{mixes.gammas[n, :, -1].mean():.2f}",
            *(bracketed(*interval) for interval in mixes.intervals[n]),
            f"{mixes.blind[n]:.3f}",
        ]
        for n, name in enumerate(mixes.tasks)
    ]
    kept = followed(mixes, ORDER)
    return {"table": table(["task", "s (mean)", "γ", *mixes.ways, "blind"], rows), "kept": sum(kept), "all": len(kept)}


STUDIES = {"mixes": Study("mixes", SIZE, ("bilms",), train, measure, facts)}

if __name__ == "__main__":
    main(STUDIES)
