"""Several trainings side by side: their steps, and the settings in which they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models import run_folder
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.folders import data_folder
from explorer.nn.config import FAMILIES, Config
from explorer.records import RunsBeside
from explorer.training.plan import FORMER, Plan
from explorer.training.steps import steps_of

DEFAULTS, SHAPES = (
    {field.name: field.default for field in fields(kind) if isinstance(field.default, (str, int, float, type(None)))}
    for kind in (Plan, Config)
)
MISSING = "–"


def _files_of(runs: Mapping[str, str | Path]) -> tuple[Path, ...]:
    return tuple(Path(folder) / run_folder.STEPS for folder in runs.values())


@cache_policy(CachePolicy(files=_files_of))
@checked
def compare_runs(runs: Mapping[str, str | Path]) -> RunsBeside:
    """The steps of several runs, each given as its name and its folder, and every setting in which they differ.

    >>> shelf = ex.models()
    >>> made = ex.training.compare_runs({name: shelf[name].folder for name in ("bert", "roberta")})
    >>> "objective" in made.settings
    True
    """
    if len(runs) < 2:
        raise ChoiceError(f"There must be two runs or more to compare; there {'is one' if runs else 'are none'}.")
    steps = tuple(tuple(steps_of(folder)) for folder in runs.values())
    for name, run_steps in zip(runs, steps, strict=True):
        if not run_steps:
            raise ChoiceError(f"The run {name!r} has written down no step yet. Let it train first.")
    settings = [_settings(Path(folder)) for folder in runs.values()]
    every = dict.fromkeys(name for run_steps in settings for name in run_steps)
    rows = {name: tuple(run_steps.get(name, MISSING) for run_steps in settings) for name in every}
    differing = {name: row for name, row in rows.items() if len(set(row)) > 1}
    return RunsBeside(tuple(map(str, runs)), steps, tuple(differing), tuple(differing.values()))


def recorded_runs() -> dict[str, Path]:
    """Runs that travel with the package as their log alone, without weights, by name: two seeds of one training.

    >>> ex.training.compare_runs(ex.training.recorded_runs()).settings
    ('seed',)
    """
    folders = sorted(path.parent for path in (data_folder() / "runs").glob(f"*/{run_folder.RUN}"))
    described = map(run_folder.described, folders)
    names = (f"{run['preset']['name']}, seed {run['plan']['seed']}" for run in described)
    return dict(zip(names, folders, strict=True))


def _settings(folder: Path) -> dict[str, str]:
    """Everything that a run wrote down of itself, flat and as texts. What an older run did not know yet has its default."""
    described = run_folder.described(folder)
    plan: dict[str, Any] = dict(described["plan"])
    if "batch" in plan:  # a run that counts n-grams has other settings
        plan = {**FORMER, **DEFAULTS, **plan}
    shape = described["architecture"]
    shape = {**SHAPES, **shape} if shape.get("family") in FAMILIES else shape
    parts = {"model": dict(described["preset"]).get("name"), **plan, "architecture": shape}
    parts["tokenizer"] = dict(described.get("tokenizer") or {}).get("sha256", MISSING)[:8]
    return dict(_flat("", parts))


def _flat(before: str, value: Any) -> list[tuple[str, str]]:
    """A tree of settings as names with dots."""
    if isinstance(value, Mapping):
        return [pair for name, item in value.items() for pair in _flat(f"{before}.{name}" if before else str(name), item)]
    return [(before, MISSING if value is None else str(value))]
