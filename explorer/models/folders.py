"""Where things lie: the data that came with the package, and what a user trained."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

STAGE = ".writing-"  # so begins the folder in which files are written before they take their places


def data_folder() -> Path:
    """Where the shipped data lie: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    return package / "share" / "data" if (package / "share").is_dir() else package.parent / "data"


def own_folder() -> Path:
    """Where a user's own models lie: the folder that EXPLORER_HOME names, or .explorer in the home folder."""
    return Path(os.environ.get("EXPLORER_HOME") or Path.home() / ".explorer") / "models"


@contextmanager
def staged(folder: Path, last: str) -> Iterator[Path]:
    """A folder to write into, whose files take their places in `folder` when all are whole, the one called `last` at the end.

    Who is stopped before that leaves what was there as it was.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{STAGE}*"):
        if not _runs(left.name.removeprefix(STAGE).partition("-")[0]):
            shutil.rmtree(left, ignore_errors=True)
    stage = Path(tempfile.mkdtemp(prefix=f"{STAGE}{os.getpid()}-", dir=folder))
    try:
        yield stage
        for path in sorted(stage.iterdir(), key=lambda path: (path.name == last, path.name)):
            os.replace(path, folder / path.name)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _runs(process: str) -> bool:
    """Whether the process of this number is at work: what one that was killed left behind may go."""
    return process.isdecimal() and psutil.pid_exists(int(process))
