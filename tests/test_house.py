"""House style that a linter does not hold: short functions, short files, documented public names."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "explorer").rglob("*.py")) + [ROOT / "app.py"]
FUNCTIONS = [
    (path, node)
    for path in FILES
    for node in ast.walk(ast.parse(path.read_text("utf-8")))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
]


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_functions_are_short() -> None:
    long = [f"{path.name}:{node.lineno} {node.name}: {length(node)} lines" for path, node in FUNCTIONS if length(node) > 40]
    assert long == []
    assert statistics.median(length(node) for _, node in FUNCTIONS) <= 10


def test_files_are_short() -> None:
    assert [f"{path.name}: {n} lines" for path in FILES if (n := len(path.read_text("utf-8").splitlines())) > 300] == []
    pages = [path for path in FILES if path.parent.name == "pages"]
    assert [path.name for path in pages if len(path.read_text("utf-8").splitlines()) > 150] == []


def test_registries_stand_below_what_they_list() -> None:
    from explorer import views

    assert list(views) == list(views.VIEWS)
    for view in views.VIEWS.values():
        assert view.caption.rstrip().endswith("."), view.name
        assert "may not conclude" in view.caption, f"{view.name}: say what may not be concluded"


def test_weights_and_data_stay_small() -> None:
    def size(folder: Path) -> int:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    assert size(ROOT / "data") <= 60_000_000
    assert all(size(model) <= 10_000_000 for model in (ROOT / "data" / "models").iterdir())
    assert all(path.stat().st_size <= 3_000_000 for path in (ROOT / "data").rglob("*.safetensors"))
    assert all((folder / "CARD.md").is_file() for kind in ("models", "results") for folder in (ROOT / "data" / kind).iterdir())
