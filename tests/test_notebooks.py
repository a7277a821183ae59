"""Every notebook runs from top to bottom, and is kept without outputs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from conftest import ALL, LONG, TABLE
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))
FORMULA = "03_attention"
TURNS = len(NOTEBOOKS)  # so many commits in turn run every notebook


def sampled(paths: list[Path], commits: int) -> list[Path]:
    """One notebook, the next for the next commit."""
    return [paths[commits % TURNS]]


def turn(folder: Path) -> int:
    """How many commits this checkout has; where it has only the last of them, or no git, a number that stays."""
    try:
        answers = [
            subprocess.run(["git", *command], cwd=folder, capture_output=True, text=True, check=False).stdout.strip()
            for command in (("rev-list", "--count", "HEAD"), ("rev-parse", "--is-shallow-repository"), ("rev-parse", "HEAD"))
        ]
    except OSError:  # no git here
        return 0
    count, shallow, commit = answers
    return int(commit[:8] or "0", 16) if shallow == "true" else int(count or 0)


SOME = sampled(NOTEBOOKS, turn(Path(__file__).parent))


@pytest.mark.parametrize("path", NOTEBOOKS if ALL else SOME, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, record_property: Callable[[str, str], None]) -> None:
    notebook = nbformat.read(path, as_version=4)
    begun = time.perf_counter()
    done = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    record_property(
        TABLE + "notebooks: every cell, with its kernel's start", f"{path.stem:20} {time.perf_counter() - begun:5.1f} s"
    )
    outputs = [output for cell in done.cells for output in cell.get("outputs", ())]
    assert any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"], (
        "no warning either"
    )
    if path.stem == FORMULA:
        check_formula(done)


def check_formula(done: nbformat.NotebookNode) -> None:
    """The formula written out is what the model computes."""
    check = next(cell for cell in done.cells if "within=1e-6" in cell.source)
    assert check.outputs[-1]["data"]["text/plain"].startswith("✓ Right")


@LONG
def test_commits_in_turn_run_every_notebook(tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"]
    assert turn(tmp_path) == 0, "no repository here"
    seen: set[Path] = set()
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    for number in range(1, TURNS + 1):
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "more"], cwd=tmp_path, check=True)
        some = sampled(NOTEBOOKS, turn(tmp_path))
        assert turn(tmp_path) == number and len(some) == 1
        seen |= set(some)
    assert seen == set(NOTEBOOKS)
    subprocess.run([*git, "clone", "-q", "--depth", "1", f"file://{tmp_path}", "cut"], cwd=tmp_path, check=True)
    assert turn(tmp_path / "cut") > 1, "a shallow clone takes its turn from the name of its commit"


def test_without_git_the_same_notebooks_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert turn(tmp_path) == 0 and sampled(NOTEBOOKS, 0) == NOTEBOOKS[:1]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells), "strip the outputs"
    assert notebook.cells[0].cell_type == "markdown" and len(notebook.cells) <= 40


def test_threads_that_wait_leave_their_processor_to_others() -> None:
    """What the package says before PyTorch is imported; so every notebook imports it first."""
    said = "import os, sys, explorer; print(os.environ['OMP_WAIT_POLICY'], 'torch' in sys.modules)"
    for given, wanted in (({}, "PASSIVE"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "ACTIVE")):
        kept = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"} | given
        asked = subprocess.run([sys.executable, "-c", said], env=kept, capture_output=True, text=True, check=True)
        assert asked.stdout.split() == [wanted, "False"]
    for path in NOTEBOOKS:
        code = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
        assert "import torch" not in code.partition("import explorer")[0], path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_line_of_code_fits_into_a_narrow_screen(path: Path) -> None:
    """JupyterLab shows 104 letters of a line at a width of 1280 points."""
    code = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")
    assert [line for line in code.splitlines() if len(line) > 100] == []
