"""The board's JavaScript, joined to one module without dependencies, and its style."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

from explorer.views import theme

FOLDER = Path(__file__).parent / "js"
FILES = (
    "data",
    "derive",
    "words",
    "mode",
    "colour",
    "columns",
    "layout",
    "ledger",
    "heads",
    "hands",
    "growing",
    "share",
    "fading",
    "stacked",
    "draw",
    "keys",
    "parts",
    "room",
    "board",
    "homes",
)  # fmt: skip  each uses those before it
IMPORT = re.compile(r'^import \{[^}]*\} from "\./[\w.]+";\n', re.MULTILINE)
EXPORTED = re.compile(r"^export (?!default)", re.MULTILINE)


@lru_cache(maxsize=1)
def module() -> str:
    """One ES module, whose default export serves Streamlit and anywidget; a stand-alone page calls `mount`."""
    parts = [(FOLDER / f"{name}.js").read_text("utf-8") for name in FILES]
    joined = "\n".join(EXPORTED.sub("", IMPORT.sub("", part)) for part in parts)
    coloured = joined.replace("/*PALETTES*/ { light: {}, dark: {} }", json.dumps(palettes(), separators=(",", ":")))
    return f"{coloured}\nexport {{ mount }};\n"


@lru_cache(maxsize=1)
def style() -> str:
    """The style of the board."""
    return (FOLDER / "board.css").read_text("utf-8")


def palettes() -> dict[str, dict[str, object]]:
    """The colours of all pictures, for the module."""
    return {
        mode: {"paper": theme.PAPER[mode], "ink": theme.INK[mode], "none": theme.NOWHERE[mode], "signed": theme.DIVERGING[mode],
               "shares": theme.SEQUENTIAL[mode]}
        for mode in theme.MODES
    }  # fmt: skip
