"""Story types, read from the files in `scripts/`: who takes part, what happens, and the ways to say it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from explorer.errors import TextError
from explorer.microworld.markup import Line

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
    branches: tuple[str, ...] = ("",)
    tense: str = "both"
    weight: int = 1  # how many times as often as others it is told
    steps: list[ScriptStep] = field(default_factory=list)


@lru_cache(maxsize=1)
def scripts() -> tuple[Script, ...]:
    """All story types, in the order of their files and names."""
    pools = {name: body for name, _, body in _blocks(FOLDER / "pools.txt")}
    files = sorted(path for path in FOLDER.glob("*.txt") if path.stem != "pools")
    return tuple(_script(name, path.stem, body, pools) for path in files for name, _, body in _blocks(path))


def _blocks(path: Path) -> list[tuple[str, str, str]]:
    text = "\n".join(line for line in path.read_text("utf-8").splitlines() if not line.startswith("#"))
    found = re.split(r"^== (\S+)\n", text, flags=re.M)
    return [(name, path.stem, body.strip("\n")) for name, body in zip(found[1::2], found[2::2], strict=True)]


def _script(name: str, topic: str, body: str, pools: dict[str, str]) -> Script:
    head, _, rest = body.partition("\n\n")
    script = Script(name, topic)
    for line in head.splitlines():
        what, _, value = line.partition(": ")
        if what == "cast":
            script.cast = [tuple(part.strip().split(" ", 1)) for part in value.split(",")]  # type: ignore[misc]
        elif what == "fact":
            script.fact = tuple(value.split())
        elif what == "split":
            script.branches = tuple(value.split())
        elif what == "weight":
            script.weight = int(value)
        elif what == "tense":
            script.tense = value
        else:
            raise TextError(f"Story type {name!r} has a head line {line!r}. Begin it with cast, fact, split, tense or weight.")
    script.steps = [_step(block, script, pools) for block in rest.split("\n\n")]
    return script


def _step(block: str, script: Script, pools: dict[str, str]) -> ScriptStep:
    rows, share = block.splitlines(), 1.0
    if rows[0].startswith("? "):
        share = int(rows.pop(0)[2:]) / 100
    found: dict[str, list[Line]] = {branch: [] for branch in script.branches}
    for row in rows:
        branch, text = next(((b, row[len(b) + 2 :]) for b in script.branches if b and row.startswith(b + ": ")), ("", row))
        for one in _unfold(text, pools):
            line = Line(one)
            for name in (branch,) if branch else script.branches:
                found[name].append(line)
    return ScriptStep(found, share)


def _unfold(text: str, pools: dict[str, str]) -> list[str]:
    """A line, or all lines of the pool that it names, with the pool's X, Y, Z replaced."""
    if not text.startswith("@"):
        return [text]
    name, *keys = text[1:].split()
    if name not in pools:
        raise TextError(f"A story uses the pool {name!r}, which pools.txt does not have.")
    found = []
    for row in pools[name].splitlines():
        for old, new in zip("XYZ", keys, strict=False):
            row = re.sub(rf"(?<=[{{@+ :]){old}(?=[.}}>+]|$)", new, row)
        found += _unfold(row, pools) if row.strip() else []
    return found
