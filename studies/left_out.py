"""Residual connections, norms and feed-forward layers left out while a small decoder learns: what becomes of its loss.

`python -m studies.left_out` measures again (about a quarter of an hour on one core) and writes `data/results/left-out`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explorer.analysis.evaluation import causal
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.records import Curve, Curves
from studies import runs
from studies.study import Study, lines, main, with_interval

WHOLE, FREQUENCIES = "nothing left out", "token frequencies alone"
WAYS: dict[str, dict[str, Any]] = {
    WHOLE: {},
    "without residual connections": {"residual": False},
    "without norms": {"norm": "none"},
    "without feed-forward layers": {"feed_forward": False},
}
TOKENIZER = "gpt2-tiny"  # the model whose tokens are read


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
    held_out: int = 64
    seeds: tuple[int, ...] = (0, 1, 2)

    @property
    def due(self) -> np.ndarray:
        """The steps after which a model is measured."""
        return runs.ever_rarer(self.steps / 32, self.steps, self.checks)


def course(way: str, seed: int, size: LeftOutSize) -> np.ndarray:
    """The loss on new stories at every check of one run, all ways on the same batches in the same order."""
    shape: dict[str, Any] = {"layers": size.layers, "dim": size.dim, "heads": 4, "hidden": 4 * size.dim, "length": size.length}
    given: dict[str, Any] = {
        "corpus": runs.stories_of("microworld", size.stories),
        "tokenizer": runs.shipped_tokenizer(TOKENIZER),
    }
    run = runs.run("gpt2", size.steps, seed, batch=size.batch, **given, **shape, **WAYS[way])
    ask = causal.expected(context(size, "validation"))
    assert ask is not None
    return np.array(list(runs.measured(run, lambda model: ask(model).metrics["held-out loss"], set(size.due.tolist()))))


def frequencies(size: LeftOutSize) -> float:
    """The loss of whoever knows only how often each token occurs in the training stories: −mean log of (count + 1) ÷ (all + |V|)."""
    vocab = runs.shipped_tokenizer(TOKENIZER).vocabulary.size
    train, new = (np.concatenate([row[1:] for row in causal.rows(context(size, s))[0]]) for s in ("train", "validation"))
    count = np.bincount(train, minlength=vocab) + 1.0
    return float(-np.log(count / count.sum())[new].mean())


def context(size: LeftOutSize, split: str) -> EvalContext:
    """The stories of a split, as they are asked about."""
    many = size.stories if split == "train" else size.held_out
    texts = EvalData(runs.stories_of("microworld", many, split))
    return EvalContext(texts, runs.shipped_tokenizer(TOKENIZER), "causal", size.length)


def measure(losses: np.ndarray, size: LeftOutSize) -> Curves:
    """Every way with every seed, and the loss of frequencies alone as a level line."""
    level = frequencies(size)
    note = (
        f"decoders of {size.layers} layers of width {size.dim}, norm before each sub-layer; {len(size.seeds)} seeds, bars: 95 % "
        f"intervals of the mean; {size.held_out} new stories; |V| = {runs.shipped_tokenizer(TOKENIZER).vocabulary.size:,}; "
        f"{FREQUENCIES}: {level:.3f}"
    )
    drawn = (*lines(with_interval, WAYS, size.due, losses), Curve(FREQUENCIES, size.due, np.full(len(size.due), level)))
    return Curves("What becomes of the loss without a part", "training step", "loss of the next token (nats)", drawn, note)


STUDIES = {"left-out": Study("left-out", LeftOutSize(), lambda size: (tuple(WAYS), size.seeds), course, measure)}

if __name__ == "__main__":
    main(STUDIES)
