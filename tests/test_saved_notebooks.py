"""A notebook saved in JupyterLab and opened again without its kernel: pictures, boards, questions and answers are there."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from conftest import SENTENCE, Visit
from nbconvert import HTMLExporter
from offline import ROOT, free_port, server
from playwright.sync_api import Page, expect
from test_browser import BOARD, run_all_cells

import explorer as ex
from explorer.app.notebook_folder import OWN, copied_notebooks

CELLS = [
    f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport explorer as ex\nmodel = ex.load('bert')\n"
    f"trace = ex.trace(model, {SENTENCE!r}, blocks=True)",
    "ex.show('attention', trace)",
    "ex.board(trace, station='softmax', head=1)",
    "drawn = ex.analysis.saturation()\n"
    "ex.ask(ex.lesson('attention').scale_question(drawn), then=lambda: ex.show('saturation', drawn))",
]
LARGEST = 1_500_000  # bytes


def saved(page: Page, path: Path) -> nbformat.NotebookNode:
    page.wait_for_timeout(2500)  # until the images of the pictures have come
    page.locator(".jp-CodeCell .jp-InputPrompt").first.click()
    page.keyboard.press("Control+s")
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
    page.wait_for_timeout(1500)
    assert path.stat().st_size <= LARGEST, path.stat().st_size
    return nbformat.read(path, as_version=4)


@pytest.mark.browser
def test_a_saved_notebook_opens_without_its_kernel(visit: Visit, tmp_path: Path) -> None:
    path, port = tmp_path / "saved.ipynb", free_port()
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS]), path)
    arguments = ["jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0", "--ip=127.0.0.1",
                 f"--notebook-dir={tmp_path}", "--IdentityProvider.token=", "--ServerApp.password=",
                 f"--LabApp.app_settings_dir={ROOT / 'notebooks' / 'settings'}"]  # fmt: skip
    (tmp_path / "logs").mkdir()
    address = f"http://127.0.0.1:{port}/lab"
    with server(arguments, address, tmp_path / "logs"):
        page = visit(f"{address}/tree/saved.ipynb", height=4000)
        run_all_cells(page, BOARD)
        page.locator(".explorer-prediction input").first.click()
        expect(page.locator(".js-plotly-plot")).to_have_count(2)
        verdict = page.locator(".explorer-prediction").inner_text()
        kept = saved(page, path)
        page.close()
    html = "".join(
        str(output.get("data", {}).get("text/html", "")) for cell in kept.cells for output in cell.get("outputs", ())
    )
    assert "Your answer:" in html and "answered." not in html
    assert "Your answer:" in HTMLExporter(template_name="lab").from_notebook_node(kept)[0]
    with server(arguments, address, tmp_path / "logs"):
        page = visit(f"{address}/tree/saved.ipynb?reset", height=4000)
        page.wait_for_selector(BOARD, timeout=120_000)
        expect(page.locator(".js-plotly-plot")).to_have_count(2)
        assert page.locator(".explorer-prediction").inner_text() == verdict
        assert page.get_by_text("Error displaying widget").count() == 0
        icons = "es => es.filter(e => getComputedStyle(e, '::before').display !== 'none').length"
        assert page.locator(".jupyter-widgets-disconnected").evaluate_all(icons) == 0
        page.screenshot(path=tmp_path / "again.png")
        page.close()


def test_copies_are_the_students_and_lessons_stay(tmp_path: Path) -> None:
    lessons = ROOT / "notebooks"
    new = copied_notebooks(lessons, tmp_path / "mine")
    assert [path.name for path in new] == [*sorted(path.name for path in lessons.glob("*.ipynb")), OWN]
    (tmp_path / "mine" / "00_start.ipynb").write_text("mine", "utf-8")
    (tmp_path / "mine" / OWN).unlink()
    assert [path.name for path in copied_notebooks(lessons, tmp_path / "mine")] == [OWN]
    assert (tmp_path / "mine" / "00_start.ipynb").read_text("utf-8") == "mine"
    nbformat.validate(nbformat.read(tmp_path / "mine" / OWN, as_version=4))
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(ex.ExplorerError, match=r"cannot be copied .* explorer lab --folder"):
        copied_notebooks(lessons, tmp_path / "file")
