"""The opening's JavaScript, joined to one module, and its style."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from explorer.views import theme
from explorer.views.board.module import LIVE_FOLDER, PALETTE, joined_files

FOLDER = Path(__file__).parent / "js"
FILES = ("elements", "gap", "lanes", "film", "inside", "lines", "models", "opening")  # each uses those before it
TONES = 41  # colours of a signed number


@lru_cache(maxsize=1)
def opening_module() -> str:
    """One ES module: `Opening` in an element, and the default export for Streamlit."""
    return f"{joined_files(LIVE_FOLDER, ('element',))}\n{joined_files(FOLDER, FILES)}\nexport {{ Opening, early, opening as default }};\n"


@lru_cache(maxsize=1)
def opening_style() -> str:
    """The style of the opening."""
    return PALETTE.read_text("utf-8") + (FOLDER / "opening.css").read_text("utf-8")


def signed_palettes() -> dict[str, list[str]]:
    """The colours of signed numbers, from the lowest to the highest, light and dark."""
    return {mode: theme.signed_colours([2 * n / (TONES - 1) - 1 for n in range(TONES)], mode) for mode in theme.MODES}
