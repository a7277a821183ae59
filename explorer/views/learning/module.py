"""The JavaScript that trains in a page, joined to one module."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from explorer.views.board.module import ENGINE, LIVE_FOLDER, joined_files

FOLDER = Path(__file__).parent / "js"
BACKWARD = ("products", "tape", "attention", "network", "optimisers")  # what computes, in a worker


@lru_cache(maxsize=1)
def computing() -> str:
    """What computes a training, as the body of a function."""
    return "\n".join((joined_files(LIVE_FOLDER, ENGINE), joined_files(FOLDER, BACKWARD)))
