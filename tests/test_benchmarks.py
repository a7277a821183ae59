"""Every benchmark runs and prints its table; what it measures is not asserted."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ALL, LONG

SLOW = [
    "voting",
    "players",
    "board",
    "classroom",
    "corruptions",
    "decoding",
    "gpu",
    "live",
    "losses",
    "learnable",
    "training",
    "pieces",
    "soak",
    "tracing",
    "vectors",
]
BENCHMARKS = sorted((Path(__file__).parent.parent / "benchmarks").glob("*.py"))


def test_whatever_a_benchmark_imports_from_here_is_there() -> None:
    """The long ones run in make test-all only; a name that moved is found at once."""
    wanted = {
        (node.module, name.name)
        for path in BENCHMARKS
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("explorer")
        for name in node.names
    }
    missing = [f"{module}: {name}" for module, name in sorted(wanted) if not there(module, name)]
    assert len(wanted) > 40 and missing == []


def there(module: str, name: str) -> bool:
    return hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None


@LONG
@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_runs(path: Path) -> None:
    if path.stem in SLOW and not ALL:
        pytest.skip(f"{path.stem} takes half a minute or more: make test-all")
    run = subprocess.run([sys.executable, str(path), "--rounds", "2"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.count("\n| ") >= 8


BARE = """
import runpy, sys
for name in ("accelerate", "anywidget", "ipywidgets", "matplotlib", "pandas", "peft", "plotly", "sklearn", "streamlit", "transformers"):
    sys.modules[name] = None  # as if it were not installed
sys.argv = [sys.argv[1], "--pretend"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.long  # test_pretended.py asks the same of each system, and above is whether its names are there
def test_the_script_for_a_gpu_runs_where_little_is_installed() -> None:
    """Every part on a pretended GPU, with what `fit` needs and nothing else: on the day that a GPU comes, nothing of it is wrong."""
    script = next(path for path in BENCHMARKS if path.stem == "gpu")
    run = subprocess.run([sys.executable, "-c", BARE, str(script)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    assert run.stdout.count("\n**") == 8 and "failed" not in run.stdout and "differs" not in run.stdout
    gap = next(line for line in run.stdout.splitlines() if "processor → GPU → processor" in line)
    assert float(gap.split(":")[1].strip(" |")) <= 1e-3
