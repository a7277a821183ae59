"""A small decoder trained with its causal mask, and one trained without, which sees the next token in its input.

`python -m studies.unmasked` measures again (about a minute on one core) and writes `data/results/unmasked`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from explorer.decoding.comparison import written
from explorer.models import results, store
from explorer.models.load import build, load
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.losses import causal_loss
from explorer.records import Curves, Edit, TapPlace, Written, spread
from explorer.text.examples import Example, prepared
from explorer.text.tokenizers import Tokenizer
from explorer.training.plan import Plan
from explorer.training.run import Run
from studies import common_runs

NAME = "unmasked"
WITH, WITHOUT = "trained with the mask", "trained without it"
READ_WITH, READ_WITHOUT, RANDOM = "read with the mask", "read without it", "random tokens, read without it"
LINES = ((WITH, READ_WITH), (WITH, READ_WITHOUT), (WITHOUT, READ_WITHOUT), (WITHOUT, READ_WITH), (WITHOUT, RANDOM))
BEGIN, WRITES = 6, 24


@dataclass(frozen=True)
class UnmaskedSize:
    """How large the models are, how long they train and on how much they are measured."""

    steps: int = 500
    batch: int = 8
    checks: int = 8
    stories: int = 1000
    held: int = 32
    pieces: int = 48  # of a story, at most
    dim: int = 64
    seeds: tuple[int, ...] = (0, 1, 2)

    @property
    def due(self) -> np.ndarray:
        """The steps after which a model is measured."""
        return common_runs.ever_rarer(self.steps / 30, self.steps, self.checks)


@dataclass(frozen=True, eq=False)
class Lifted(Edit):
    """Every position sees all others: later ones too, but no padding."""

    places = (TapPlace.ALLOWED,)

    def changed(self, value: Any) -> Any:
        """The same keys for every query."""
        return value.any(-2)[..., None, :] | value


def sight(masked: bool) -> AbstractContextManager[None]:
    """While inside, the decoder keeps its mask or goes without."""
    return nullcontext() if masked else tap.editing([Lifted("decoder")])


class Unmasked(Run):
    """A run whose model sees the whole text, the answers too. The objective is that of every causal model."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)

        def openly(*asked: Any) -> Any:
            with sight(masked=False):
                return causal_loss(*asked)

        self.loss = openly


@lru_cache(maxsize=1)
def read(stories: int) -> list[Example]:
    """Stories of the microworld in the tokens of the shipped gpt2-tiny."""
    return prepared(common_runs.stories_of("microworld", stories), pieces())


@lru_cache(maxsize=1)
def pieces() -> Tokenizer:
    """The tokens of the shipped gpt2-tiny."""
    return load("gpt2-tiny", device="cpu").tokenizer


def trained(masked: bool, seed: int, size: UnmaskedSize) -> Run:
    """A run that is about to begin: the same model, stories and batches, with the mask or without."""
    shape: dict[str, Any] = {"dim": size.dim, "hidden": 4 * size.dim, "heads": 4, "length": size.pieces}
    model = build("gpt2", size="tiny", tokenizer=pieces(), seed=seed, device="cpu", **shape)
    plan = Plan("causal", "causal", size.steps, size.batch, seed=seed, checks=0, snapshots=0)
    return (Run if masked else Unmasked)(model, read(size.stories), plan)


def rows(model: TransformerModel, size: UnmaskedSize) -> torch.Tensor:
    """New stories of one length, after the token that begins every text: [story, token]."""
    known, found = model.tokenizer, []
    for story in common_runs.stories_of("microworld", 4 * size.held, "validation"):
        ids = [known.vocabulary.end, *known.encode(" ".join(story), special=False).ids.tolist()]
        found += [ids[: size.pieces]] if len(ids) >= size.pieces else []
    return torch.tensor(found[: size.held])


def shuffled(tokens: torch.Tensor, vocabulary: int) -> torch.Tensor:
    """Tokens drawn uniformly from the vocabulary: there is nothing to predict."""
    drawn = np.random.default_rng(0).integers(1, vocabulary, tuple(tokens.shape))
    return torch.as_tensor(drawn)


@torch.no_grad()
def loss(model: TransformerModel, tokens: torch.Tensor, masked: bool) -> float:
    """The mean loss of the next token. The last row has no loss, since its target is not in the input."""
    with sight(masked):
        scores = model.module.outputs(model.module(tokens))["lm"][:, :-1]
    return float(functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten()))


def asked(model: TransformerModel, tokens: torch.Tensor) -> dict[str, float]:
    """The three losses of a model."""
    noise = shuffled(tokens, model.tokenizer.vocabulary.size)
    return {READ_WITH: loss(model, tokens, True), READ_WITHOUT: loss(model, tokens, False), RANDOM: loss(model, noise, False)}


def course(run: Run, size: UnmaskedSize) -> Iterator[dict[str, float]]:
    """The losses of a run at every check."""
    tokens = rows(run.model, size)
    yield from common_runs.measured(run, lambda model: asked(model, tokens), set(size.due.tolist()))


def measure(size: UnmaskedSize = UnmaskedSize()) -> tuple[Curves, dict[str, Written]]:
    """All lines, and what the first seed of each way generates."""
    found: dict[str, list[list[dict[str, float]]]] = {WITHOUT: [], WITH: []}
    texts = {}
    for way, held in found.items():
        for seed in size.seeds:
            run = trained(way == WITH, seed, size)
            held.append(list(course(run, size)))
            if seed == size.seeds[0]:
                texts[way] = goes_on(run.model, way, size)
            sys.stderr.write(f"{way}, seed {seed}: {held[-1][-1]}\n")
    lines = tuple(
        spread(f"{way}, {what}", size.due, np.array([[at[what] for at in run] for run in found[way]])) for way, what in LINES
    )
    note = f"decoders of width {size.dim}, two layers, {len(size.seeds)} seeds; {size.held} new stories"
    return Curves("Trained with and without the mask", "training step", "loss of the next token (nats)", lines, note), texts


def goes_on(model: TransformerModel, way: str, size: UnmaskedSize) -> Written:
    """The greedy continuation of an unseen prompt. In generation there are no later tokens to see."""
    begin = rows(model, size)[0, : BEGIN + 1].tolist()
    return written(model, begin, way, "greedy", max_tokens=WRITES)


def how(size: UnmaskedSize) -> str:
    """How it was made, and what may not be concluded."""
    return (
        f"Preset `gpt2`, width {size.dim}, {size.steps} steps of {size.batch} out of {size.stories:,} stories of the microworld\n"
        f"(their first {size.pieces} tokens, as the shipped gpt2-tiny cuts them), float32. Both ways take the same stories in\n"
        "the same order; they differ in the mask while training and in nothing else. Measured on the first "
        f"{size.pieces - 1} tokens of\n{size.held} stories of the validation split, and on as many rows of tokens drawn at random. "
        "`with.npz` and `without.npz`\nhold what the first seed writes after a new beginning.\n\n"
        "Caution: short trainings of small models. How fast a loss collapses without the mask depends on the width and the rate; that\n"
        "it does, not."
    )


if __name__ == "__main__":
    measured, texts = measure()
    results.write_result(NAME, measured, common_runs.card(measured, how(UnmaskedSize()), NAME))
    for part, way in (("with", WITH), ("without", WITHOUT)):
        texts[way].write(store.data_folder() / "results" / NAME / f"{part}.npz")
