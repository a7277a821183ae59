"""The steps of a run as lines of a file, and back."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from explorer import runs
from explorer.errors import FileError
from explorer.records import TrainingStep


def line_of(made: TrainingStep) -> str:
    """A step as it is written down."""
    held = {"step": made.step, "losses": dict(made.losses), "rate": made.rate, "speed": made.speed}
    held |= {"metrics": dict(made.metrics), "samples": list(made.samples), "snapshot": made.snapshot}
    held["probes"] = {name: np.asarray(probe).round(4).tolist() for name, probe in made.probes.items()}
    short = {name: value for name, value in held.items() if name not in ("metrics", "samples", "probes", "snapshot") or value}
    return json.dumps(short, ensure_ascii=False) + "\n"


def steps_of(folder: str | Path) -> list[TrainingStep]:
    """The steps that a run wrote down."""
    made = []
    for line in runs.lines(Path(folder)):
        probes = {name: np.array(probe) for name, probe in line.get("probes", {}).items()}
        try:
            made.append(TrainingStep(**{**line, "samples": tuple(line.get("samples", ())), "probes": probes}))
        except TypeError as error:
            raise FileError(f"{Path(folder) / runs.STEPS} was not written by a run of this package ({error}).") from error
    return made
