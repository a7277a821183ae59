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
    "fading",
    "stacked",
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
BETWEEN = re.compile(r"(?<=[\w)\]]) ([-+/]) (?=[\w(\[])")  # a sign between two numbers
GOES_ON = re.compile(r"([;,{(\[])\n")  # where a line break says nothing
TEXTS = re.compile(r'("(?:[^"\\]|\\.)*"|`[^`]*`)')
NUMBERS = "$M"  # what no file may call anything of its own
SHORTER = {
    r"\bconst (?=[\w{[$])": "let ",
    r"\bMath\.": f"{NUMBERS}.",
    r"(?<!\w)\((\w+)\)=>": r"\1=>",
}  # the same, in fewer letters
KEPT = ("mount",)
LAST = re.compile(r" // [^\"`]*$")


@lru_cache(maxsize=1)
def module() -> str:
    """One ES module, whose default export serves Streamlit and anywidget; a stand-alone page calls `mount`."""
    parts = [(FOLDER / f"{name}.js").read_text("utf-8") for name in FILES]
    joined = "\n".join(EXPORTED.sub("", IMPORT.sub("", part)) for part in parts)
    drawn = joined.replace("/*PALETTES*/ { light: {}, dark: {} }", json.dumps(palettes()))
    lines = (_tight(LAST.sub("", line)) for line in COMMENT.sub("", drawn).splitlines())
    text = "\n".join(line for line in lines if line) + "\nexport { mount };\n"
    text = GOES_ON.sub(r"\1", text).replace(";}", "}")  # nor does the last semicolon of a block
    for long, brief in SHORTER.items():
        text = re.sub(long, brief, text)
    return f"let {NUMBERS}=Math;\n{_renamed(text)}"


def _renamed(text: str) -> str:
    """Functions that are only ever called by their name have a short one; a name that is anything else anywhere stays."""
    names = dict.fromkeys(re.findall(r"\bfunction (\w{4,})\(", text))
    for number, name in enumerate(names):
        called = re.compile(rf"(?<![\w.$\"'`-]){name}(?=\()")
        if len(called.findall(text)) == len(re.findall(rf"\b{name}\b", text)) and name not in KEPT:
            text = called.sub(f"${number:x}", text)
    return text


def _tight(line: str) -> str:
    """A line without the spaces that only people need; texts stay as they are, and so does a line with a text inside a text."""
    parts = TEXTS.split(line)
    nested = "'" in line or any(part.count("${") != part.count("}") for part in parts if part.startswith("`"))
    return (
        line
        if nested
        else "".join(part if part[:1] in ('"', "`") else BETWEEN.sub(r"\1", SPACED.sub(r"\1", part)) for part in parts)
    )


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
