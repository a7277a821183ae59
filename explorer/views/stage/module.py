"""The JavaScript of figures that move, joined to one module, and its style."""

from __future__ import annotations

from functools import lru_cache

from explorer.views.board.module import FOLDER as BOARD_FOLDER
from explorer.views.board.module import STAGE_FOLDER, joined_files, stage, style

FIGURES = ("curve", "strips", "grid", "shuffle", "clocks", "moments", "masks", "staged")  # each uses those before it


@lru_cache(maxsize=1)
def stage_module() -> str:
    """One ES module, whose default export serves Streamlit."""
    joined = f"{joined_files(BOARD_FOLDER, ('mode',))}\n{stage()}\n{joined_files(STAGE_FOLDER, FIGURES)}"
    return f"{joined}\nexport {{ staged as default }};\n"


@lru_cache(maxsize=1)
def stage_style() -> str:
    """The style of a figure that moves: that of the board, and its own."""
    return style() + (STAGE_FOLDER / "stage.css").read_text("utf-8")
