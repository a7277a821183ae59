"""Where things lie: the data that came with the package, and what a user trained."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Where the shipped data lie: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    return package / "share" / "data" if (package / "share").is_dir() else package.parent / "data"


def own_folder() -> Path:
    """Where a user's own models lie: the folder that EXPLORER_HOME names, or .explorer in the home folder."""
    return Path(os.environ.get("EXPLORER_HOME") or Path.home() / ".explorer") / "models"
