"""The rooms of the package as they are: files, lines, and who imports whom, read from the imports.

`python -m studies.rooms` prints the table and draws `docs/rooms.svg`. With a folder or a revision of git it prints the table of
that checkout beside this one.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path

from explorer.errors import ChoiceError
from studies.study import table

ROOT = Path(__file__).parent.parent
PACKAGE, DRAWING = ROOT / "explorer", ROOT / "docs" / "rooms.svg"
FRONT = ("__init__", "__main__", "cli", "fitting", "getting", "options")
BESIDE = ("studies", "tests", "benchmarks")  # folders beside the package whose lines are counted
KINDS = {"Python": (".py", ".pyi"), "JavaScript": (".js",), "CSS": (".css",)}
COLUMNS = {
    "app": 0.5, "training": -0.6, "analysis": -0.7, "decoding": 0.6, "models": 0.3, "corruption": -0.5, "nn": 0.5,
    "microworld": -1.3, "text": 0.0, "views": 1.5, "records": 0.0, "errors": 0.0,
}  # fmt: skip
WIDTH, HEIGHT, STEP, EDGE = 150, 44, 84, 24  # of a box, from one floor to the next, and around the drawing
STYLE = (
    "text{font:15px system-ui,sans-serif;fill:#1a1a1a;text-anchor:middle}rect{fill:#eef3fb;stroke:#3b6ea8}path{fill:none;stroke:#777}"
    ".bg{fill:#fff;stroke:none}@media(prefers-color-scheme:dark){text{fill:#eee}rect{fill:#22303f;stroke:#7fb2e5}.bg{fill:#111}"
    "path{stroke:#999}}"
)


@dataclass(frozen=True)
class Room:
    """A folder of the package, or a file that lies beside the folders: its files of Python, and its lines by kind."""

    name: str
    files: int
    lines: Mapping[str, int]
    imports: frozenset[str]


def rooms(package: Path = PACKAGE) -> dict[str, Room]:
    """Every room with the rooms that it imports, late imports included."""
    places: dict[str, list[Path]] = {}
    for path in sorted(path for path in package.rglob("*") if path.suffix in {s for kind in KINDS.values() for s in kind}):
        places.setdefault(path.relative_to(package).parts[0].partition(".")[0], []).append(path)
    return {name: _room(name, paths, places.keys()) for name, paths in places.items()}


def _room(name: str, paths: list[Path], known: Collection[str]) -> Room:
    texts = {path: path.read_text("utf-8") for path in paths}
    lines = {kind: sum(text.count("\n") for path, text in texts.items() if path.suffix in ends) for kind, ends in KINDS.items()}
    imports = {there for path, text in texts.items() if path.suffix == ".py" for there in _imported(ast.parse(text))}
    files = sum(path.suffix == ".py" for path in paths)
    return Room(name, files, lines, frozenset(there for there in imports if there in known and there != name))


def _imported(tree: ast.Module) -> set[str]:
    """The first name after `explorer` in every import; of `from explorer import …` the names themselves."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "explorer":
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("explorer."):
            names.add((node.module or "").split(".")[1])
        elif isinstance(node, ast.Import):
            names |= {name.name.split(".")[1] for name in node.names if name.name.startswith("explorer.")}
    return names


def floors(rooms: Mapping[str, Room]) -> dict[str, int]:
    """The floor of each room: one above the highest of those that it imports. A circle of rooms is an error."""
    level: dict[str, int] = {}
    while len(level) < len(rooms):
        ready = [name for name, room in rooms.items() if name not in level and room.imports <= level.keys()]
        if not ready:
            raise ValueError(f"These rooms import each other in a circle: {sorted(rooms.keys() - level.keys())}")
        level |= {name: 1 + max((level[there] for there in rooms[name].imports), default=-1) for name in ready}
    return level


def needed(rooms: Mapping[str, Room]) -> set[tuple[str, str]]:
    """The arrows that follow from no others: from a room to one that it reaches over no third."""
    beyond: dict[str, set[str]] = {}
    for name in sorted(rooms, key=floors(rooms).__getitem__):
        beyond[name] = set(rooms[name].imports).union(*(beyond[there] for there in rooms[name].imports))
    return {
        (name, there)
        for name, room in rooms.items()
        for there in room.imports
        if not any(there in beyond[other] for other in room.imports - {there})
    }


def room_table(root: Path = ROOT) -> str:
    """The rooms of a checkout as Markdown, with their sums, and the folders beside the package."""
    inside = rooms(root / "explorer")
    names = sorted(inside, key=lambda name: (floors(inside)[name], name))
    rows = [(name, str(inside[name].files), *_counts(inside[name]), ", ".join(sorted(inside[name].imports))) for name in names]
    whole = _sum("explorer", inside.values())
    arrows = f"{sum(len(room.imports) for room in inside.values())} arrows on {1 + max(floors(inside).values())} floors"
    beside = [_sum(name, rooms(root / name).values()) for name in BESIDE if (root / name).is_dir()]
    sums = [(f"**{room.name}**", str(room.files), *_counts(room), arrows if room is whole else "") for room in (whole, *beside)]
    return table(["room", "files", *KINDS, "imports"], [*rows, *sums])


def _counts(room: Room) -> Iterator[str]:
    return (f"{count:,}" if count else "" for count in room.lines.values())


def _sum(name: str, parts: Iterable[Room]) -> Room:
    every = list(parts)
    return Room(
        name, sum(room.files for room in every), {kind: sum(room.lines[kind] for room in every) for kind in KINDS}, frozenset()
    )


@contextmanager
def checkout(place: str) -> Iterator[Path]:
    """A folder as it is, or the files of a revision in a folder that goes again."""
    if Path(place).is_dir():
        yield Path(place)
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", "--end-of-options", place], cwd=ROOT, capture_output=True, check=False)
        if packed.returncode:
            raise ChoiceError(f"{place!r} is neither a folder nor a revision of git here. Name one, for example HEAD.")
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
            files.extractall(folder, filter="data")
        yield Path(folder)


def drawing(rooms: Mapping[str, Room]) -> str:
    """The rooms as an SVG: a room that imports is higher; arrows that follow from others are left out."""
    inner = {name: room for name, room in rooms.items() if name not in FRONT}
    level = floors(inner)
    first, highest = min(COLUMNS.get(name, 0) for name in inner), max(level.values())
    at = {name: (EDGE + round((COLUMNS.get(name, 0) - first) * 210), EDGE + (highest - level[name]) * STEP) for name in inner}
    wide, high = (max(place[n] for place in at.values()) + (WIDTH, HEIGHT)[n] + EDGE for n in (0, 1))
    head = '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" aria-label="The rooms and their imports">',
        f"<style>{STYLE}</style>",
        f'<defs>{head}<path d="M0 0 8 4 0 8z" style="fill:#777"/></marker></defs>',
        f'<rect class="bg" width="{wide}" height="{high}"/>',
        *(_arrow(at[name], at[there]) for name, there in sorted(needed(inner))),
        *(_box(name, *place) for name, place in sorted(at.items())),
    ]
    return "\n".join([*parts, "</svg>\n"])


def _box(name: str, x: int, y: int) -> str:
    text = f'<text x="{x + WIDTH // 2}" y="{y + 27}">{escape(name)}</text>'
    return f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="7"/>{text}'


def _arrow(begin: tuple[int, int], end: tuple[int, int]) -> str:
    """From the lower edge of one box to the upper edge of another."""
    middle = WIDTH // 2
    return f'<path d="M{begin[0] + middle} {begin[1] + HEIGHT} L{end[0] + middle} {end[1] - 2}" marker-end="url(#head)"/>'


def main() -> None:
    """Print the tables, and draw the rooms of this checkout."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("places", nargs="*", help="folders with a checkout, or revisions of git, whose tables come first")
    for place in options.parse_args().places:
        with checkout(place) as root:
            print(f"{place}:\n\n{room_table(root)}\n")
    print(room_table())
    DRAWING.write_text(drawing(rooms()), "utf-8")


if __name__ == "__main__":
    main()
