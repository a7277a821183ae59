"""Every notebook runs from top to bottom, and is kept without outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells), "strip the outputs"
    assert notebook.cells[0].cell_type == "markdown" and len(notebook.cells) <= 40
    done = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in done.cells for output in cell.get("outputs", ())]
    assert any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"], (
        "no warning either"
    )


def test_the_formula_written_out_in_the_notebook_is_the_model_s() -> None:
    notebook = nbformat.read(NOTEBOOKS[0].parent / "04_attention.ipynb", as_version=4)
    done = NotebookClient(notebook, timeout=120).execute()
    check = next(cell for cell in done.cells if "np.exp" in cell.source)
    assert float(check.outputs[-1]["data"]["text/plain"]) <= 1e-6
