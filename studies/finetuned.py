"""What fine-tuning comes to with the settings that its lesson opens with: three ways to learn one task, and the answers to another.

`python -m studies.finetuned` trains them again (some seconds on one core) and writes `data/results/finetuned`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

import explorer as ex
from explorer.records import Answers, FinetuneWays
from studies.study import Size, Study, main, table

SIZE = Size(  # as the parts *Train* and *Inside* begin; `labelled` and `learned` are those of *Inside*
    model="bert", task="new words: kind", ways=("full", "frozen", "scratch"), examples=50, steps=40, seeds=(0,),
    answered="sentiment", labelled=100, learned=60, asked=120,
)  # fmt: skip


def train(seed: int, size: Size) -> tuple[FinetuneWays, Answers]:
    """The ways to learn a task from few texts, and what a model says that has learned another."""
    torch.set_num_threads(1)
    given: dict[str, Any] = {"seed": seed, "device": "cpu"}
    tuned = partial(ex.training.finetuned_model, task=size.answered, examples=size.labelled, steps=size.learned)
    ways = ex.training.compare_ways(
        size.model, task=size.task, ways=list(size.ways), examples=size.examples, steps=size.steps, **given
    )
    return ways, ex.training.answers(tuned(size.model, **given), task=size.answered, examples=size.asked)


def measure(runs: Sequence[tuple[FinetuneWays, Answers]], size: Size) -> dict[str, Any]:
    """Both records, as they were made."""
    ((ways, answers),) = runs
    return {"finetuned": ways, "finetuned/answers": answers}


def facts(record: FinetuneWays, size: Size) -> dict[str, str]:
    """The score of every way."""
    return {
        "table": table(("way", "score"), [(way, f"{score:.3f}") for way, score in zip(record.ways, record.scores, strict=True)])
    }


STUDIES = {"finetuned": Study("finetuned", SIZE, ("seeds",), train, measure, facts, models=("bert",))}

if __name__ == "__main__":
    main(STUDIES)
