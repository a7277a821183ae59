"""How tasks weight the layers of ELMo: several biLMs, several classifiers on each, and every layer alone beside the mix.

`python -m studies.mixes` trains three biLMs in `runs/recipes`, or takes what lies there, and writes `data/results/mixes`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from explorer.models import store
from explorer.models.model import TrainableModel, trainable
from explorer.records import Bench, Mixes
from explorer.training.finetune import TASKS
from explorer.training.finetune.features import features
from explorer.training.finetune.metrics import interval
from explorer.training.finetune.mixing import Frozen, Learning
from explorer.training.fit import fit
from studies.recipes import RECIPES
from studies.study import Study, bracketed, main, table

SHOWN = (1, 2, 5, 10, 20, 40, 60, 100, 150, 200, 300)
BENCHED = ("part of speech", "word sense", "sentiment", "last letter")
KEPT = 600  # so many examples to learn from, and as many new ones, are kept for the bench
ORDER = (("last letter",), ("entities", "part of speech"), ("word sense", "topic"))
Learned = tuple[
    np.ndarray, np.ndarray, np.ndarray
]  # layer weights [task, step, layer], gammas [task, step], scores [task, way]


@dataclass(frozen=True)
class MixesSize:
    """How much is trained and asked; `options` change the biLM, for a test."""

    bilms: tuple[int, ...] = (0, 1, 2)
    heads: tuple[int, ...] = (0, 1, 2)
    stories: int = 300
    tested: int = 150
    steps: int = 300
    tasks: tuple[str, ...] = tuple(TASKS)
    options: dict[str, Any] = field(default_factory=dict)
    workshop: Path = Path("runs") / "recipes"

    @property
    def shown(self) -> tuple[int, ...]:
        """The steps after which the weights are logged."""
        return (*(step for step in SHOWN if step < self.steps), self.steps)


def bilm(seed: int, size: MixesSize) -> TrainableModel:
    """The biLM of a seed as the shipped one was trained; one that lies in the workshop is taken as it is."""
    folder = size.workshop / f"elmo-{seed}"
    run = fit("elmo", seed=seed, folder=folder, device="cpu", **{**RECIPES["elmo"].options, **size.options})
    for step in run:
        if step.metrics:
            sys.stderr.write(f"elmo-{seed} {step.step}: {dict(step.metrics)}\n")
    return trainable(store.read(folder, "elmo"))


def frozen(model: TrainableModel, size: MixesSize) -> dict[str, Frozen]:
    """The hidden states of all layers of a model for the examples of every task."""
    states = {}
    for name in size.tasks:
        train, test = TASKS[name].make(size.stories, "train"), TASKS[name].make(size.tested, "test")
        vectors = features(model, train), train.labels, features(model, test), test.labels
        states[name] = Frozen(TASKS[name], *vectors, train.about, test.about)
    return states


def learned(tasks: Mapping[str, Frozen], seed: int, size: MixesSize) -> Learned:
    """One run of all classifiers, and of those on each layer alone."""
    whole = Learning(tasks, seed, size.steps)
    course = [mixes for mixes in whole if mixes[0].step in size.shown]
    scores = [whole.scores()]
    for layer in range(next(iter(tasks.values())).train.shape[2]):
        alone = Learning({name: states.only(layer) for name, states in tasks.items()}, seed, size.steps)
        for _ in alone:
            pass
        scores.append(alone.scores())
    shares = np.array([[mix.weights for mix in mixes] for mixes in course]).swapaxes(0, 1)
    gammas = np.array([[mix.gamma for mix in mixes] for mixes in course]).T
    return shares, gammas, np.array([[states[name] for states in scores] for name in tasks])


def train(seed: int, size: MixesSize) -> tuple[list[Learned], list[float], list[Bench]]:
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


def measure(results: list[tuple[list[Learned], list[float], list[Bench]]], size: MixesSize) -> dict[str, Mixes | Bench]:
    """Every task on every biLM with every seed of its classifiers; the benches are those of the first biLM."""
    shares, gammas, scores = (np.stack([head[n] for heads, _, _ in results for head in heads], axis=1) for n in range(3))
    ways = ("mix", *(f"layer {layer}" for layer in range(shares.shape[-1])))
    by_bilm = scores.reshape(len(size.tasks), len(size.bilms), len(size.heads), len(ways)).mean(2)
    stories = f"{size.stories} stories to learn from, {size.tested} new ones to be asked about"
    note = f"{len(size.bilms)} biLMs × {len(size.heads)} seeds of heads; {stories}; {size.steps} steps"
    mixes = Mixes(
        size.tasks, tuple(TASKS[name].metric for name in size.tasks), tuple((b, h) for b in size.bilms for h in size.heads),
        np.array(size.shown), shares, gammas, ways, scores, intervals(by_bilm), intervals(by_bilm[..., :1] - by_bilm),
        np.array(results[0][1]), note,
    )  # fmt: skip
    return {"mixes": mixes} | {f"mixes/{kept.task.replace(' ', '-')}": kept for kept in results[0][2]}


def intervals(values: np.ndarray) -> np.ndarray:
    """Mean, low and high over the biLMs: from [task, bilm, way] to [task, way, 3]. Classifiers of one biLM were averaged before."""
    return np.array([[interval(values[task, :, way]) for way in range(values.shape[2])] for task in range(len(values))])


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


def facts(mixes: Mixes, size: MixesSize) -> dict[str, Any]:
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


STUDIES = {"mixes": Study("mixes", MixesSize(), lambda size: (size.bilms,), train, measure, facts)}

if __name__ == "__main__":
    main(STUDIES)
