"""Where a result is to be written: looked at before the work, so that nobody waits for what cannot be kept."""

from __future__ import annotations

import os
from pathlib import Path

from explorer.errors import FileError
from explorer.errors.kinds import check_path


def check_folder(folder: str | Path) -> Path:
    """A folder that can be written to, or made; otherwise the error that says why not.

    >>> check_folder("runs/mine").name
    'mine'
    """
    check_path("folder", str(folder))
    place = Path(folder)
    try:
        nearest = next(part for part in (place.absolute(), *place.absolute().parents) if part.exists())
        usable = nearest.is_dir() and os.access(nearest, os.W_OK)
    except OSError:  # a name that no file system takes
        raise FileError(f"{place} is not a folder that can be created. Choose another.") from None
    if not usable:
        why = "it may not be changed" if nearest.is_dir() else "it is a file"
        raise FileError(f"Could not write into {place}: {nearest} is in the way, {why}. Choose another folder.")
    return place


def file_to_write(path: str | Path, name: str) -> Path:
    """The path of a file that can be written: in a folder that is there already, one with this name. Its own folder is made.

    >>> import tempfile
    >>> file_to_write(tempfile.mkdtemp(), "tokenizer.json").name
    'tokenizer.json'
    """
    place = Path(path) / name if Path(path).is_dir() else Path(path)
    if place.is_dir() or (place.exists() and not os.access(place, os.W_OK)):
        raise FileError(f"{place} cannot be written. Choose another name.")
    try:
        check_folder(place.parent).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"Could not make the folder {place.parent} ({error.strerror}). Choose another.") from error
    return place
