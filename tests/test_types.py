"""Signatures in the strict rooms say what they take and give: `Any` only where a reason is written down."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STRICT = ("records", "nn", "models", "decoding", "corruption")
# Where a public signature may say Any, by the beginning of its path, and why.
REASONS = {
    "records/edits.py": "an edit takes an array of NumPy's or a tensor alike, and this room knows no torch",
    "records/record.py": "a record packs and settles whatever its fields hold",
    "records/frames.py": "columns for pandas, which is imported late; the trace's module imports this one",
    "records/summary.py": "a run's plan, whose room stands above this one",
    "decoding/settings.py": "settings of a registered strategy, checked by the strategy",
    "decoding/strategy.py": "settings by name, checked by the strategy that reads them",
    "corruption/strategy.py": "options by name, checked by the strategy that they are given to",
    "corruption/counting.py": "options by name, checked by the strategy that they are given to",
    "records/again.py": "whoever runs models says so here, and this room knows none",
    "nn/factory.py": "settings as they lie in a JSON file",
    "models/run_folder.py": "the lines and descriptions of a run are JSON",
    "models/shelf.py": "a model's configuration is JSON",
    "models/presets.py": "settings by name, checked by the configuration that they are given to",
    "models/load.py": "a live pair holds two objects of transformers', which has no types",
    "models/hub/": "objects and configurations of transformers', which has no types",
    "decoding/huggingface.py": "objects of transformers', which has no types",
    "decoding/decode.py": "a model or a live pair of transformers'; a strategy may be registered with a record of its own",
    "decoding/comparison.py": "a model or a live pair of transformers'; options by name",
    "decoding/generation_trace.py": "a model or a live pair of transformers'",
    "decoding/fill.py": "a model or a live pair of transformers'",
    "decoding/native.py": "whatever gives scores for a text",
    "decoding/stepper.py": "the state belongs to a stepper alone",
    "corruption/collate.py": "examples of every kind of text",
    "corruption/strategies.py": "options by name, checked by the strategy that they are given to",
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


def reason(path: Path) -> str:
    place = path.relative_to(ROOT / "explorer").as_posix()
    return next((begin for begin in REASONS if place.startswith(begin)), "")


def test_no_public_signature_says_any_without_a_reason() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name} says Any"
        for path in PATHS
        if not reason(path)
        for line, name in signatures_with_any(ast.parse(path.read_text("utf-8")))
    ]
    assert wrong == []


def test_every_reason_is_still_needed() -> None:
    needed = {reason(path) for path in PATHS for _ in signatures_with_any(ast.parse(path.read_text("utf-8")))}
    assert set(REASONS) - needed == set()


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("def f(a: Any): ...", ["f"]),
        ("def f(a: int, *, b: dict[str, Any] = 1) -> None: ...", ["f"]),
        ("class A:\n    b: list[Any]\n    _c: Any\n    def d(self) -> Any: ...\n    def _e(self) -> Any: ...", ["A.b", "A.d"]),
        ("def f(a: int, **options: Any) -> str: ...\ndef _g(a: Any) -> Any: ...", []),
    ],
)
def test_the_rule_notices_what_it_forbids(code: str, names: list[str]) -> None:
    assert [name for _, name in signatures_with_any(ast.parse(code))] == names


def test_mypy_is_strict_in_these_rooms() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["overrides"]
    strict = next(part for part in settings if "explorer.nn.*" in part["module"])
    assert strict["module"] == [f"explorer.{room}.*" for room in STRICT]
    options = ("disallow_untyped_defs", "disallow_any_generics", "warn_return_any", "strict_equality", "extra_checks")
    assert all(strict[name] for name in options)
