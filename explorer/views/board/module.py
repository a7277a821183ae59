"""The board's JavaScript, joined to one module without dependencies, and its style."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

from explorer.views import theme

FOLDER = Path(__file__).parent / "js"
PALETTE = FOLDER / "palette.css"  # the colours of the board, and of the opening
LIVE_FOLDER = Path(__file__).parent.parent / "live" / "js"
STAGE_FOLDER = Path(__file__).parent.parent / "stage" / "js"
STAGE = ("moving", "player", "tip")  # what every figure that moves is made of
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
    "reads",
    "vectors",
    "parts",
    "room",
    "board",
)  # fmt: skip  each uses those before it
ENGINE = (
    "faults",
    "maths",
    "positions",
    "edits",
    "weights",
    "tokenizer",
    "transformer",
    "elmo",
    "draws",
    "decoding",
    "boarded",
    "gaps",
    "live",
)  # fmt: skip  what computes, in a worker
HOMES = (
    "session",
    "engine",
    "candidates",
    "fan",
    "branches",
    "decoder",
    "directions",
    "home",
    "homes",
)  # what asks it, and shows the answers
PLACE = "/*ENGINE*/ () => ({ answering, LiveModel, warmUp })"  # of the engine, in engine.js
IMPORT = re.compile(r'^import \{[^}]*\} from "\.[\w./]+";\n', re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/[ \t]*\n?|//[^\n]*\n)", re.MULTILINE | re.DOTALL)  # at the beginning of a line
EXPORTED = re.compile(r"^export ", re.MULTILINE)


@lru_cache(maxsize=2)
def module(*, live: bool = False) -> str:
    """One ES module: `mount` shows a recorded board. With the engine, `mountLive` shows a model, and the default export serves hosts.

    The hosts are Streamlit and anywidget.
    """
    joined = board_files()
    if not live:
        return f"{joined}\nexport {{ mount }};\n"
    engine = f"() => {{\n{joined_files(LIVE_FOLDER, ENGINE)}\nreturn {{ answering, LiveModel, warmUp }};\n}}"
    homes = f"{stage()}\n{joined_files(LIVE_FOLDER, HOMES)}".replace(
        PLACE, engine
    )  # in functions, where their names are their own
    names = "mountLive, LiveModel, engineAt, home"
    parts = f"const {{ {names} }} = (() => {{\n{homes}\nconst {{ LiveModel }} = computing();\nreturn {{ {names} }};\n}})();"
    return f"{joined}\n{parts}\nexport {{ mount, mountLive, LiveModel, engineAt, home as default }};\n"


def board_files() -> str:
    """What draws a board, in one text."""
    joined = joined_files(FOLDER, FILES)
    return joined.replace("/*PALETTES*/ { light: {}, dark: {} }", json.dumps(palettes(), separators=(",", ":")))


def stage() -> str:
    """The player and the objects that move, in one text."""
    return f"{joined_files(LIVE_FOLDER, ('element',))}\n{joined_files(STAGE_FOLDER, STAGE)}"


def joined_files(folder: Path, names: tuple[str, ...]) -> str:
    """Some files as one, without their imports, exports and comments."""
    texts = ((folder / f"{name}.js").read_text("utf-8") for name in names)
    return "\n".join(EXPORTED.sub("", COMMENT.sub("", IMPORT.sub("", text))) for text in texts)


@lru_cache(maxsize=2)
def style(*, live: bool = False) -> str:
    """The style of the board; with `live` that of a live decoder as well."""
    files = [PALETTE, FOLDER / "board.css", *([STAGE_FOLDER / "stage.css", LIVE_FOLDER / "decoder.css"] if live else [])]
    return "".join(file.read_text("utf-8") for file in files)


def palettes() -> dict[str, dict[str, object]]:
    """The colours of all pictures, for the module."""
    return {
        mode: {"paper": theme.PAPER[mode], "ink": theme.INK[mode], "none": theme.NOWHERE[mode], "signed": theme.DIVERGING[mode],
               "shares": theme.SEQUENTIAL[mode]}
        for mode in theme.MODES
    }  # fmt: skip
