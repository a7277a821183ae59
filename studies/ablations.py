"""Two ablations: next sentence prediction (BERT), and dynamic masking (RoBERTa); each with and without.

`python -m studies.ablations` measures both (about twelve minutes on two cores) and writes `data/results/next-sentence` and
`data/results/masks`. With one of these words it measures only that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from explorer.records import Curves, spread
from studies import runs
from studies.study import Study, lines, main

RATE, HELD = 0.15, 256
FEW = 1000  # stories: so few that each comes many times, as Wikipedia came forty times to BERT


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
        {"another mask every time": {"static": False}, "the same mask every time": {"static": True}},
        stories=FEW,
        options={"packed": False},
    ),
}


def course(name: str, way: str, seed: int, size: runs.Steps) -> np.ndarray:
    """One run: at every check, the first before any step, the share of hidden tokens that it finds in new stories [check]."""
    case = CASES[name]
    corpus = runs.stories_of("microworld", case.stories)
    given = {"corpus": corpus, "mask_rate": RATE, "tables": "sines", "batch": size.batch}
    run = runs.run(case.system, size.steps, seed, "microworld", **given, **case.options, **case.ways[way])
    found = runs.finding(run.model.tokenizer, HELD)
    return np.array([found(run.model), *runs.measured(run, found, set(size.due.tolist()))])


def worth(name: str, shares: np.ndarray, size: runs.Steps) -> Curves:
    """Hidden tokens found again in new stories while both ways of a case are trained."""
    case = CASES[name]
    times = size.steps * size.batch / case.stories
    note = f"{case.system}, size tiny, {len(size.seeds)} seeds; {case.stories:,} stories, each seen about {times:.1f} times"
    drawn = lines(spread, case.ways, size.due, shares)
    return Curves(case.title, "training step", "hidden tokens found in new stories", drawn, f"{note}; asked with 15 % hidden")


STUDIES = {
    name: Study(
        name,
        runs.Steps(),
        lambda size, ways=tuple(case.ways): (ways, size.seeds),  # type: ignore[misc]
        partial(course, name),
        partial(worth, name),
        lambda record, size: {"held": HELD},
    )
    for name, case in CASES.items()
}

if __name__ == "__main__":
    main(STUDIES)
