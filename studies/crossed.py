"""ELMo's two directions kept apart, and crossed: from its second layer on each direction reads both.

`python -m studies.crossed` measures again (a few minutes on one core) and writes `data/results/crossed`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from explorer.corruption.collate import BatchContext, collate_bilm
from explorer.models import results
from explorer.models.elmo import ElmoModel
from explorer.models.load import build, load
from explorer.nn.elmo import BiLM, BiLMStates, turned
from explorer.nn.losses import bilm_loss
from explorer.records import Curves, spread
from explorer.text.examples import CharExample, prepared_letters
from explorer.text.tokenizers import Tokenizer
from explorer.training.device import tensors
from explorer.training.plan import Plan
from explorer.training.run import Run
from studies import common_runs

NAME = "crossed"
APART, CROSSED = "directions apart, as in ELMo", "directions crossed"
NEW, RANDOM = "new stories", "random words"


@dataclass(frozen=True)
class CrossedSize:
    """How large the models are, how long they train and on how much they are measured."""

    steps: int = 400
    batch: int = 16
    checks: int = 7
    stories: int = 400
    held: int = 24
    words: int = 24  # of a story, at most
    dim: int = 32
    seeds: tuple[int, ...] = (0, 1, 2)

    @property
    def due(self) -> np.ndarray:
        """The steps after which a model is measured."""
        return common_runs.ever_rarer(self.steps / 16, self.steps, self.checks)


def crossing(module: BiLM, letters: Tensor, attention_mask: Tensor | None = None) -> BiLMStates:
    """Both directions, where every layer after the first reads the sum of what both wrote below."""
    x = module.words(letters)
    count = torch.full((len(x),), x.shape[1], device=x.device) if attention_mask is None else attention_mask.sum(-1)
    given = x
    onward: list[Tensor] = []
    back: list[Tensor] = []
    for number, (left, right) in enumerate(zip(module.onward.layers, module.back.layers, strict=True)):
        first, second = left(given)[0], turned(right(turned(given, count))[0], count)
        onward.append(first if number == 0 else first + onward[-1])
        back.append(second if number == 0 else second + back[-1])
        given = onward[-1] + back[-1]
    return BiLMStates(x, onward, back)


class CrossedRun(Run):
    """A run whose model has crossed directions. Its weights, objective and texts are those of the other."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        module = self.model.module
        module.forward = lambda *asked: crossing(cast(BiLM, module), *asked)


@lru_cache(maxsize=1)
def words() -> Tokenizer:
    """The words of the shipped elmo."""
    return load("elmo", device="cpu").tokenizer


@lru_cache(maxsize=4)
def read(count: int, most: int, split: str = "train") -> list[CharExample]:
    """The first words of stories, as the model reads them."""
    stories = [" ".join(" ".join(story).split()[:most]) for story in common_runs.stories_of("microworld", count, split)]
    return prepared_letters(stories, words())


def noise(size: CrossedSize) -> list[CharExample]:
    """Texts of words drawn uniformly from the vocabulary: there is nothing to predict."""
    known, rng = words(), np.random.default_rng(0)
    plain = [known.text_of(n) for n in range(known.vocabulary.size) if n not in known.vocabulary.special]
    whole = [word for word in plain if word.isalpha()]
    return prepared_letters([" ".join(rng.choice(whole, size.words)) for _ in range(size.held)], known)


def trained(crossed: bool, seed: int, size: CrossedSize) -> Run:
    """A run that is about to begin: the same model, stories and batches, with its directions apart or crossed."""
    shape: dict[str, Any] = {"dim": size.dim, "hidden": 2 * size.dim, "letters": 8, "filters": ((1, 8), (2, 16), (3, 24))}
    model = build("elmo", tokenizer=words(), seed=seed, device="cpu", **shape)
    plan = Plan("bilm", "bilm", size.steps, size.batch, seed=seed, checks=0, snapshots=0)
    return (CrossedRun if crossed else Run)(model, read(size.stories, size.words), plan)


@torch.no_grad()
def loss(model: ElmoModel, texts: Sequence[CharExample]) -> float:
    """The mean loss of both directions."""
    context = BatchContext(texts, words().vocabulary, model.config.length, "bilm", np.random.default_rng(0))
    batch = tensors(collate_bilm(texts, context), model.device)
    return float(sum(part.item() for part in bilm_loss(model.module, batch, 0.0).values())) / 2


def course(run: Run, size: CrossedSize) -> Iterator[dict[str, float]]:
    """Both losses of a run at every check."""
    texts = {NEW: read(size.held, size.words, "validation"), RANDOM: noise(size)}
    yield from common_runs.measured(
        run, lambda model: {name: loss(cast(ElmoModel, model), held) for name, held in texts.items()}, set(size.due.tolist())
    )


def measure(size: CrossedSize = CrossedSize()) -> Curves:
    """Both ways of training, on new stories and on random words."""
    lines = []
    for way in (APART, CROSSED):
        held = []
        for seed in size.seeds:
            held.append(list(course(trained(way == CROSSED, seed, size), size)))
            sys.stderr.write(f"{way}, seed {seed}: {held[-1][-1]}\n")
        for what in (NEW, RANDOM):
            lines.append(spread(f"{way}: {what}", size.due, np.array([[at[what] for at in run] for run in held])))
    note = f"biLMs of width {size.dim}, two layers, {len(size.seeds)} seeds; {size.held} texts each; |V| = {words().vocabulary.size:,}"
    return Curves("Directions apart and crossed", "training step", "loss of a word (nats)", tuple(lines), note)


def how(size: CrossedSize) -> str:
    """How it was made, and what may not be concluded."""
    return (
        f"Preset `elmo`, width {size.dim}, {size.steps} steps of {size.batch} out of {size.stories:,} stories of the microworld (their\n"
        f"first {size.words} words), float32. Both ways have the same weights at the start and read the same stories in the same\n"
        "order. Crossed, each direction of layer 2 reads the sum of both directions of layer 1. Measured on "
        f"{size.held} texts of the validation\nsplit, and on as many texts of words drawn at random, where nothing can be predicted.\n\n"
        "Caution: short trainings of small models. How fast the loss of the crossed ones falls depends on the width and the rate."
    )


if __name__ == "__main__":
    measured = measure()
    results.write_result(NAME, measured, common_runs.card(measured, how(CrossedSize()), NAME))
