"""Residual connections, norms and feed-forward layers left out while a small decoder learns: what becomes of its loss.

`python -m studies.left_out` measures again (about a quarter of an hour on one core) and writes `data/results/left-out`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from explorer.analysis.evaluation import causal
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.models import results
from explorer.models.load import load
from explorer.records import Curve, Curves
from explorer.text.tokenizers import Tokenizer
from studies import common_runs

NAME = "left-out"
WHOLE, FREQUENCIES = "nothing left out", "token frequencies alone"
WAYS: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "without residual connections": {"residual": False},
    "without norms": {"norm": "none"},
    "without feed-forward layers": {"feed_forward": False},
}


@dataclass(frozen=True)
class LeftOutSize:
    """How deep and wide the models are, how long they train and on how much they are measured."""

    steps: int = 200
    batch: int = 8
    checks: int = 7
    layers: int = 6
    dim: int = 64
    length: int = 64
    stories: int = 2000
    held: int = 64
    seeds: tuple[int, ...] = (0, 1, 2)

    @property
    def due(self) -> np.ndarray:
        """The steps after which a model is measured."""
        return common_runs.ever_rarer(self.steps / 32, self.steps, self.checks)


@lru_cache(maxsize=1)
def pieces() -> Tokenizer:
    """The tokenizer of the shipped gpt2-tiny."""
    return load("gpt2-tiny", device="cpu").tokenizer


def course(way: str, seed: int, size: LeftOutSize) -> list[float]:
    """The loss on new stories at every check of one run, all ways on the same batches in the same order."""
    shape: dict[str, Any] = {"layers": size.layers, "dim": size.dim, "heads": 4, "hidden": 4 * size.dim, "length": size.length}
    texts = common_runs.stories_of("microworld", size.stories)
    run = common_runs.run("gpt2", size.steps, seed, corpus=texts, tokenizer=pieces(), batch=size.batch, **shape, **WAYS[way])
    new = EvalData(common_runs.stories_of("microworld", size.held, "validation"))
    ask = causal.expected(EvalContext(new, pieces(), "causal", size.length))
    assert ask is not None
    return list(common_runs.measured(run, lambda model: ask(model).metrics["held-out loss"], set(size.due.tolist())))


def frequencies(size: LeftOutSize) -> float:
    """The loss of whoever knows only how often each token occurs in the training stories: −mean log of (count + 1) ÷ (all + |V|)."""
    vocab = pieces().vocabulary.size
    read = [causal.rows(context(size, split))[0] for split in ("train", "validation")]
    count = np.bincount(np.concatenate([row[1:] for row in read[0]]), minlength=vocab) + 1.0
    new = np.concatenate([row[1:] for row in read[1]])
    return float(-np.log(count / count.sum())[new].mean())


def context(size: LeftOutSize, split: str) -> EvalContext:
    """The stories of a split, as they are asked about."""
    many = size.stories if split == "train" else size.held
    return EvalContext(EvalData(common_runs.stories_of("microworld", many, split)), pieces(), "causal", size.length)


def measure(size: LeftOutSize = LeftOutSize(), ways: Sequence[str] = tuple(WAYS)) -> Curves:
    """Every way with every seed, and the loss of frequencies alone as a level line."""
    lines = []
    for way in ways:
        held = []
        for seed in size.seeds:
            held.append(course(way, seed, size))
            sys.stderr.write(f"{way}, seed {seed}: {held[-1][-1]:.3f}\n")
        lines.append(common_runs.within(way, size.due, np.array(held)))
    level = frequencies(size)
    lines.append(Curve(FREQUENCIES, size.due, np.full(len(size.due), level)))
    note = (
        f"decoders of {size.layers} layers of width {size.dim}, norm before each sub-layer; {len(size.seeds)} seeds, bars: 95 % "
        f"intervals of the mean; {size.held} new stories; |V| = {pieces().vocabulary.size:,}; {FREQUENCIES}: {level:.3f}"
    )
    return Curves(
        "What becomes of the loss without a part", "training step", "loss of the next token (nats)", tuple(lines), note
    )


def how(size: LeftOutSize) -> str:
    """How it was made, and what may not be concluded."""
    return (
        f"Preset `gpt2` with {size.layers} layers, {size.steps} steps of {size.batch} out of {size.stories:,} stories of the microworld "
        f"(their first {size.length} tokens), float32,\nMuon and AdamW at the usual rates for every way. Without feed-forward layers a "
        "model has fewer weights.\nThe level line is the loss of the frequencies of the tokens in the training stories.\n\n"
        "Caution: short trainings of small models at one learning rate, chosen for the whole model. Deeper models, other rates or other\n"
        "initial weights change the gaps."
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    made = measure()
    results.write_result(
        NAME, made, common_runs.card(made, how(LeftOutSize()), "left_out", "the 95 % interval of the mean over seeds")
    )
