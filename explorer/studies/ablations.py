"""What two ideas are worth: guessing the next sentence (BERT), and hiding other pieces every time (RoBERTa); each with and without.

`python -m explorer.experiments.worth` measures both (about twelve minutes on two cores) and writes `data/results/next-sentence` and
`data/results/masks`. With one of these words it measures only that.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from explorer import library
from explorer.experiments import plain
from explorer.records import Curves, spread

RATE, HELD = 0.15, 256
FEW = 1000  # stories: so few that each comes many times, as Wikipedia came forty times to BERT


@dataclass(frozen=True)
class Case:
    """One system with an idea and without it, on the same stories."""

    system: str
    title: str
    ways: dict[str, dict[str, Any]]  # by the name of each line what differs
    stories: int = plain.STORIES
    options: dict[str, Any] = field(default_factory=dict)


FULL = plain.Steps()
CASES = {
    "next-sentence": Case(
        "bert",
        "Is guessing the next sentence worth it?",
        {"masked pieces and next sentence": {"objective": "mlm+nsp"}, "masked pieces only": {"objective": "mlm"}},
    ),
    "masks": Case(
        "roberta",
        "The same mask every time, or another?",
        {"another mask every time": {"static": False}, "the same mask every time": {"static": True}},
        stories=FEW,
        options={"packed": False},
    ),
}


def worth(name: str, size: plain.Steps = FULL, processes: int = 2) -> Curves:
    """Hidden pieces found again in new stories while both ways of a case are trained."""
    case = CASES[name]
    tasks = [(name, way, seed, size) for way in case.ways for seed in size.seeds]
    found = np.array(plain.each(course, tasks, processes)).reshape(len(case.ways), len(size.seeds), -1)
    lines = tuple(spread(way, size.due, runs) for way, runs in zip(case.ways, found, strict=True))
    times = size.steps * size.batch / case.stories
    note = f"{case.system}, size tiny, {len(size.seeds)} seeds; {case.stories:,} stories, each seen about {times:.1f} times"
    return Curves(case.title, "training step", "hidden pieces found in new stories", lines, f"{note}; asked with 15 % hidden")


def course(name: str, way: str, seed: int, size: plain.Steps = FULL) -> np.ndarray:
    """One run: at every check, the first before any step, the share of hidden pieces that it finds in new stories [check]."""
    case = CASES[name]
    given = {"corpus": plain.told("microworld", case.stories), "mask_rate": RATE, "tables": "sines", "batch": size.batch}
    run = plain.run(case.system, size.steps, seed, "microworld", **given, **case.options, **case.ways[way])
    found = plain.finding(run.model.tokenizer, HELD)
    return np.array([found(run.model), *plain.measured(run, found, set(size.due.tolist()))])


CAUTION = {
    "next-sentence": "Both ways take the same steps and batches. Pairs are told from other stories' halves, as BERT did it; here a half of "
    "another story\nis about other people, so the question is easier than telling what follows from what does not. It does not say\nwhat "
    "the next sentence is worth for tasks about pairs of sentences.",
    "masks": "The stories are few on purpose: with many, no story comes often enough for its mask to matter. BERT's own masks were "
    "neither:\nten different ones for each text, each seen about four times.",
}


def how(name: str, size: plain.Steps) -> str:
    """How the runs of a case were made, and what may not be concluded."""
    return (
        f"{size.steps:,} steps of {size.batch} stories, float32, tables of positions begin as sines; measured on {HELD} stories of the "
        f"validation split.\n\nCaution: {CAUTION[name]}"
    )


if __name__ == "__main__":
    for asked in sys.argv[1:] or CASES:
        measured = worth(asked)
        library.write_result(asked, measured, plain.card(measured, how(asked, FULL), f"worth {asked}"))
