"""Words see themselves: a small decoder trained with its mask, and one trained without, where the next word stands before its eyes.

`python -m explorer.experiments.unmasked` measures again (about a minute on one core) and writes `data/results/unmasked`.
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

from explorer import library, tap
from explorer.experiments import plain
from explorer.generating.comparing import written
from explorer.loading import build, load
from explorer.model import OwnModel
from explorer.objectives import OBJECTIVES
from explorer.records import Curves, Edit, Written, spread
from explorer.text.tokenizers import Tokenizer
from explorer.training.run import Plan, Run
from explorer.training.stories import Story, prepared

NAME = "unmasked"
WITH, WITHOUT = "trained with the mask", "trained without it"
READ_WITH, READ_WITHOUT, RANDOM = "read with the mask", "read without it", "random pieces, read without it"
LINES = ((WITH, READ_WITH), (WITH, READ_WITHOUT), (WITHOUT, READ_WITHOUT), (WITHOUT, READ_WITH), (WITHOUT, RANDOM))
BEGIN, WRITES = 6, 24


@dataclass(frozen=True)
class Size:
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
        return np.unique(np.geomspace(max(1, self.steps / 30), self.steps, self.checks).round())


@dataclass(frozen=True, eq=False)
class Lifted(Edit):
    """Everybody sees whom anybody sees: the future too, but no padding."""

    def on_allowed(self, value: Any) -> Any:
        """The same keys for every query."""
        return value.any(-2)[..., None, :] | value


def sight(masked: bool) -> AbstractContextManager[None]:
    """While inside, the decoder keeps its mask or goes without."""
    return nullcontext() if masked else tap.editing([Lifted("decoder")])


class Unmasked(Run):
    """A run whose model sees the whole text, the answers too. The objective is that of every causal model."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        plainly = OBJECTIVES["causal"]

        def openly(*asked: Any) -> Any:
            with sight(masked=False):
                return plainly(*asked)

        self.objective = openly


@lru_cache(maxsize=1)
def read(stories: int) -> list[Story]:
    """Stories of the microworld in the pieces of the shipped gpt2."""
    return prepared(plain.told("microworld", stories), pieces())


@lru_cache(maxsize=1)
def pieces() -> Tokenizer:
    """The pieces of the shipped gpt2."""
    return load("gpt2", device="cpu").tokenizer


def trained(masked: bool, seed: int, size: Size) -> Run:
    """A run that is about to begin: the same model, stories and batches, with the mask or without."""
    shape: dict[str, Any] = {"dim": size.dim, "hidden": 4 * size.dim, "heads": 4, "length": size.pieces}
    model = build("gpt2", size="tiny", tokenizer=pieces(), seed=seed, device="cpu", **shape)
    plan = Plan("causal", "causal", size.steps, size.batch, seed=seed, checks=0, snapshots=0)
    return (Run if masked else Unmasked)(model, read(size.stories), plan)


def rows(model: OwnModel, size: Size) -> torch.Tensor:
    """New stories of one length, after the piece that begins every text: [story, piece]."""
    known, found = model.tokenizer, []
    for story in plain.told("microworld", 4 * size.held, "validation"):
        ids = [known.vocabulary.end, *known.encode(" ".join(story), special=False).ids.tolist()]
        found += [ids[: size.pieces]] if len(ids) >= size.pieces else []
    return torch.tensor(found[: size.held])


def shuffled(told: torch.Tensor, vocabulary: int) -> torch.Tensor:
    """Pieces drawn evenly from the vocabulary: there is nothing to foresee."""
    drawn = np.random.default_rng(0).integers(1, vocabulary, tuple(told.shape))
    return torch.as_tensor(drawn)


@torch.no_grad()
def loss(model: OwnModel, told: torch.Tensor, masked: bool) -> float:
    """The mean loss of the next piece. The last row is not asked, since nobody could see its answer."""
    with sight(masked):
        scores = model.module.outputs(model.module(told))["lm"][:, :-1]
    return float(functional.cross_entropy(scores.flatten(0, 1), told[:, 1:].flatten()))


def asked(model: OwnModel, told: torch.Tensor) -> dict[str, float]:
    """The three losses of a model."""
    noise = shuffled(told, model.tokenizer.vocabulary.size)
    return {READ_WITH: loss(model, told, True), READ_WITHOUT: loss(model, told, False), RANDOM: loss(model, noise, False)}


def course(run: Run, size: Size) -> Iterator[dict[str, float]]:
    """The losses of a run at every check."""
    told = rows(run.model, size)
    yield from plain.measured(run, lambda model: asked(model, told), set(size.due.tolist()))


def measure(size: Size = Size()) -> tuple[Curves, dict[str, Written]]:
    """All lines, and what the first seed of each way writes when it has to go on by itself."""
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
    return Curves("Trained with and without the mask", "training step", "loss of the next piece (nats)", lines, note), texts


def goes_on(model: OwnModel, way: str, size: Size) -> Written:
    """The likeliest text after a beginning that it never met. Whoever writes has no future to look at."""
    begin = rows(model, size)[0, : BEGIN + 1].tolist()
    return written(model, begin, way, "greedy", max_tokens=WRITES)


def how(size: Size) -> str:
    """How it was made, and what may not be concluded."""
    return (
        f"Preset `gpt2`, width {size.dim}, {size.steps} steps of {size.batch} out of {size.stories:,} stories of the microworld\n"
        f"(their first {size.pieces} pieces, as the shipped gpt2 cuts them), float32. Both ways take the same stories in\n"
        "the same order; they differ in the mask while training and in nothing else. Measured on the first "
        f"{size.pieces - 1} pieces of\n{size.held} stories of the validation split, and on as many rows of pieces drawn at random. "
        "`with.npz` and `without.npz`\nhold what the first seed writes after a new beginning.\n\n"
        "Caution: short trainings of small models. How fast a loss collapses without the mask depends on the width and the rate; that\n"
        "it does, not."
    )


if __name__ == "__main__":
    measured, texts = measure()
    library.write_result(NAME, measured, plain.card(measured, how(Size()), NAME))
    for part, way in (("with", WITH), ("without", WITHOUT)):
        texts[way].write(library.data_folder() / "results" / NAME / f"{part}.npz")
