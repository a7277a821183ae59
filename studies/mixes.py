"""How tasks weight the layers of ELMo: several biLMs, several classifiers on each, and every layer alone beside the mix."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from explorer.models import results, store
from explorer.models.model import TrainableModel, trainable
from explorer.records import Bench, Mixes
from explorer.training.finetune import TASKS
from explorer.training.finetune.features import features
from explorer.training.finetune.metrics import interval
from explorer.training.finetune.mixing import Frozen, Learning
from explorer.training.fit import fit
from studies import common_runs
from studies.recipes import RECIPES

NAME, WORKSHOP = "mixes", Path("runs") / "recipes"
SHOWN = (1, 2, 5, 10, 20, 40, 60, 100, 150, 200, 300)
BENCHED = ("part of speech", "word sense", "sentiment", "last letter")
KEPT = 600  # so many examples to learn from, and as many new ones, are kept for the bench


@dataclass(frozen=True)
class MixesSize:
    """How much is trained and asked; `options` change the biLM, for a test."""

    bilms: tuple[int, ...] = (0, 1, 2)
    heads: tuple[int, ...] = (0, 1, 2)
    stories: int = 300
    asked: int = 150
    steps: int = 300
    tasks: tuple[str, ...] = tuple(TASKS)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[int, ...]:
        """The steps after which the weights are logged."""
        return (*(step for step in SHOWN if step < self.steps), self.steps)


FULL = MixesSize()


def bilm(seed: int, size: MixesSize, workshop: Path) -> TrainableModel:
    """The biLM of a seed as the shipped one was trained; one that lies in the workshop is taken as it is."""
    folder = workshop / f"elmo-{seed}"
    run = fit("elmo", seed=seed, folder=folder, device="cpu", **{**RECIPES["elmo"].options, **size.options})
    for step in run:
        if step.metrics:
            sys.stderr.write(f"elmo-{seed} {step.step}: {dict(step.metrics)}\n")
    return trainable(store.read(folder, "elmo"))


def frozen(model: TrainableModel, size: MixesSize) -> dict[str, Frozen]:
    """The hidden states of all layers of a model for the examples of every task."""
    made = {}
    for name in size.tasks:
        task = TASKS[name]
        trained, asked = task.make(size.stories, "train"), task.make(size.asked, "test")
        vectors = features(model, trained), trained.labels, features(model, asked), asked.labels
        made[name] = Frozen(task, *vectors, trained.about, asked.about)
    return made


def learned(tasks: Mapping[str, Frozen], seed: int, size: MixesSize) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One run of all classifiers: layer weights [task, step, layer], gammas [task, step] and scores [task, way]."""
    layers = next(iter(tasks.values())).train.shape[2]
    whole = Learning(tasks, seed, size.steps)
    course = [mixes for mixes in whole if mixes[0].step in size.shown]
    scores = [whole.scores()]
    for layer in range(layers):
        alone = Learning({name: held.only(layer) for name, held in tasks.items()}, seed, size.steps)
        for _ in alone:
            pass
        scores.append(alone.scores())
    shares = np.array([[mix.weights for mix in mixes] for mixes in course]).swapaxes(0, 1)
    gammas = np.array([[mix.gamma for mix in mixes] for mixes in course]).T
    return shares, gammas, np.array([[held[name] for held in scores] for name in tasks])


def runs_of(seed: int, size: MixesSize, workshop: Path) -> tuple[list[Any], list[float], list[Bench]]:
    """All classifiers on the biLM of one seed, the baseline of the most frequent label, and for the first seed the benches."""
    tasks = frozen(bilm(seed, size, workshop), size)
    made = [learned(tasks, head, size) for head in size.heads]
    benches = [
        bench(tasks[name], np.array([run[0][list(tasks).index(name), -1] for run in made])) for name in BENCHED if name in tasks
    ]
    return made, [held.blind for held in tasks.values()], benches


def bench(held: Frozen, shares: np.ndarray) -> Bench:
    """Some of the examples of a task, to mix by hand."""
    rng = np.random.default_rng(4)
    known = np.flatnonzero(np.isin(np.array(held.asked), np.array(held.classes)))
    some, new = rng.permutation(len(held.gold))[:KEPT], rng.permutation(known)[:KEPT]
    gold, asked = (np.searchsorted(np.array(held.classes), np.array(labels)) for labels in (held.gold, held.asked))
    train, test = (x[:, 0].astype(np.float16) for x in (held.train[some], held.test[new]))  # each asks about one place
    return Bench(held.task.name, held.classes, train, gold[some], test, asked[new], shares)


def measure(size: MixesSize = FULL, processes: int = 2, workshop: Path = WORKSHOP) -> tuple[Mixes, list[Bench]]:
    """Every task on every biLM with every seed of its classifiers."""
    found = common_runs.each(runs_of, [(seed, size, workshop) for seed in size.bilms], processes)
    shares, gammas, scores = (np.stack([run[n] for made, _, _ in found for run in made], axis=1) for n in range(3))
    ways = ("mix", *(f"layer {layer}" for layer in range(shares.shape[-1])))
    by_bilm = scores.reshape(len(size.tasks), len(size.bilms), len(size.heads), len(ways)).mean(2)
    stories = f"{size.stories} stories to learn from, {size.asked} new ones to be asked about"
    note = f"{len(size.bilms)} biLMs × {len(size.heads)} seeds of heads; {stories}; {size.steps} steps"
    return (
        Mixes(
            size.tasks, tuple(TASKS[name].metric for name in size.tasks), tuple((b, h) for b in size.bilms for h in size.heads),
            np.array(size.shown), shares, gammas, ways, scores, intervals(by_bilm), intervals(by_bilm[..., :1] - by_bilm),
            np.array(found[0][1]), note,
        ),
        found[0][2],
    )  # fmt: skip


def intervals(values: np.ndarray) -> np.ndarray:
    """Mean, low and high over the biLMs: from [task, bilm, way] to [task, way, 3]. Classifiers of one biLM were averaged before."""
    return np.array([[interval(values[task, :, way]) for way in range(values.shape[2])] for task in range(len(values))])


def followed(measured: Mixes, order: Sequence[Sequence[str]]) -> list[bool]:
    """For every biLM whether each group of tasks reads lower in the stack than the next one, by the mean of Σ j s_j over its
    classifiers.
    """
    seeds = list(dict.fromkeys(seed for seed, _ in measured.runs))
    kept = []
    for seed in seeds:
        mine = [n for n, run in enumerate(measured.runs) if run[0] == seed]
        height = dict(zip(measured.tasks, measured.heights[:, mine].mean(1), strict=True))
        groups = [[height[name] for name in group if name in height] for group in order]
        kept.append(all(max(low) < min(high) for low, high in zip(groups, groups[1:], strict=False) if low and high))
    return kept


ORDER = (("last letter",), ("entities", "part of speech"), ("word sense", "topic"))


def card(measured: Mixes) -> str:
    """What was measured, and how to do it again."""
    head = f"| task | s (mean) | γ | {' | '.join(measured.ways)} | blind |\n|---|---|---|{'---|' * (len(measured.ways) + 1)}"
    rows = []
    for n, name in enumerate(measured.tasks):
        shares = " ".join(f"{share:.2f}" for share in measured.shares[n, :, -1].mean(0))
        scores = " | ".join(f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in measured.intervals[n])
        rows.append(f"| {name} | {shares} | {measured.gammas[n, :, -1].mean():.2f} | {scores} | {measured.blind[n]:.3f} |")
    kept = followed(measured, ORDER)
    return CARD.format(note=measured.note, table="\n".join([head, *rows]), kept=sum(kept), all=len(kept))


CARD = """# How tasks weigh the layers of ELMo

{note}. In brackets the 95 % interval of the mean over biLMs (Student's t).

{table}

The order form < entities, part of speech < word sense, topic (by Σ j s_j) holds in {kept} of {all} biLMs.

Make it again: `python -m studies.mixes`. It trains `elmo` with seeds 0, 1 and 2 in `runs/recipes` first, or takes what
lies there. Another processor rounds differently, so last digits may differ.
"""


def main() -> None:
    """Measure, and keep the records with their cards."""
    measured, benches = measure()
    results.write_result(NAME, measured, card(measured))
    for one in benches:
        one.write(store.data_folder() / "results" / NAME / f"{one.task.replace(' ', '-')}.npz")


if __name__ == "__main__":
    main()
