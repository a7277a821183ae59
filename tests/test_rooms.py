"""The rooms: who may import whom, and which outside library belongs where. The table is the architecture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "explorer"
# A room may import those above it; beside it, the outside libraries that it does without or that belong to it alone.
ROOMS = {
    "errors": "no torch",
    "records": "no torch",
    "microworld": "no torch",
    "text": "no torch, tokenizers",
    "corruption": "no torch",
    "nn": "",
    "models": "",
    "decoding": "",
    "analysis": "",
    "training": "accelerate",
    "views": "no torch, plotly",
    "app": "streamlit",
}
RANK = {room: number for number, room in enumerate(ROOMS)}
FRONT = {
    "__init__",
    "__main__",
    "cli",
    "fitting",
    "getting",
    "options",
}  # may import anything; of the rooms only the last imports them
LAST = {"app"}  # may import anything; nothing else imports it
ONLY_RECORDS = {"views": {"errors", "records"}}
# One folder or file inside a room that owns a library.
NARROW = {
    "transformers": "models/hub/",
    "ipywidgets": "views/notebook.py",
    "anywidget": "views/board/widget.py",
    "bertviz": "views/bertviz.py",
    "kaleido": "views/export.py",
    "peft": "training/finetune/adapters.py",
    "matplotlib": "records/",
}
# What breaks the table all the same, each with its reason.
EXCEPTIONS = {
    ("views/lab.py", "anywidget"): "the browser's side of a notebook: its theme, full screen, and the images that are saved",
    ("views/live/figure.py", "anywidget"): "a model that runs in the page is a widget of its own",
    ("views/learning/figure.py", "anywidget"): "and so is one that is trained there",
    ("views/cell_widgets.py", "ipywidgets"): "what a cell showed before it was run again is closed",
    ("views/asking.py", "ipywidgets"): "questions are the other half of what a notebook shows",
}


def module_of(path: Path) -> str:
    """explorer.nn.attention for explorer/nn/attention.py."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement, with those inside it; what a statement reckons with holds none, and is most of a tree."""
    inner: list[ast.AST] = [tree]
    while inner:
        node = inner.pop()
        yield node
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            below = getattr(node, part, ())
            inner += below if isinstance(below, list) else ()


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Every import with its line, also those inside functions."""
    found = []
    for node in statements(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, name.name) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write the import in full"
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                found.append((node.lineno, inner if inner in MODULES else str(node.module)))
    return found


def wrong(path: Path, name: str) -> str:
    """Why `path` may not import `name`, or nothing."""
    here, place, outside = room_of(path), path.relative_to(ROOT).as_posix(), name.split(".")[0]
    if here in FRONT or (place, outside) in EXCEPTIONS:
        return ""
    if outside == "studies":
        return "the package does without the studies beside it"
    if outside != "explorer":
        return wrong_library(here, place, outside)
    there = (name.split(".") + [""])[1]
    if there in FRONT or there == "":
        return "" if here in LAST else "nothing imports this"
    if there == here:
        return ""
    if there in LAST:
        return f"nothing imports {there}"
    if here in ONLY_RECORDS and there not in ONLY_RECORDS[here]:
        return f"{here} imports {', '.join(sorted(ONLY_RECORDS[here]))} and nothing else"
    return "" if RANK.get(there, 99) < RANK.get(here, -1) else f"{there} stands below {here}"


def wrong_library(here: str, place: str, outside: str) -> str:
    """Why an outside library does not belong here, or nothing."""
    if outside == "torch" and "no torch" in ROOMS.get(here, ""):
        return "torch does not belong in this room"
    if outside in NARROW:
        return "" if place.startswith(NARROW[outside]) else f"{outside} belongs in {NARROW[outside]}"
    owners = [room for room, libraries in ROOMS.items() if outside in libraries.split(", ")]
    return "" if not owners or here in owners else f"{outside} belongs in {owners[0]}"


def faults() -> list[str]:
    return [
        f"{path.relative_to(ROOT.parent)}:{line}: imports {name}: {reason}"
        for path in MODULES.values()
        for line, name in imports(path)
        if (reason := wrong(path, name))
    ]


def circles() -> list[list[str]]:
    """Modules that import each other round about, late imports included: what remains when all that import nothing are taken away."""
    needs = {
        name: {there for _, there in imports(path) if there in MODULES} - {name, "explorer"} for name, path in MODULES.items()
    }
    needs.pop("explorer")
    while free := [name for name, wanted in needs.items() if not wanted & needs.keys()]:
        for name in free:
            del needs[name]
    return [sorted(needs)] if needs else []


def test_every_import_goes_one_way() -> None:
    assert faults() == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles() == []


def test_every_exception_is_still_needed() -> None:
    for place, outside in EXCEPTIONS:
        assert outside in {name.split(".")[0] for _, name in imports(ROOT / place)}, place


def test_the_rule_notices_what_it_forbids() -> None:
    assert wrong(ROOT / "corruption" / "rows.py", "torch")
    assert wrong(ROOT / "records" / "tokens.py", "explorer.analysis.trace")
    assert wrong(ROOT / "views" / "attention.py", "explorer.models.store")
    assert wrong(ROOT / "models" / "store.py", "streamlit")
    assert wrong(ROOT / "nn" / "heads.py", "explorer.training")
    assert wrong(ROOT / "training" / "run.py", "studies.recipes")
    assert not wrong(ROOT / "training" / "run.py", "explorer.models.presets")


def test_every_file_stands_in_a_room() -> None:
    assert {room_of(path) for path in MODULES.values()} == set(ROOMS) | FRONT
    assert sorted(path.stem for path in ROOT.glob("*.py")) == sorted(FRONT)


def test_no_room_has_a_name_that_says_nothing() -> None:
    nameless = {"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"}
    assert not [path for path in MODULES.values() if path.stem in nameless]
