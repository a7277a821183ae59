"""Run All in JupyterLab on a machine that is busy with other work: every picture is there, each time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest
from conftest import ALL, SENTENCE, Visit
from offline import ROOT, free_port, server
from playwright.sync_api import expect
from test_browser import BOARD, run_all_cells

pytestmark = [pytest.mark.browser, pytest.mark.skipif(not ALL, reason="minutes of a busy machine: EXPLORER_TEST_ALL=1")]
TIMES, BUSY = 5, 4
CELLS = [
    f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport explorer as ex\nmodel = ex.load('bert')\n"
    f"trace = ex.trace(model, {SENTENCE!r}, blocks=True)",
    "ex.show('attention', trace)",
    "ex.show('heads', trace)",
    "ex.show('place-turns', ex.places('rope'))",
    "ex.board(trace, station='softmax', head=1)",
    "ex.board([trace, trace], labels=['one', 'two'], station='mix')",
    "ex.show('heads', trace)",
]
PICTURES = sum("ex.show(" in cell for cell in CELLS)
BOARDS = sum("ex.board(" in cell for cell in CELLS)
EMPTY = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(p =>
  !p.querySelector('.hm image, .barlayer .points path, .scatterlayer .lines path, .scatterlayer .points path')).length"""
BLANK = """() => [...document.querySelectorAll('.board canvas')].filter(c => {
  const dots = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
  return dots.every(d => d === dots[0]); }).length"""


@contextmanager
def busy() -> Iterator[None]:
    """Four processes that compute without end."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def test_no_picture_is_ever_an_empty_axis(visit: Visit, tmp_path: Path) -> None:
    for time in range(TIMES):
        cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / f"{time}.ipynb")
    (tmp_path / "logs").mkdir()
    port = free_port()
    arguments = ["jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0", "--ip=127.0.0.1",
                 f"--notebook-dir={tmp_path}", "--IdentityProvider.token=", "--ServerApp.password=",
                 f"--LabApp.app_settings_dir={ROOT / 'notebooks' / 'settings'}"]  # fmt: skip
    with server(arguments, f"http://127.0.0.1:{port}/lab", tmp_path / "logs"), busy():
        for time in range(TIMES):
            page = visit(f"http://127.0.0.1:{port}/lab/tree/{time}.ipynb?reset", height=6000)
            run_all_cells(page, BOARD)
            expect(page.locator(".js-plotly-plot")).to_have_count(PICTURES)
            expect(page.locator(BOARD)).to_have_count(BOARDS)
            page.wait_for_function(f"({EMPTY})() === 0 && ({BLANK})() === 0")
            page.close()
