"""Recorded results: what a study measured once, read as the record that a lesson shows."""

from __future__ import annotations

from typing import TypeVar

from explorer.errors import unknown
from explorer.errors.kinds import checked
from explorer.models.folders import data_folder
from explorer.records import Record, SupportTable

Kind = TypeVar("Kind", bound=Record)


def results() -> tuple[str, ...]:
    """The names of all recorded measurements.

    >>> "scale" in results()
    True
    """
    folder = data_folder() / "results"
    return tuple(sorted(place.name for place in folder.iterdir() if any(place.glob("*.npz")))) if folder.is_dir() else ()


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


def support_table() -> SupportTable:
    """Which architectures of Hugging Face's can be shown, as it was last measured.

    >>> {"encoder", "decoder"} <= {row.family for row in support_table().rows}
    True
    """
    return SupportTable.read(data_folder() / "support" / "record.npz")


def write_result(name: str, measured: Record, card: str) -> None:
    """Keep a measurement, with its card."""
    folder = data_folder() / "results" / name
    folder.mkdir(parents=True, exist_ok=True)
    measured.write(folder / "record.npz")
    (folder / "CARD.md").write_text(card, "utf-8")
