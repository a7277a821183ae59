"""Recorded results: what a study measured once, read as the record that a lesson shows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from safetensors import safe_open

from explorer.errors import unknown
from explorer.errors.kinds import checked
from explorer.models import run_folder
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.folders import data_folder
from explorer.records import Record, SupportTable

Kind = TypeVar("Kind", bound=Record)
MODELS = "models.json"


def results() -> tuple[str, ...]:
    """The names of all recorded measurements.

    >>> "scale" in results()
    True
    """
    folder = data_folder() / "results"
    return tuple(sorted(place.name for place in folder.iterdir() if any(place.glob("*.npz")))) if folder.is_dir() else ()


def _files_of(name: str, part: str = "record") -> tuple[Path, ...]:
    return (data_folder() / "results" / name,)


@cache_policy(CachePolicy(files=_files_of))
@checked
def result(name: str, part: str = "record") -> Record:
    """A recorded measurement that a lesson shows, or a part of one, as the record that it is; its card says how to make it again.

    >>> type(result("scale")).__name__
    'Curves'
    """
    if name not in results():
        raise unknown("result", name, results())
    return recorded(name, Record, part)


def recorded(name: str, kind: type[Kind], part: str = "record") -> Kind:
    """A recorded measurement of any kind, or a part of one."""
    return kind.read(data_folder() / "results" / name / f"{part}.npz")


def result_card(name: str) -> str:
    """The card of a recorded measurement: how it was done, what may be concluded, and how to do it again."""
    return (data_folder() / "results" / name / "CARD.md").read_text("utf-8")


def support_table() -> SupportTable:
    """Which architectures of Hugging Face's can be shown, as it was last measured.

    >>> {"encoder", "decoder"} <= {row.family for row in support_table().rows}
    True
    """
    return SupportTable.read(data_folder() / "support" / "record.npz")


def write_result(name: str, measured: Record, card: str, models: Sequence[str] = ()) -> None:
    """Keep a measurement, with its card, and with the checksums of the shipped models that it was taken of."""
    folder = data_folder() / "results" / name
    folder.mkdir(parents=True, exist_ok=True)
    measured.write(folder / "record.npz")
    (folder / "CARD.md").write_text(card, "utf-8")
    if models:
        sums = measured_models(name) | {model: weights_sum(model) for model in models}
        (folder / MODELS).write_text(json.dumps(sums, indent=1, sort_keys=True) + "\n", "utf-8")


def measured_models(name: str) -> dict[str, str]:
    """The shipped models that a result was measured of, with the checksums of their weights then."""
    path = data_folder() / "results" / name / MODELS
    return {str(model): str(value) for model, value in json.loads(path.read_text("utf-8")).items()} if path.is_file() else {}


def weights_sum(model: str) -> str:
    """The checksum that a shipped model's file of weights says of itself."""
    with safe_open(data_folder() / "models" / model / run_folder.WEIGHTS, "numpy") as file:
        return str(file.metadata()[run_folder.SUM])


def out_of_date(name: str) -> tuple[str, ...]:
    """The shipped models that have changed since a result was measured of them."""
    return tuple(model for model, then in measured_models(name).items() if weights_sum(model) != then)
