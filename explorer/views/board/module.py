"""The board's JavaScript, joined to one module without dependencies, and its style."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

from explorer.views import theme

FOLDER = Path(__file__).parent / "js"
LIVE_FOLDER = Path(__file__).parent.parent / "live" / "js"
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
LIVE_FILES = (
    "maths",
    "positions",
    "edits",
    "weights",
    "tokenizer",
    "transformer",
    "elmo",
    "decoding",
    "boarded",
    "live",
    "home",
)  # fmt: skip  a model that runs in the page, after the files of the board
IMPORT = re.compile(r'^import \{[^}]*\} from "\./[\w.]+";\n', re.MULTILINE)
EXPORTED = re.compile(r"^export (?!default)", re.MULTILINE)


@lru_cache(maxsize=2)
def module(*, live: bool = False) -> str:
    """One ES module, whose default export serves Streamlit and anywidget; a stand-alone page calls `mount`, or `mountLive` with a model."""
    parts = [_plain(FOLDER / f"{name}.js") for name in FILES]
    if live:  # in a function, where its names are its own
        engine = "\n".join(_plain(LIVE_FOLDER / f"{name}.js") for name in LIVE_FILES)
        parts.append(f"const {{ mountLive, LiveModel }} = (() => {{\n{engine}\nreturn {{ mountLive, LiveModel }};\n}})();")
    joined = "\n".join(parts)
    coloured = joined.replace("/*PALETTES*/ { light: {}, dark: {} }", json.dumps(palettes(), separators=(",", ":")))
    return f"{coloured}\nexport {{ mount{', mountLive, LiveModel' if live else ''} }};\n"


def _plain(file: Path) -> str:
    """A file without its imports and exports."""
    return EXPORTED.sub("", IMPORT.sub("", file.read_text("utf-8")))


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
