"""A notebook saved in JupyterLab and opened again without its kernel: pictures, boards, questions and answers are there."""

from __future__ import annotations

import base64
import gzip
import io
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest
from conftest import LONG, SENTENCE, Visit
from IPython.core.events import EventManager
from ipywidgets import HTML, Output, Widget
from offline import ROOT, free_port, server
from PIL import Image
from playwright.sync_api import Page, expect
from test_browser import BOARD, run_all_cells
from traitlets.config import Config

import explorer as ex
from explorer.app.notebook_folder import OWN, copied_notebooks
from explorer.views import cell_widgets
from explorer.views.board.module import module
from explorer.views.board.widget import Board
from explorer.views.lab import fewer_bytes, theme_of_lab

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


def restored(page: Page) -> None:
    """Wait for the widgets, and open the page again where they came too late.

    JupyterLab's manager of widgets waits two seconds for the model of a view once a kernel has connected. On a slow machine that is
    before it has read the models from the notebook, and it then says "model not found" until the page is opened again.
    """
    for _ in range(3):
        page.wait_for_selector(f"{BOARD}, :text('Error displaying widget')", timeout=120_000)
        page.wait_for_timeout(3_000)
        if page.get_by_text("Error displaying widget").count() == 0:
            return
        page.reload()


@LONG
@pytest.mark.browser
def test_a_saved_notebook_opens_without_its_kernel(visit: Visit, tmp_path: Path) -> None:
    from nbconvert import HTMLExporter

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
        restored(page)
        expect(page.locator(".js-plotly-plot")).to_have_count(2)
        assert page.locator(".explorer-prediction").inner_text() == verdict
        assert page.get_by_text("Error displaying widget").count() == 0
        icons = "es => es.filter(e => getComputedStyle(e, '::before').display !== 'none').length"
        assert page.locator(".jupyter-widgets-disconnected").evaluate_all(icons) == 0
        page.screenshot(path=tmp_path / "again.png")
        page.close()


@LONG
@pytest.mark.parametrize("still", [False, True])
def test_a_page_of_a_saved_notebook_has_stills_once_the_states_of_widgets_are_left_out(*, still: bool) -> None:
    from nbconvert import HTMLExporter

    board, _ = ex.board(ex.trace(ex.load("bert"), SENTENCE), station="softmax")._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("display_data", board)])
    states = {"application/vnd.jupyter.widget-state+json": Widget.get_manager_state()}
    notebook = nbformat.v4.new_notebook(cells=[cell], metadata={"widgets": states})
    exporter = HTMLExporter(template_name="lab", config=Config({"ClearMetadataPreprocessor": {"enabled": still}}))
    body = exporter.from_notebook_node(notebook)[0].split("</head>", 1)[1]
    assert ("widget-view+json" in body, "data:image/svg+xml" in body) == (not still, still)


class Shell:
    """As much of IPython's as the widgets of a cell ask for."""

    def __init__(self) -> None:
        self.events, self.cell = EventManager(self, ["post_run_cell"]), ""  # type: ignore[no-untyped-call]

    def get_parent(self) -> dict[str, object]:
        return {"metadata": {"cellId": self.cell}}

    def run(self, cell: str, *shown: Widget) -> None:
        self.cell = cell
        for widget in shown:
            cell_widgets.note_shown(widget)
        self.events.trigger("post_run_cell", None)  # type: ignore[no-untyped-call]


def saved_models() -> set[str]:
    """The widgets that a notebook would hold if it were saved now."""
    return set(Widget.get_manager_state()["state"])


def test_a_cell_that_runs_again_leaves_nothing_of_before(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Shell()
    monkeypatch.setattr(cell_widgets, "get_ipython", lambda: shell)
    monkeypatch.setattr(cell_widgets, "SHOWN", {})
    theme_of_lab()  # which is there once, for all
    kept = HTML("shown in two cells")
    others = saved_models()
    first = ex.show("place-turns", ex.places("rope"))
    shell.run("a", first, kept)
    shell.run("b", kept)
    assert first.model_id in saved_models(), "what is shown stays"
    earlier = saved_models()
    again = ex.show("place-turns", ex.places("rope"))
    new = saved_models() - earlier
    shell.run("a", again)
    assert again.model_id in new and saved_models() == others | new
    revealed = ex.show("place-turns", ex.places("rope"))
    view = {"output_type": "display_data", "data": {cell_widgets.VIEW: {"model_id": revealed.model_id}}, "metadata": {}}
    shell.run("c", Output(outputs=(view,)))
    shell.run("c", HTML("another"))
    assert len(saved_models() - others - new) == 3, "the text with its layout and style; nothing of what an answer revealed"
    shell.run("b", kept)
    assert kept.model_id in saved_models(), "and what is shown once more"


def test_a_still_has_few_bytes_and_its_colours() -> None:
    rng = np.random.default_rng(0)
    picture = rng.integers(256, size=(200, 3), dtype="uint8")[rng.integers(200, size=(300, 300))]
    png = io.BytesIO()
    Image.fromarray(picture).save(png, "PNG")
    smaller = base64.b64decode(fewer_bytes(base64.b64encode(png.getvalue()).decode()))
    assert len(smaller) < 0.6 * len(png.getvalue())
    assert np.abs(np.asarray(Image.open(io.BytesIO(smaller)).convert("RGB")).astype(int) - picture).mean() < 12


def test_a_packed_module_is_the_module() -> None:
    packed = re.search(r'atob\("([^"]+)"\)', str(Board._esm))
    assert packed is not None and gzip.decompress(base64.b64decode(packed[1])).decode() == module(live=True)


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
