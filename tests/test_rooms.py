"""The order of the rooms: who may import whom, and which outside library belongs where."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent / "explorer"
ORDER = (
    ("errors",), ("records",), ("tap",), ("text",), ("corruption", "decoding", "comparing"), ("nn",), ("objectives",),
    ("model",), ("tracing",), ("placing", "guessing", "offering", "generating", "inside", "directions", "neighbours"),
    ("meeting",), ("runs",), ("library",), ("hub",), ("loading",), ("measuring",), ("abilities",),
    ("training",), ("tasks",), ("cards",), ("recipes",), ("experiments",),
)  # fmt: skip
RANK = {room: n for n, rooms in enumerate(ORDER) for room in rooms}
BESIDE = {
    "lessons": {"errors", "records", "lessons"},
    "views": {"errors", "records", "views"},
    "shells": {"errors", "records", "views", "shells"},
}
TOP = {"pages", "cli", "__main__", "__init__"}  # may import anything; nothing imports them
NO_TORCH = {"errors", "records", "tap", "corruption", "decoding", "comparing", "views", "shells"}
ONLY = {
    "plotly": ("views/", "shells/"),
    "streamlit": ("shells/web.py", "shells/lesson.py", "pages/"),
    "ipywidgets": ("shells/notebook.py",),
    "anywidget": ("shells/notebook.py",),
    "transformers": ("hub/",),
    "tokenizers": ("text/",),
    "accelerate": ("training/",),
    "bertviz": ("shells/bertviz.py",),
    "kaleido": ("shells/export.py",),
}
PACKAGES = {"explorer", "explorer.pages"}


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imports(path: Path) -> list[tuple[int, str]]:
    """Every import with its line, also those inside functions."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, name.name) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write the import in full"
            base = node.module or ""
            inner = base in PACKAGES or (base == "explorer.views" and room_of(path) == "views")
            found += [(node.lineno, f"{base}.{name.name}") for name in node.names] if inner else [(node.lineno, base)]
    return found


def wrong(path: Path, name: str) -> str:
    """Why `path` may not import `name`, or nothing."""
    here, place = room_of(path), path.relative_to(ROOT).as_posix()
    outside = name.split(".")[0]
    if outside != "explorer":
        if outside == "torch" and here in NO_TORCH:
            return "torch does not belong in this room"
        allowed = ONLY.get(outside)
        return (
            "" if allowed is None or place.startswith(allowed) or here in TOP else f"{outside} belongs in {', '.join(allowed)}"
        )
    there = (name.split(".") + [""])[1]
    if here in TOP:
        return ""
    if there in TOP or there == "":
        return "nothing imports this"
    if here in BESIDE:
        return "" if there in BESIDE[here] else f"{here} may import {', '.join(sorted(BESIDE[here]))}"
    return "" if RANK.get(there, 99) < RANK[here] or there == here else f"{there} stands below {here}"


def faults(root: Path = ROOT) -> list[str]:
    return [
        f"{path.relative_to(root.parent)}:{line}: imports {name}: {reason}"
        for path in sorted(root.rglob("*.py"))
        for line, name in imports(path)
        if (reason := wrong(path, name))
    ]


def test_every_import_goes_one_way() -> None:
    assert faults() == []


def test_the_rule_notices_what_it_forbids() -> None:
    assert wrong(ROOT / "tap.py", "torch")
    assert wrong(ROOT / "records" / "tokens.py", "explorer.tracing")
    assert wrong(ROOT / "views" / "attention.py", "explorer.model")
    assert wrong(ROOT / "model.py", "streamlit")
    assert wrong(ROOT / "nn" / "heads.py", "explorer.training")
    assert not wrong(ROOT / "training.py", "explorer.nn.presets")


def test_every_room_is_known() -> None:
    rooms = {room_of(path) for path in ROOT.rglob("*.py")}
    assert rooms <= set(RANK) | set(BESIDE) | TOP


def test_no_room_has_a_name_that_says_nothing() -> None:
    nameless = {"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"}
    assert not [path for path in ROOT.rglob("*.py") if path.stem in nameless]
