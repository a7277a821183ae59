"""House style that a linter does not hold: short functions, short files, documented public names."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from test_rooms import statements

ROOT = Path(__file__).parent.parent
FILES = [*sorted((ROOT / "explorer").rglob("*.py")), *sorted((ROOT / "studies").glob("*.py")), ROOT / "app.py"]


class Defined(NamedTuple):
    """A function, a class, or a constant of a module."""

    path: Path
    kind: type[ast.AST]
    name: str
    line: int
    length: int
    top: bool  # whether it is a name of the module
    signature: bool  # whether it is one of the signatures of a function below it


@cache
def defined() -> list[Defined]:
    """What all files define: each is parsed once, when the first test asks, and its tree is forgotten."""
    return [one for path in FILES for one in defined_in(path)]


def defined_in(path: Path) -> Iterator[Defined]:
    tree = ast.parse(path.read_text("utf-8"))
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        names = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name) and part.id.isupper()}
        for name in sorted(names):
            yield Defined(path, type(node), name, node.lineno, 1, top=True, signature=False)
    tops = set(tree.body)
    for node in statements(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            signature = any(ast.unparse(mark) == "overload" for mark in node.decorator_list)
            yield Defined(path, type(node), node.name, node.lineno, lines, node in tops, signature)


def test_functions_are_short() -> None:
    functions = [one for one in defined() if one.kind in (ast.FunctionDef, ast.AsyncFunctionDef)]
    long = [
        f"{path.relative_to(ROOT)}:{line} {name}: {length} lines"
        for path, _, name, line, length, _, _ in functions
        if length > 40
    ]
    assert long == []
    assert statistics.median(one.length for one in functions) <= 10


def test_files_are_short() -> None:
    """A page of a lesson has at most 150 lines: what computes is in its `parts.py`, what is read in its `prose.md`."""
    lines = {path: len(path.read_text("utf-8").splitlines()) for path in FILES}
    limits = {path: 150 if path.name == "page.py" else 500 for path in FILES}
    assert [f"{path.relative_to(ROOT)}: {n} lines of {limits[path]}" for path, n in lines.items() if n > limits[path]] == []


def test_a_constant_has_one_value() -> None:
    """A second text under a name silently takes the place of the first."""
    lines: dict[tuple[Path, str], list[int]] = {}
    for one in defined():
        if one.kind in (ast.Assign, ast.AnnAssign):
            lines.setdefault((one.path, one.name), []).append(one.line)
    assert lines and [(path.name, name, at) for (path, name), at in lines.items() if len(at) > 1] == []


def test_registries_stand_below_what_they_list() -> None:
    from explorer.views import VIEWS

    for view in VIEWS.values():
        assert view.caption.rstrip().endswith("."), view.name
        assert "may not conclude" in view.caption, f"{view.name}: say what may not be concluded"


def test_weights_and_data_stay_small() -> None:
    def size(folder: Path) -> int:
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    assert all(size(model) <= 20_000_000 for model in (ROOT / "data" / "models").iterdir())
    assert all(path.stat().st_size <= 5_500_000 for path in (ROOT / "data").rglob("*.safetensors"))
    assert all((folder / "CARD.md").is_file() for kind in ("models", "results") for folder in (ROOT / "data" / kind).iterdir())
    assert size(ROOT / "data" / "runs") <= 60_000


# Functions that stand under one name in several files because they say or do the same for several kinds of thing.
ALIKE = {
    "checksum", "read", "write",  # of a kind of file
    "clean", "fits", "names", "to_ours", "to_theirs",  # of a Hugging Face architecture
    "initialise",  # of a kind of network
    "perplexity", "rows", "samples", "spans", "teacher_forced",  # of a kind of model that is evaluated
}  # fmt: skip
LIBRARY = ("records", "text", "corruption", "nn", "models", "decoding", "analysis", "training")


def public_names(kind: type[ast.stmt], rooms: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Where each public class or function is defined."""
    places: dict[str, list[str]] = {}
    for one in defined():
        here = not rooms or set(rooms) & set(one.path.relative_to(ROOT).parts[1:2])
        if here and one.kind is kind and one.top and not one.signature and not one.name.startswith("_"):
            places.setdefault(one.name, []).append(str(one.path.relative_to(ROOT)))
    return places


def test_no_two_classes_have_one_name() -> None:
    assert {name: paths for name, paths in public_names(ast.ClassDef).items() if len(paths) > 1} == {}


def test_no_two_functions_of_the_library_have_one_name_with_two_meanings() -> None:
    twice = {name: paths for name, paths in public_names(ast.FunctionDef, LIBRARY).items() if len(paths) > 1}
    assert {name: paths for name, paths in twice.items() if name not in ALIKE} == {}
    assert twice.keys() >= ALIKE, "a name that is unique again needs no line here"
