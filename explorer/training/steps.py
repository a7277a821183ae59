"""The steps of a run as lines of a file and back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from explorer.errors import FileError
from explorer.errors.kinds import checked
from explorer.models import run_folder
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.shelf import snapshots_of as snapshots  # noqa: F401  for ex.training.snapshots
from explorer.records import Steps, TrainingStep


def line_of(step: TrainingStep) -> str:
    """A step as it is written down."""
    always = {"step": step.step, "losses": dict(step.losses), "rate": step.rate, "speed": step.speed}
    measured = {"metrics": dict(step.metrics), "samples": list(step.samples), "snapshot": step.snapshot}
    measured["probes"] = {name: np.asarray(probe, np.float64).round(4).tolist() for name, probe in step.probes.items()}
    measured["counts"] = dict(step.counts)
    line = always | {name: value for name, value in measured.items() if value}
    return json.dumps(line, ensure_ascii=False, separators=(",", ": ")) + "\n"


def _files_of(folder: str | Path) -> tuple[Path, ...]:
    """The list of steps: a run adds to it."""
    return (Path(folder) / run_folder.STEPS,)


@cache_policy(CachePolicy(files=_files_of))
@checked
def steps_of(folder: str | Path) -> Steps:
    """The steps that a run wrote down.

    >>> steps = ex.training.steps_of(ex.models()["bert"].folder)
    >>> steps[-1].step >= steps[0].step
    True
    """
    if not Path(folder).is_dir():
        raise FileError(f"There is no folder {str(folder)!r}. Give the folder of a run, as in ex.fit(…, folder=…).")
    steps = []
    for line in run_folder.lines(Path(folder)):
        probes = {name: np.array(probe) for name, probe in line.get("probes", {}).items()}
        try:
            steps.append(TrainingStep(**{**line, "samples": tuple(line.get("samples", ())), "probes": probes}))
        except TypeError as error:
            raise FileError(f"{Path(folder) / run_folder.STEPS} was not written by a run of this package ({error}).") from error
    return Steps(steps)
