"""Every benchmark runs and prints its table; what it measures is not asserted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ALL

LONG = ("board", "decoding", "gpu", "losses", "learnable", "training", "pieces", "tracing", "vectors")
BENCHMARKS = sorted((Path(__file__).parent.parent / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_runs(path: Path) -> None:
    if path.stem in LONG and not ALL:
        pytest.skip(f"{path.stem} takes half a minute or more: make test-all")
    run = subprocess.run([sys.executable, str(path), "--rounds", "2"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.count("\n| ") >= 8
