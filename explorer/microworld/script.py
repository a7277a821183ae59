"""Story types, read from the files in `scripts/`: who takes part, what happens, and the ways to say it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from explorer.errors import TextError
from explorer.microworld.markup import Line
from explorer.microworld.versions import VERSION, world

FOLDER = Path(__file__).parent / "scripts"


@dataclass
class ScriptStep:
    """One thing that happens, with the lines for it in each branch; it is part of a story with some probability."""

    lines: dict[str, list[Line]]
    share: float = 1.0


@dataclass
class Script:
    """One story type."""

    name: str
    topic: str
    cast: list[tuple[str, str]] = field(default_factory=list)
    fact: tuple[str, ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()  # other combinations of words that training meets only where they are its own
    branches: tuple[str, ...] = ("",)
    tense: str = "both"
    weight: int = 1  # how many times as often as others it is told
    steps: list[ScriptStep] = field(default_factory=list)


def scripts(version: str = VERSION) -> tuple[Script, ...]:
    """All story types of a version, in the order of their files and names."""
    return _scripts(version)


@cache
def _scripts(version: str) -> tuple[Script, ...]:
    files = list(world(version).files(FOLDER))
    pools = {name: body for path in files if path.stem == "pools" for name, _, body in _blocks(path)}
    scripts = {
        name: _script(name, path.stem, body, pools) for path in files if path.stem != "pools" for name, _, body in _blocks(path)
    }
    return tuple(scripts.values())


def _blocks(path: Path) -> list[tuple[str, str, str]]:
    text = "\n".join(line for line in path.read_text("utf-8").splitlines() if not line.startswith("#"))
    blocks = re.split(r"^== (\S+)\n", text, flags=re.M)
    return [(name, path.stem, body.strip("\n")) for name, body in zip(blocks[1::2], blocks[2::2], strict=True)]


def _script(name: str, topic: str, body: str, pools: dict[str, str]) -> Script:
    head, _, rest = body.partition("\n\n")
    script = Script(name, topic)
    for line in head.splitlines():
        what, _, value = line.partition(": ")
        if what == "cast":
            script.cast = [tuple(part.strip().split(" ", 1)) for part in value.split(",")]  # type: ignore[misc]
        elif what == "fact":
            script.fact = tuple(value.split())
        elif what == "apart":
            script.apart = tuple(tuple(part.split()) for part in value.split(","))
        elif what == "split":
            script.branches = tuple(value.split())
        elif what == "weight":
            script.weight = int(value)
        elif what == "tense":
            script.tense = value
        else:
            raise TextError(
                f"Story type {name!r} has a head line {line!r}. Begin it with cast, fact, apart, split, tense or weight."
            )
    script.steps = [_step(block, script, pools) for block in rest.split("\n\n")]
    return script


def _step(block: str, script: Script, pools: dict[str, str]) -> ScriptStep:
    rows, share = block.splitlines(), 1.0
    if rows[0].startswith("? "):
        share = int(rows.pop(0)[2:]) / 100
    lines: dict[str, list[Line]] = {branch: [] for branch in script.branches}
    for row in rows:
        branch, text = next(((b, row[len(b) + 2 :]) for b in script.branches if b and row.startswith(b + ": ")), ("", row))
        for variant in _unfold(text, pools):
            line = Line(variant)
            for name in (branch,) if branch else script.branches:
                lines[name].append(line)
    return ScriptStep(lines, share)


def _unfold(text: str, pools: dict[str, str]) -> list[str]:
    """A line, or all lines of the pool that it names, with the pool's X, Y, Z, R and its %A, %B … replaced."""
    if not text.startswith("@"):
        return [text]
    name, *keys = text[1:].split()
    if name not in pools:
        raise TextError(f"A story uses the pool {name!r}, which pools.txt does not have.")
    variants = []
    spelled = [key for key in keys if "=" in key]
    for row in pools[name].splitlines():
        for what, _, words in (key.partition("=") for key in spelled):
            row = row.replace(f"%{what}", f"[{words.replace('_', ' ')}]")
        for old, new in zip("XYZR", keys, strict=False):
            row = re.sub(rf"(?<=[{{@+ :]){old}(?=[.}}>+]|$)", new, row)
        variants += _unfold(row, pools) if row.strip() else []
    return variants
