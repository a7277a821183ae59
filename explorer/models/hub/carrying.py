"""Fetched models carried from one folder to another, for a room without a network: copied, and each file held against its checksum."""

from __future__ import annotations

import shutil
from pathlib import Path

from explorer.errors import FileError, unknown
from explorer.models import fetched
from explorer.models.hub import opening, settings
from explorer.models.hub.fetching import checksum_of, explained, installing, write_origin


def copy_model(given: str, source: Path, shelf: Path | None = None) -> Path:
    """The folder of a model on the shelf; it is copied from the folder `source`, which holds several, where it is not there yet."""
    name, there = fetched.name_on_shelf(given), fetched.carried_models(source)
    if name not in there:
        raise unknown(f"model in {source} called", name, there)
    folder = fetched.folder_for(name, shelf)
    with installing(folder) as stage:
        if stage is not None:
            with explained(name, folder):
                _copy(there[name], stage)
    return folder


def _copy(source: Path, stage: Path) -> None:
    """Every file that belongs to the model, each with the checksum that was written down when it was fetched."""
    origin = fetched.origin_of(source)
    sums = {str(name): total for name, total in origin.get("files", {}).items()}
    if not sums or not all(name in settings.FILES or settings.is_bare(name) for name in sums):
        raise FileError(
            f"{source / fetched.ORIGIN} is damaged: it does not say which files belong to the model. Copy it again."
        )
    for name, total in sums.items():
        if not (source / name).is_file():
            raise FileError(f"There is no {name} in {source}. Copy the whole folder again.")
        settings.check_place(source / name)
        shutil.copyfile(source / name, stage / name)
        if checksum_of(stage / name) != total:
            (stage / name).unlink()
            raise FileError(
                f"{source / name} is damaged: its checksum differs from the one it had when it was fetched. Copy it again."
            )
    size = sum((stage / name).stat().st_size for name in sums if settings.is_bare(name))
    opening.checked_configuration(stage, source.name.replace(fetched.SLASH, "/"), size)
    opening.check_folder(stage)
    write_origin(stage, str(origin.get("id")), str(origin.get("revision")), list(sums))
