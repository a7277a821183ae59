"""The straight line between the weights that a training began with and those it ended with."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.errors import ChoiceError
from explorer.model import OwnModel
from explorer.nn.presets import preset
from explorer.nn.transformer import Transformer, initialise
from explorer.objectives import OBJECTIVES, strategy_of
from explorer.records import Along
from explorer.text.microworld import stories as microworld
from explorer.text.microworld.french import pairs
from explorer.text.seedling import stories as toy
from explorer.training.batches import BATCHES, Kitchen
from explorer.training.devices import tensors
from explorer.training.splitting import repeats
from explorer.training.stories import Texts, Translation, prepared, prepared_pairs

Weights = Mapping[str, Tensor]


def along(
    model: OwnModel,
    texts: Texts,
    *,
    plan: Mapping[str, Any] | None = None,
    seed: int = 0,
    snapshots: Mapping[int, OwnModel] | None = None,
    places: int = 17,
) -> Along:
    """The loss on these texts at weights between a random start (drawn from `seed`, as `ex.build` does) and this model's.

    `texts` should be new to the model. `plan` is that of its run, for its objective and strategy; without one they are its
    preset's. `snapshots` are the models that the training came by, by their step.
    """
    if places < 2:
        raise ChoiceError(f"places={places} must be at least 2: the two ends of the line.")
    end, walker = _weights(model), copy.deepcopy(model.module).eval()
    begin = {
        name: value.detach().to(model.device) for name, value in initialise(Transformer(model.config), seed).named_parameters()
    }
    ready, task, pieces = questions(model, texts, plan)
    share = np.linspace(0, 1, places)
    losses = [_loss(walker, {name: begin[name].lerp(end[name], float(t)) for name in begin}, ready, task) for t in share]
    went, apart = [], []
    for step, held in sorted((snapshots or {}).items()):
        here = _weights(held)
        place, beside = nearest(begin, end, here)
        went.append((step, place, _loss(walker, here, ready, task)))
        apart.append(beside)
    return Along(model.name, task, share, np.array(losses), np.array(went).reshape(-1, 3), np.array(apart), pieces)


def questions(
    model: OwnModel, texts: Texts, plan: Mapping[str, Any] | None = None, *, mask_rate: float | None = None
) -> tuple[dict[str, Tensor], str, int]:
    """One batch of these texts as the model's own task asks them, the task, and how many answers are scored.

    `plan` is that of its run; without one the task is its preset's. `mask_rate` is the share to hide; None is the strategy's
    own. Of a task that also tells a head where to look, or that a teacher takes part in, only the hidden pieces are asked.
    """
    task = (plan or {}).get("objective", preset(model.preset).objective)
    strategy = (plan or {}).get("strategy", strategy_of(task))
    task = "mlm" if task in ("mlm+antecedent", "distillation") else task
    told = [text for text in texts if isinstance(text, Translation)]
    pieces = model.tokenizer
    stories = prepared_pairs(told, pieces) if told else prepared(list(texts), pieces)
    kitchen = Kitchen(stories, pieces.vocabulary, model.longest, strategy, np.random.default_rng(0), mask_rate)
    batch = BATCHES[task](stories, kitchen)
    return tensors(batch, model.device), task, int(batch.scored.sum())


def mean_rate(plan: Mapping[str, Any]) -> float | None:
    """The share that a training hid, on average over its steps: it moves evenly from a first to a last. None: its strategy's own."""
    first, last = plan.get("mask_rate_first"), plan.get("mask_rate")
    return last if first is None or last is None else (first + last) / 2


def nearest(begin: Weights, end: Weights, here: Weights) -> tuple[float, float]:
    """The place on the line that is nearest to these weights, and how far from it they are, in lengths of the line."""
    line, way = (torch.cat([(other[name] - begin[name]).flatten().double() for name in begin]) for other in (end, here))
    place = float(way @ line / (line @ line))
    return place, float((way - place * line).norm() / line.norm())


def _weights(model: OwnModel) -> dict[str, Tensor]:
    """A copy of every weight, tied ones once."""
    return {name: value.detach().float().clone() for name, value in model.module.named_parameters()}


@torch.no_grad()
def _loss(module: Transformer, weights: Weights, batch: Mapping[str, Tensor], task: str) -> float:
    """The sum of the losses of a task with these weights."""
    for name, value in module.named_parameters():
        value.copy_(weights[name])
    return float(sum(OBJECTIVES[task](module, batch, 0.0).values()))


def fresh(corpus: str, count: int = 32) -> Texts:
    """Texts of a corpus that no training by its name has met; the microworld's for a corpus that is not known here."""
    return FRESH.get(corpus, FRESH["microworld"])(count)


FRESH: dict[str, Callable[[int], Texts]] = {
    "toy": lambda count: list(toy(count, 2)),
    "microworld": lambda count: list(microworld(count, 2, "test")),
    "english-french": lambda count: [Translation(pair.english, pair.french) for pair in pairs(count, 2, "test")],
    "microworld+repeats": lambda count: list(repeats(count, 2)),
}
