"""What the studies train: stories, their tokenizers, and runs with every setting written down.

A recorded result must come out the same when it is made again, so nothing here follows a preset's own way of training.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from explorer import microworld
from explorer.analysis.evaluation import masked
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.corruption.collate import BatchContext
from explorer.models.load import load
from explorer.models.model import TrainableModel
from explorer.models.presets import preset
from explorer.models.transformer import TransformerModel
from explorer.text.begin_token import with_begin
from explorer.text.examples import prepared
from explorer.text.learning import tokenizer
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories
from explorer.training.corpora import recorded_corpus
from explorer.training.device import tensors
from explorer.training.finetune.finetuning import finetune
from explorer.training.finetune.run import FinetuneRun
from explorer.training.fit import PIECES, fit
from explorer.training.keeping import learned_tokenizer
from explorer.training.objectives import OBJECTIVES
from explorer.training.run import Run
from studies.study import Size

STORIES = 20_000
LENGTH = 128  # of a text that is asked about, at most
WORLDS = {"toy": 800, "microworld": 2000}  # with the size of their vocabularies
FAMILIES = {"decoder": ("gpt2", "causal"), "encoder": ("bert", "mlm")}  # each with its system and its objective


@lru_cache(maxsize=4)
def stories_of(world: str, count: int, split: str = "train") -> list[list[str]]:
    """So many stories of a world."""
    return list(toy_stories(count, 1) if world == "toy" else microworld.stories(count, 1, split))


@lru_cache(maxsize=4)
def tokenizer_of(system: str, world: str = "toy") -> Tokenizer:
    """A tokenizer of the kind that belongs to a system, trained on the stories of a world."""
    known = preset(system)
    texts = (" ".join(story) for story in stories_of(world, STORIES))
    return tokenizer(known.tokenizer, texts, size=WORLDS[world], specials=known.specials)


@lru_cache(maxsize=4)
def preset_tokenizer(system: str) -> Tokenizer:
    """The tokenizer that a system learns by its preset, at size tiny."""
    known = preset(system)
    learned = learned_tokenizer(known, recorded_corpus(known.corpus), PIECES["tiny"])
    return with_begin(learned) if known.objective == "causal" else learned


@lru_cache(maxsize=4)
def shipped_tokenizer(name: str) -> Tokenizer:
    """The tokenizer of a shipped model."""
    return load(name, device="cpu").tokenizer


def finding(tokenizer: Tokenizer, count: int) -> Callable[[TransformerModel], float]:
    """Ask a model for hidden tokens, 15% of so many new stories of the microworld: the share that it finds."""
    ask = masked.masked_accuracy(EvalContext(EvalData(stories_of("microworld", count, "validation")), tokenizer, "mlm", LENGTH))
    assert ask is not None
    return lambda model: ask(model).metrics["mlm accuracy"]


def toy_batch(run: Run, objective: str, count: int) -> dict[str, torch.Tensor]:
    """So many toy stories of another seed, as an objective asks about them: the same for every run."""
    fresh, model = prepared(list(toy_stories(count, 2)), run.model.tokenizer), run.model
    context = BatchContext(fresh, model.tokenizer.vocabulary, model.longest, objective, np.random.default_rng(0))
    return tensors(OBJECTIVES[objective].collate(fresh, context), model.device)


def course(run: Run, measure: Callable[[Any], Any], size: Size) -> list[Any]:
    """Train to the end: what is measured at every step that is due, also before the first where step 0 is."""
    module, due = run.model.module, set(size.due.tolist())
    measured = [measure(run.model)] if 0 in due else []
    for step in run:
        if step.step in due:
            module.eval()
            with torch.no_grad():
                measured.append(measure(run.model))
            module.train()
    return measured


def run(system: str, steps: int, seed: int, world: str = "toy", **changes: Any) -> Run:
    """A run with batches of 32 stories in float32, all weights initialised at random."""
    settings: dict[str, Any] = {
        "corpus": stories_of(world, STORIES),
        "held": [],
        "tokenizer": tokenizer_of(system, world),
        "batch": 32,
        "schedule": "cosine",
        "checks": 0,
        "snapshots": 0,
        "precision": "float32",
        "tables": "random",
    }
    trained = fit(system, steps=steps, seed=seed, device="cpu", **settings | changes)
    assert isinstance(trained, Run)
    return trained


def finetuned(model: str | TrainableModel, **given: Any) -> FinetuneRun:
    """A fine-tuning after its last step."""
    run = finetune(model, **given, checks=0, snapshots=0, device="cpu")
    for _ in run:
        pass
    return run
