"""The first shipped models: how they were made, and how to make them again (`python -m explorer.seedlings`)."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from explorer import library
from explorer.model import OwnModel
from explorer.nn.presets import preset
from explorer.text.learning import tokenizer
from explorer.text.seedling import HELD_OUT, stories
from explorer.training.batches import Kitchen, masked_and_next
from explorer.training.fitting import fit
from explorer.training.stories import prepared

TRAIN_SEED, TEST_SEED, TRAIN_STORIES, TEST_STORIES, PIECES = 1, 2, 20_000, 500, 800
STEPS = {"bert": 9000, "gpt2": 1500}


@dataclass(frozen=True)
class Score:
    """One figure on stories that were not trained on."""

    what: str
    value: float


def grow(name: str, folder: Path) -> OwnModel:
    """Train one seedling from scratch and write it, with its card, into `folder`."""
    torch.manual_seed(0)
    texts = list(stories(TRAIN_STORIES, TRAIN_SEED))
    pieces = tokenizer(preset(name).tokenizer, (" ".join(story) for story in texts), size=PIECES)
    run = fit(name, corpus=texts, tokenizer=pieces, steps=STEPS[name], seed=0, device="cpu")
    model = run.model
    for step in run:
        if step.step % 100 == 0:
            sys.stderr.write(f"{name} {step.step}: {step.losses} {step.speed:.0f} pieces/s\n")
    library.write(model, folder, half=True)
    shipped = library.read(folder, name)  # what is shipped is what is measured
    library.write(shipped, folder, half=True, card=card(shipped, measure(shipped)))
    return shipped


def measure(model: OwnModel) -> list[Score]:
    """What the model does on stories from another seed."""
    known = {sentence for story in stories(TRAIN_STORIES, TRAIN_SEED) for sentence in story}
    fresh = [story for story in stories(TEST_STORIES, TEST_SEED)]
    share = float(np.mean([s not in known for story in fresh for s in story]))
    scores = _masked(model, fresh) if model.family == "encoder" else _causal(model, fresh)
    return [*scores, Score("share of the test sentences that occur nowhere in training", share)]


def _causal(model: OwnModel, fresh: list[list[str]]) -> list[Score]:
    end = model.tokenizer.vocabulary.end
    total, count = 0.0, 0
    for story in fresh:
        ids = torch.tensor([end, *model.tokenizer.encode(" ".join(story)).ids.tolist(), end])
        scores = torch.as_tensor(model.logits(ids.tolist()))
        total += float(functional.cross_entropy(scores[:-1], ids[1:], reduction="sum"))
        count += len(ids) - 1
    return [Score("perplexity per piece on new stories", math.exp(total / count))]


@torch.no_grad()
def _masked(model: OwnModel, fresh: list[list[str]]) -> list[Score]:
    stories_ = prepared(fresh, model.tokenizer)
    kitchen = Kitchen(stories_, model.tokenizer.vocabulary, model.longest, "mlm", np.random.default_rng(0))
    batch = masked_and_next(stories_, kitchen)
    states = model.module(*(torch.as_tensor(part) for part in (batch.source, batch.segments, batch.real)))
    found = model.module.outputs(states)
    right = found["lm"].argmax(-1).numpy() == batch.answers
    told = found["nsp"].argmax(-1).numpy() == batch.labels["nsp"]
    return [
        Score("hidden pieces found again, exactly (15 %, 80/10/10)", float(right[batch.scored].mean())),
        Score("next sentence told from a stranger", float(told.mean())),
    ]


def card(model: OwnModel, scores: list[Score]) -> str:
    """The card that is shipped beside the weights."""
    figures = "\n".join(f"| {score.what} | {score.value:.3f} |" for score in scores)
    weights = sum(p.numel() for p in model.module.parameters())
    return f"""# {model.name}, a seedling

A {model.family} by the preset `{model.preset}`, size `tiny` ({weights:,} weights, {model.config.vocab} pieces), trained from scratch
on {TRAIN_STORIES:,} generated stories (`explorer/text/seedling.py`, seed {TRAIN_SEED}) for {STEPS[model.preset]:,} steps of 32 stories,
Muon {0.02} for the matrices and AdamW {0.003} for the rest, in float32 on a CPU; stored in 16 bits.

Make it again: `python -m explorer.seedlings {model.name}`. Another processor may round differently, so the figures may differ
in the last digits.

| on {TEST_STORIES} stories of seed {TEST_SEED} | |
|---|---|
{figures}

The model has read only these toy stories. Words that it never met are marked in every picture, and what it makes of them is noise.
The sentences of the lectures were held out: {" ".join(HELD_OUT)}
"""


def main(names: list[str]) -> None:
    """Grow the seedlings that are named, or all."""
    for name in names or list(STEPS):
        grow(name, library.data_folder() / "models" / name)


if __name__ == "__main__":
    main(sys.argv[1:])
