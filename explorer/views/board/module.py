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
    "colour",
    "columns",
    "layout",
    "ledger",
    "heads",
    "hands",
    "growing",
    "fading",
    "draw",
    "parts",
    "keys",
    "board",
    "homes",
)  # each uses those before it
IMPORT = re.compile(r'^import \{[^}]*\} from "\./[\w.]+";\n', re.MULTILINE)
EXPORTED = re.compile(r"^export (?!default)", re.MULTILINE)
COMMENT = re.compile(
    r" ?/\*\*.*?\*/|^//.*?$|^ +", re.MULTILINE | re.DOTALL
)  # types and indentation: they are for those who read the files

SPACED = re.compile(r" ?([=*<>?:,;{}()|&!\[\]]+) ?")  # never around + and −: "a - -b" needs its space
TEXTS = re.compile(r'("(?:[^"\\]|\\.)*"|`[^`]*`)')
LAST = re.compile(r" // [^\"`]*$")


@lru_cache(maxsize=1)
def module() -> str:
    """One ES module, whose default export serves Streamlit and anywidget; a stand-alone page calls `mount`."""
    parts = [(FOLDER / f"{name}.js").read_text("utf-8") for name in FILES]
    joined = "\n".join(EXPORTED.sub("", IMPORT.sub("", part)) for part in parts)
    drawn = joined.replace("/*PALETTES*/ { light: {}, dark: {} }", json.dumps(palettes()))
    lines = (_tight(LAST.sub("", line)) for line in COMMENT.sub("", drawn).splitlines())
    return "\n".join(line for line in lines if line) + "\nexport { mount };\n"


def _tight(line: str) -> str:
    """A line without the spaces that only people need; texts stay as they are, and so does a line with a text inside a text."""
    parts = TEXTS.split(line)
    nested = "'" in line or any(part.count("${") != part.count("}") for part in parts if part.startswith("`"))
    return line if nested else "".join(part if part[:1] in ('"', "`") else SPACED.sub(r"\1", part) for part in parts)


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
