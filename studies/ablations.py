"""Two ablations: next sentence prediction (BERT), and dynamic masking (RoBERTa); each with and without.

`python -m studies.ablations` measures both (about twelve minutes on two cores) and writes `data/results/next-sentence` and
`data/results/masks`. With one of these words it measures only that.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer.models import results
from explorer.records import Curves, spread
from studies import common_runs

RATE, HELD = 0.15, 256
FEW = 1000  # stories: so few that each comes many times, as Wikipedia came forty times to BERT


@dataclass(frozen=True)
class Case:
    """One system with an idea and without it, on the same stories."""

    system: str
    title: str
    ways: dict[str, dict[str, Any]]  # by the name of each line what differs
    stories: int = common_runs.STORIES
    options: dict[str, Any] = field(default_factory=dict)


FULL = common_runs.Steps()
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


def worth(name: str, size: common_runs.Steps = FULL, processes: int = 2) -> Curves:
    """Hidden tokens found again in new stories while both ways of a case are trained."""
    case = CASES[name]
    tasks = [(name, way, seed, size) for way in case.ways for seed in size.seeds]
    found = np.array(common_runs.each(course, tasks, processes)).reshape(len(case.ways), len(size.seeds), -1)
    lines = tuple(spread(way, size.due, runs) for way, runs in zip(case.ways, found, strict=True))
    times = size.steps * size.batch / case.stories
    note = f"{case.system}, size tiny, {len(size.seeds)} seeds; {case.stories:,} stories, each seen about {times:.1f} times"
    return Curves(case.title, "training step", "hidden tokens found in new stories", lines, f"{note}; asked with 15 % hidden")


def course(name: str, way: str, seed: int, size: common_runs.Steps = FULL) -> np.ndarray:
    """One run: at every check, the first before any step, the share of hidden tokens that it finds in new stories [check]."""
    case = CASES[name]
    given = {
        "corpus": common_runs.stories_of("microworld", case.stories),
        "mask_rate": RATE,
        "tables": "sines",
        "batch": size.batch,
    }
    run = common_runs.run(case.system, size.steps, seed, "microworld", **given, **case.options, **case.ways[way])
    found = common_runs.finding(run.model.tokenizer, HELD)
    return np.array([found(run.model), *common_runs.measured(run, found, set(size.due.tolist()))])


CAUTION = {
    "next-sentence": "Both ways take the same steps and batches. The second half of a pair may come from another story, as in BERT; "
    "here a half of another story\nis about other people, so the question is easier than telling what follows from "
    "what does not. It does not say\nwhat the next sentence is worth for tasks about pairs of sentences.",
    "masks": "The stories are few on purpose: with many, no story comes often enough for its mask to matter. BERT's own masks were "
    "neither:\nten different ones for each text, each seen about four times.",
}


def how(name: str, size: common_runs.Steps) -> str:
    """How the runs of a case were made, and what may not be concluded."""
    return (
        f"{size.steps:,} steps of {size.batch} stories, float32, tables of positions begin as sines; measured on {HELD} stories of the "
        f"validation split.\n\nCaution: {CAUTION[name]}"
    )


if __name__ == "__main__":
    for asked in sys.argv[1:] or CASES:
        measured = worth(asked)
        results.write_result(asked, measured, common_runs.card(measured, how(asked, FULL), f"ablations {asked}"))
