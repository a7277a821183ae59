"""The rooms of the package as they are: files, lines and who imports whom, read from the imports.

`python -m studies.rooms` prints the table and draws `docs/rooms.svg`; with a folder it prints the table of another checkout.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE, DRAWING = ROOT / "explorer", ROOT / "docs" / "rooms.svg"
FRONT = ("__init__", "__main__", "cli")
COLUMNS = {
    "app": 0.5, "training": -0.6, "analysis": -0.7, "decoding": 0.6, "models": 0.3, "corruption": -0.5, "nn": 0.5,
    "microworld": -1.3, "text": 0.0, "views": 1.5, "records": 0.0, "errors": 0.0,
}  # fmt: skip
WIDTH, HEIGHT, STEP, EDGE = 150, 44, 84, 24  # of a box, from one floor to the next, and around the drawing


@dataclass(frozen=True)
class Room:
    """A folder of the package, or a file that lies beside the folders."""

    name: str
    files: int
    lines: int
    imports: frozenset[str]


def rooms(package: Path = PACKAGE) -> dict[str, Room]:
    """Every room with the rooms that it imports, late imports included."""
    found: dict[str, list[Path]] = {}
    for path in sorted(package.rglob("*.py")):
        found.setdefault(path.relative_to(package).parts[0].removesuffix(".py"), []).append(path)
    sources = {name: [path.read_text("utf-8") for path in paths] for name, paths in found.items()}
    return {
        name: Room(name, len(texts), sum(text.count("\n") for text in texts), _imports(name, texts, found.keys()))
        for name, texts in sources.items()
    }


def _imports(room: str, texts: list[str], known: object) -> frozenset[str]:
    """The other rooms that these files import."""
    assert hasattr(known, "__contains__")
    every = {name for text in texts for name in _named(ast.parse(text))}
    return frozenset(name for name in every if name in known and name != room)


def _named(tree: ast.Module) -> set[str]:
    """The first name after `explorer` in every import; of `from explorer import …` the names themselves."""
    made = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "explorer":
            made |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("explorer."):
            made.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            made |= {name.name.split(".")[1] for name in node.names if name.name.startswith("explorer.")}
    return made


def floors(found: Mapping[str, Room]) -> dict[str, int]:
    """The floor of each room: one above the highest of those that it imports. A circle of rooms is an error."""
    made: dict[str, int] = {}
    while len(made) < len(found):
        ready = [name for name, room in found.items() if name not in made and room.imports <= made.keys()]
        if not ready:
            raise ValueError(f"These rooms import each other in a circle: {sorted(found.keys() - made.keys())}")
        made |= {name: 1 + max((made[there] for there in found[name].imports), default=-1) for name in ready}
    return made


def needed(found: Mapping[str, Room]) -> set[tuple[str, str]]:
    """The arrows that follow from no others: from a room to one that it reaches over no third."""
    beyond: dict[str, set[str]] = {}
    for name in sorted(found, key=floors(found).__getitem__):
        beyond[name] = set(found[name].imports).union(*(beyond[there] for there in found[name].imports))
    return {
        (name, there)
        for name, room in found.items()
        for there in room.imports
        if not any(there in beyond[other] for other in room.imports - {there})
    }


def table(found: Mapping[str, Room]) -> str:
    """The rooms as Markdown, with their sums."""
    level = _levels(found)
    lines = ["| room | files | lines | imports |", "|---|---|---|---|"]
    for name in sorted(found, key=lambda name: (level[name], name)):
        room = found[name]
        lines.append(f"| {name} | {room.files} | {room.lines:,} | {', '.join(sorted(room.imports)) or '–'} |")
    arrows, files = (sum(many) for many in zip(*((len(room.imports), room.files) for room in found.values()), strict=True))
    total = sum(room.lines for room in found.values())
    return "\n".join(
        [*lines, f"| {len(found)} boxes on {1 + max(level.values())} floors | {files} | {total:,} | {arrows} arrows |"]
    )


def _levels(found: Mapping[str, Room]) -> dict[str, int]:
    try:
        return floors(found)
    except ValueError:  # an older checkout has circles: then no floor means anything
        return dict.fromkeys(found, 0)


def drawing(found: Mapping[str, Room]) -> str:
    """The rooms as an SVG: a room that imports is higher; arrows that follow from others are left out."""
    inner = {name: room for name, room in found.items() if name not in FRONT}
    at = _places(inner)
    wide = max(x for x, _ in at.values()) + WIDTH + EDGE
    high = max(y for _, y in at.values()) + HEIGHT + EDGE
    arrows = [_arrow(at[name], at[there]) for name, there in sorted(needed(inner))]
    boxes = [_box(room, *at[name]) for name, room in sorted(inner.items())]
    style = (
        "text{font:15px system-ui,sans-serif;fill:#1a1a1a;text-anchor:middle}.small{font-size:12px;fill:#555}"
        "rect{fill:#eef3fb;stroke:#3b6ea8}path{fill:none;stroke:#777}.bg{fill:#fff;stroke:none}"
        "@media(prefers-color-scheme:dark){text{fill:#eee}.small{fill:#bbb}rect{fill:#22303f;stroke:#7fb2e5}.bg{fill:#111}path{stroke:#999}}"
    )
    head = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" aria-label="The rooms and their imports">',
            f"<style>{style}</style>",
            f'<defs>{head}<path d="M0 0 8 4 0 8z" style="fill:#777"/></marker></defs>',
            f'<rect class="bg" width="{wide}" height="{high}"/>',
            *arrows,
            *boxes,
            "</svg>\n",
        ]
    )


def _places(found: Mapping[str, Room]) -> dict[str, tuple[int, int]]:
    """The upper left corner of every box: its floor from the bottom up, its column so that arrows pass beside other boxes."""
    level = floors(found)
    first, highest = min(COLUMNS.get(name, 0) for name in found), max(level.values())
    return {name: (EDGE + round((COLUMNS.get(name, 0) - first) * 210), EDGE + (highest - level[name]) * STEP) for name in found}


def _box(room: Room, x: int, y: int) -> str:
    middle = x + WIDTH // 2
    said = f"{room.files} files" if room.files > 1 else "1 file"
    return (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="7"/><text x="{middle}" y="{y + 19}">{escape(room.name)}</text>'
        f'<text class="small" x="{middle}" y="{y + 36}">{said}</text>'
    )


def _arrow(begin: tuple[int, int], end: tuple[int, int]) -> str:
    """From the lower edge of one box to the upper edge of another."""
    x, y, to_x, to_y = begin[0] + WIDTH // 2, begin[1] + HEIGHT, end[0] + WIDTH // 2, end[1]
    return f'<path d="M{x} {y} L{to_x} {to_y - 2}" marker-end="url(#head)"/>'


def main() -> None:
    """Print the table; of this checkout draw the rooms too."""
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else PACKAGE
    found = rooms(package)
    sys.stdout.write(table(found) + "\n")
    if package == PACKAGE:
        DRAWING.write_text(drawing(found), "utf-8")


if __name__ == "__main__":
    main()
