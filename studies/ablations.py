"""Two ablations: next sentence prediction (BERT), and dynamic masking (RoBERTa); each with and without.

`python -m studies.ablations` measures both (about twelve minutes on two cores) and writes `data/results/next-sentence` and
`data/results/masks`. With one of these words it measures only that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from explorer.corruption.collate import Batch, BatchContext
from explorer.records import Curves, spread
from explorer.text.examples import examples_of_step
from explorer.training.run import Run
from studies import runs
from studies.study import Size, Study, lines, main

RATE, HELD = 0.15, 256
SAME_MASK = "the same mask every time"
FEW = 1000  # stories: so few that each comes many times, as Wikipedia came forty times to BERT
SIZE = Size(steps=2000, batch=16, checks=6, seeds=(0, 1, 2))


@dataclass(frozen=True)
class Case:
    """One system with an idea and without it, on the same stories."""

    system: str
    title: str
    ways: dict[str, dict[str, Any]]  # by the name of each line what differs
    stories: int = runs.STORIES
    options: dict[str, Any] = field(default_factory=dict)


CASES = {
    "next-sentence": Case(
        "bert",
        "Is guessing the next sentence worth it?",
        {"masked tokens and next sentence": {"objective": "mlm+nsp"}, "masked tokens only": {"objective": "mlm"}},
    ),
    "masks": Case(
        "roberta",
        "The same mask every time, or another?",
        {"another mask every time": {}, SAME_MASK: {}},
        stories=FEW,
        options={"packed": False},
    ),
}


def course(name: str, way: str, seed: int, size: Size) -> np.ndarray:
    """One run: at every check, the first before any step, the share of hidden tokens that it finds in new stories [check]."""
    case = CASES[name]
    corpus = runs.stories_of("microworld", case.stories)
    given = {"corpus": corpus, "mask_rate": RATE, "tables": "sines", "batch": size.batch}
    run = runs.run(case.system, size.steps, seed, "microworld", **given, **case.options, **case.ways[way])
    if way == SAME_MASK:
        run.batch = partial(masked_once, run)  # type: ignore[method-assign]
    return np.array(runs.course(run, runs.finding(run.model.tokenizer, HELD), size))


def masked_once(run: Run, step: int) -> Batch:
    """The batch of a step in which the tokens of a story are drawn by its number: the same are hidden whenever it comes again."""
    plan, vocabulary, rows = run.plan, run.model.tokenizer.vocabulary, []
    for number in examples_of_step(step, len(run.examples), plan.batch, plan.seed):
        rng = np.random.default_rng((plan.seed, 4, int(number)))
        context = BatchContext(run.examples, vocabulary, run.model.longest, plan.strategy, rng, plan.mask_rate)
        rows.append(run.objective.collate([run.examples[number]], context))
    widths = {name: max(row.widths[name] for row in rows) for name in rows[0].widths}
    padded = [row.pad_to(widths, vocabulary.pad) for row in rows]
    parts: dict[str, Any] = {name: np.concatenate([getattr(row, name) for row in padded]) for name in widths}
    return Batch(**parts).pad_to_multiple(run.model.longest, vocabulary.pad)


def worth(name: str, shares: np.ndarray, size: Size) -> Curves:
    """Hidden tokens found again in new stories while both ways of a case are trained."""
    case = CASES[name]
    times = size.steps * size.batch / case.stories
    note = f"{case.system}, size tiny, {len(size.seeds)} seeds; {case.stories:,} stories, each seen about {times:.1f} times"
    drawn = lines(spread, case.ways, size.due, shares)
    return Curves(case.title, "training step", "hidden tokens found in new stories", drawn, f"{note}; asked with 15% hidden")


STUDIES = {
    name: Study(name, SIZE, (case.ways, "seeds"), course, worth, lambda *given: {"held": HELD}, case=name)
    for name, case in CASES.items()
}

if __name__ == "__main__":
    main(STUDIES)
