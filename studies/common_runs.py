"""What the recorded experiments share: stories, their tokenizers, runs with every setting written down, and processes.

A recorded result must come out the same when it is made again, so nothing here follows a preset's own way of training.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch

from explorer import microworld
from explorer.analysis.evaluation import masked
from explorer.analysis.evaluation.context import EvalContext, EvalData
from explorer.models.presets import preset
from explorer.models.transformer import TransformerModel
from explorer.records import Curve, Curves
from explorer.text.learning import tokenizer
from explorer.text.tokenizers import Tokenizer
from explorer.text.toy import toy_stories as stories
from explorer.training.finetune.metrics import interval
from explorer.training.fit import fit
from explorer.training.run import Run

PIECES, STORIES = 800, 20_000
LENGTH = 128  # of a text that is asked about, at most
WORLDS = {"toy": PIECES, "microworld": 2000}  # with the size of their vocabularies


@lru_cache(maxsize=4)
def stories_of(world: str, count: int, split: str = "train") -> list[list[str]]:
    """So many stories of a world."""
    return list(stories(count, 1) if world == "toy" else microworld.stories(count, 1, split))


@lru_cache(maxsize=4)
def pieces(system: str, world: str = "toy") -> Tokenizer:
    """A tokenizer of the kind that belongs to a system, trained on the stories of a world."""
    whose = preset(system)
    texts = (" ".join(story) for story in stories_of(world, STORIES))
    return tokenizer(whose.tokenizer, texts, size=WORLDS[world], specials=whose.specials)


def ever_rarer(first: float, last: int, checks: int) -> np.ndarray:
    """So many steps from the first to the last, ever further apart."""
    return np.unique(np.geomspace(max(1, first), last, checks).round())


def each(what: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], processes: int = 2) -> list[Any]:
    """What each task yields, in the order of the tasks. Each has one thread to itself, so what runs beside it changes nothing.

    Without processes, one after another right here.
    """
    if not processes:
        return [what(*task) for task in tasks]
    spawn = get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawn, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        running = [pool.submit(what, *task) for task in tasks]
        for number, (task, one) in enumerate(zip(tasks, running, strict=True), 1):
            one.result()
            sys.stderr.write(f"{number} of {len(tasks)}: {', '.join(map(str, task[:-1]))}\n")
    return [one.result() for one in running]


@dataclass(frozen=True)
class Steps:
    """How long every run is, and how often it is measured."""

    steps: int = 2000
    batch: int = 16
    checks: int = 6
    seeds: tuple[int, ...] = (0, 1, 2)

    @property
    def due(self) -> np.ndarray:
        """The steps after which a run is measured; 0 is before the first."""
        return np.linspace(0, self.steps, self.checks + 1).round()


def finding(tokenizer: Tokenizer, count: int) -> Callable[[TransformerModel], float]:
    """Ask a model for hidden tokens, 15 % of so many new stories of the microworld: the share that it finds."""
    ask = masked.masked_accuracy(EvalContext(EvalData(stories_of("microworld", count, "validation")), tokenizer, "mlm", LENGTH))
    assert ask is not None
    return lambda model: ask(model).metrics["mlm accuracy"]


def measured(run: Run, what: Callable[[TransformerModel], Any], due: Container[float]) -> Iterator[Any]:
    """What is measured after some steps of a run."""
    for step in run:
        if step.step in due:
            run.model.module.eval()
            with torch.no_grad():
                yield what(run.model)
            run.model.module.train()


def within(label: str, x: np.ndarray, runs: np.ndarray) -> Curve:
    """The mean of several runs [run, place] with its 95 % interval by Student's t."""
    mean, low, high = np.array([interval(values) for values in runs.T]).T
    return Curve(label, x, mean, low, high)


def card(made: Curves, how: str, command: str, bars: str = "the range of the seeds") -> str:
    """What was done, what was found, and how to do it again."""
    ends = "\n".join(
        f"- {line.label}: {line.y[-1]:.3f} ({line.low[-1]:.3f} to {line.high[-1]:.3f})"
        for line in made.lines
        if line.low is not None and line.high is not None
    )
    last = "After the last step" if made.across == "training step" else f"At {made.lines[0].x[-1]:g} {made.across}"
    return (
        f"# {made.title}\n\n{made.note}.\n{how}\n\n{last}, {made.up}:\n\n{ends}\n\n"
        f"The record holds the mean and {bars}. Make it again: `python -m studies.{command}`.\n"
        "Another processor rounds differently, so last digits may differ.\n"
    )


def run(system: str, steps: int, seed: int, world: str = "toy", **changes: Any) -> Run:
    """A run with batches of 32 stories in float32, all weights initialised at random."""
    settings: dict[str, Any] = {
        "batch": 32,
        "schedule": "cosine",
        "checks": 0,
        "snapshots": 0,
        "precision": "float32",
        "tables": "random",
    }
    given: dict[str, Any] = {"corpus": stories_of(world, STORIES), "held": [], "tokenizer": pieces(system, world)}
    made = fit(system, steps=steps, seed=seed, device="cpu", **given | settings | changes)
    assert isinstance(made, Run)
    return made
