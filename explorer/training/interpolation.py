"""The straight line between the weights that a training began with and those it ended with."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.evaluation.context import EvalData
from explorer.corruption.collate import BatchContext
from explorer.errors import ChoiceError, check_whole, repeated
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.microworld import WORLDS
from explorer.microworld import stories as microworld
from explorer.microworld.derived.as_text import VERSIONS, tasks_as_text
from explorer.microworld.excerpts import MOST
from explorer.microworld.grammar.pairing import STRANDS, pairs
from explorer.microworld.lexicon import check_split
from explorer.microworld.versions import check_made
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.presets import preset
from explorer.models.transformer import TransformerModel
from explorer.nn.transformer import Transformer, initialise
from explorer.nn.widest import in_widest
from explorer.records import Along
from explorer.text.examples import Texts, Translation
from explorer.text.toy import toy_stories as toy
from explorer.training.corpora import FRENCH, TASKS, Corpus, recorded_name, repeated_words
from explorer.training.device import tensors
from explorer.training.objectives import OBJECTIVES, Objective
from explorer.training.plan import check_settings

Weights = Mapping[str, Tensor]
MOST_PLACES = 10_001  # on the line, for each of which the loss is measured


@cache_policy(CachePolicy(on_disk=True))
@checked
def along(
    model: TransformerModel,
    texts: Texts,
    *,
    plan: Mapping[str, Any] | None = None,
    seed: int = 0,
    snapshots: Mapping[int, TransformerModel] | None = None,
    places: int = 17,
) -> Along:
    """The loss on these texts at weights between a random start (drawn from `seed`, as `ex.build` does) and this model's.

    `texts` should be new to the model. `plan` is that of its run, for its objective and strategy; without one they are its
    preset's. `snapshots` are the models that the training came by, by their step.

    >>> ex.training.along(ex.load("gpt2"), ex.training.fresh("toy", 4), places=3).model
    'gpt2'
    """
    check_whole("places", places, 2, MOST_PLACES)  # the two ends of the line, and what is between them
    check_settings(plan or {})
    end, walker = _weights(model), copy.deepcopy(model.module).eval()
    begin = {
        name: value.detach().to(model.device) for name, value in initialise(Transformer(model.config), seed).named_parameters()
    }
    ready, task, predictions = questions(model, texts, plan)
    share = np.linspace(0, 1, places)
    losses = [
        _loss(walker, {name: begin[name].lerp(end[name], t) for name in begin}, ready, task)
        for t in with_progress(share.tolist(), "Measuring along the line")
    ]
    went, apart = [], []
    for step, snapshot in sorted((snapshots or {}).items()):
        here = _weights(snapshot)
        place, beside = nearest_on_line(begin, end, here)
        went.append((step, place, _loss(walker, here, ready, task)))
        apart.append(beside)
    return Along(model.name, task, share, np.array(losses), np.array(went).reshape(-1, 3), np.array(apart), predictions)


def questions(
    model: TransformerModel, texts: Texts, plan: Mapping[str, Any] | None = None, *, mask_rate: float | None = None
) -> tuple[dict[str, Tensor], str, int]:
    """One batch of these texts as the model's own task asks them, the task, and how many answers are scored.

    `plan` is that of its run; without one, or where its objective is not known here, the task is its preset's. `mask_rate` is the
    share to hide; None is the strategy's own. Of a task that needs gold labels or a teacher, only what it asks without is asked.
    """
    entry, strategy = asked_of(model, plan or {})
    examples = entry.examples(Corpus("given", texts, lambda count, split: EvalData([])), model.tokenizer, None)
    rng = np.random.default_rng(0)
    context = BatchContext(examples, model.tokenizer.vocabulary, model.longest, strategy, rng, mask_rate)
    batch = entry.collate(examples, context)
    return tensors(batch, model.device), entry.name, int(batch.loss_mask.sum())


def asked_of(model: TransformerModel, plan: Mapping[str, Any]) -> tuple[Objective, str]:
    """What a model can be asked now of what its run asked, and the strategy."""
    own = OBJECTIVES[preset(model.preset).objective]
    plan = plan if plan.get("objective") in OBJECTIVES else {}
    entry = OBJECTIVES[plan.get("objective", own.name)]
    strategy = plan.get("strategy", entry.usual_strategy)
    return OBJECTIVES.get(entry.fallback, entry), strategy


def mean_rate(plan: Mapping[str, Any]) -> float | None:
    """The share that a training hid, on average over its steps: it moves evenly from a first to a last. None: its strategy's own."""
    first, last = plan.get("mask_rate_first"), plan.get("mask_rate")
    return last if first is None or last is None else (first + last) / 2


def nearest_on_line(begin: Weights, end: Weights, here: Weights) -> tuple[float, float]:
    """The place on the line that is nearest to these weights, and how far from it they are, in lengths of the line."""
    line, way = (torch.cat([in_widest((other[name] - begin[name]).flatten()) for name in begin]) for other in (end, here))
    place = float(way @ line / (line @ line))
    return place, float((way - place * line).norm() / line.norm())


def _weights(model: TransformerModel) -> dict[str, Tensor]:
    """A copy of every weight, tied ones once."""
    return {name: value.detach().float().clone() for name, value in model.module.named_parameters()}


@torch.no_grad()
def _loss(module: Transformer, weights: Weights, batch: Mapping[str, Tensor], task: str) -> float:
    """The sum of the losses of a task with these weights."""
    for name, value in module.named_parameters():
        value.copy_(weights[name])
    return float(sum(OBJECTIVES[task].loss(module, batch, 0.0).values()))


@checked
def fresh(corpus: str, count: int = 32, split: str = "test") -> Texts:
    """Texts of a corpus that no training by its name has met. New ones can be made of a generated corpus alone.

    `corpus` is a name as in the plan of a run: its number of texts counts for nothing, and a world without a version is the first.
    Texts of the split *train* are like those that a training reads, and short ones may be the same.

    >>> len(ex.training.fresh("toy", 4)), len(ex.training.fresh("microworld-2.0:120000", 4))
    (4, 4)
    """
    name = recorded_name(corpus).partition(":")[0]
    check_made(name)
    if name not in FRESH:
        raise ChoiceError(
            f"There are no new texts of {repeated(corpus)}: only a generated corpus can make them ({', '.join(FRESH)}). From your "
            "own texts, keep some back and give them as a list."
        )
    check_split(split)
    return FRESH[name](check_whole("count", count, 0, MOST), split)


def _stories(count: int, split: str, version: str) -> Texts:
    return list(microworld(count, 2, split, version=version))


def _translations(count: int, split: str, version: str) -> Texts:
    return [Translation(pair.english, pair.french) for pair in pairs(count, 2, split, version=version)]


def _questions(count: int, split: str, version: str) -> Texts:
    return [Translation(asked.source, asked.target) for asked in tasks_as_text(count, 2, split, version=version)]


FRESH: dict[str, Callable[[int, str], Texts]] = {
    "toy": lambda count, _: list(toy(count, 2)),
    "microworld+repeats": lambda count, _: list(repeated_words(count, 2)),
    **{f"microworld-{version}": partial(_stories, version=version) for version in WORLDS},
    **{f"{FRENCH}-{version}": partial(_translations, version=version) for version in STRANDS},
    **{f"{TASKS}-{version}": partial(_questions, version=version) for version in VERSIONS},
}
