"""Signatures in the strict rooms say what they take and give: `Any` only where a reason is written down."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
STRICT = ("records", "nn", "models", "decoding", "corruption")
# Why a public signature may say Any, and where, by the beginning of its path.
REASONS = {
    "an edit takes an array of NumPy's or a tensor alike, and this room knows no torch": "records/edits.py",
    "a record packs and settles whatever its fields hold": "records/record.py",
    "columns for pandas, which is imported late; the record's module imports this one": "records/frames.py records/tables.py",
    "a run's plan, whose room stands above this one": "records/summary.py",
    "whoever runs models says so here, and this room knows none": "records/again.py",
    "settings by name, checked by whoever reads them": "decoding/settings.py decoding/strategy.py corruption/strategy.py "
    "corruption/counting.py corruption/strategies.py models/presets.py",
    "settings, lines and descriptions as they lie in a JSON file": "nn/factory.py models/folders.py models/run_folder.py "
    "models/shelf.py models/fetched.py",
    "a model or objects of transformers', which has no types": "models/load.py models/hub/ decoding/huggingface.py "
    "decoding/decode.py decoding/comparison.py decoding/generation_trace.py decoding/fill.py",
    "whatever gives scores for a text": "decoding/native.py",
    "the state belongs to a stepper alone": "decoding/stepper.py",
    "examples of every kind of text": "corruption/collate.py",
}


def says_any(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(isinstance(part, ast.Name) and part.id == "Any" for part in ast.walk(annotation))


def public(name: str) -> bool:
    return not name.startswith("_") or name == "__init__"


def signatures_with_any(tree: ast.AST, name: str = "") -> Iterator[tuple[int, str]]:
    """Each public signature or field that says Any, with its line. Options (`**name: Any`) are checked where they are read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef) and public(node.name):
            fields = (part for part in node.body if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name))
            for part in fields:
                if public(part.target.id) and says_any(part.annotation):  # type: ignore[union-attr]
                    yield part.lineno, f"{node.name}.{part.target.id}"  # type: ignore[union-attr]
            yield from signatures_with_any(node, f"{node.name}.")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and public(node.name):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg]
            if says_any(node.returns) or any(argument is not None and says_any(argument.annotation) for argument in given):
                yield node.lineno, f"{name}{node.name}"


PATHS = [path for room in STRICT for path in sorted((ROOT / "explorer" / room).rglob("*.py"))]


def test_public_signatures_say_any_exactly_where_a_reason_is_written_down() -> None:
    places, needed = " ".join(REASONS.values()).split(), set()
    for path in PATHS:
        where = path.relative_to(ROOT / "explorer").as_posix()
        reasons = {place for place in places if where.startswith(place)}
        for line, name in signatures_with_any(ast.parse(path.read_text("utf-8"))):
            assert reasons, f"{where}:{line}: {name} says Any"
            needed |= reasons
    assert set(places) - needed == set()


def test_the_rule_notices_what_it_forbids() -> None:
    code = """
def f(a: Any): ...
def g(a: int, *, b: dict[str, Any] = 1) -> None: ...
class A:
    b: list[Any]
    _c: Any
    def d(self) -> Any: ...
    def _e(self) -> Any: ...
def h(a: int, **options: Any) -> str: ...
def _i(a: Any) -> Any: ..."""
    assert [name for _, name in signatures_with_any(ast.parse(code))] == ["f", "g", "A.b", "A.d"]


def test_mypy_is_strict_in_these_rooms() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["overrides"]
    strict = next(part for part in settings if "explorer.nn.*" in part["module"])
    assert strict["module"] == [f"explorer.{room}.*" for room in STRICT]
    options = ("disallow_untyped_defs", "disallow_any_generics", "warn_return_any", "strict_equality", "extra_checks")
    assert all(strict[name] for name in options)
