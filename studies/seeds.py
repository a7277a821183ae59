"""What chance alone changes: two runs of one system that differ in nothing but the seed. Their logs are kept, without weights.

`python -m studies.seeds` trains them again (about two minutes on two cores) and writes `data/runs`.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from explorer.models import run_folder
from explorer.models.folders import data_folder
from explorer.training.fit import fit
from studies.study import each

SYSTEM, STEPS, SEEDS = "bert", 600, (0, 1)
LINES = 100  # steps of a log that are kept, with what was measured but for what no comparison draws
LEFT_OUT = ("samples", "probes")


def keep_log(seed: int, folder: Path, **changes: Any) -> None:
    """Train by the preset, and keep what was planned and the steps, in few lines with few digits."""
    with TemporaryDirectory() as home:
        for _ in fit(SYSTEM, seed=seed, folder=home, snapshots=0, device="cpu", **{"steps": STEPS} | changes):
            pass
        steps = [{name: step[name] for name in step if name not in LEFT_OUT} for step in run_folder.lines(Path(home))]
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(home) / run_folder.RUN, folder)
        (folder / run_folder.STEPS).write_bytes(
            run_folder.step_lines(run_folder.with_few_digits(run_folder.thinned(steps, LINES)))
        )


if __name__ == "__main__":
    each(keep_log, [(seed, data_folder() / "runs" / f"{SYSTEM}-seed-{seed}") for seed in SEEDS], len(SEEDS))
