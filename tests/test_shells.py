"""Files and notebooks: the same picture, and its numbers."""

from __future__ import annotations

import csv
import functools
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from conftest import LONG, Visit, long
from typed import process, typed
from typer.testing import CliRunner

import explorer as ex
from explorer import cli
from explorer.models.transformer import TransformerModel
from explorer.records import Attention, Trace
from explorer.views import VIEWS, export, lab, notebook, theme
from explorer.views.notebook import PLOTLY


@LONG
def test_the_numbers_are_those_of_the_record(trace: Trace, tmp_path: Path) -> None:
    path = ex.save(VIEWS["heads"](trace, layer="encoder layer 1"), tmp_path / "x.csv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    weights = trace.attention[1].weights
    assert len(rows) == weights.size
    shown = ex.show(ex.views["heads"], trace, mode="dark", layer="encoder layer 1")
    assert ex.save(shown, tmp_path / "y.csv").read_bytes() == path.read_bytes(), "a notebook's picture can be saved, too"
    for row in rows[:: len(rows) // 50]:
        head, i, j = int(row["trace"].split()[1]), int(row["row_number"]), int(row["column_number"])
        assert float(row["value"]) == weights[head, i, j]
        assert (row["row"], row["column"]) == (trace.source.texts[i], trace.source.texts[j])


def test_the_page_holds_everything_asks_for_nothing_and_leaves_the_figure_as_it_was(trace: Trace, tmp_path: Path) -> None:
    figure = VIEWS["attention"](trace)
    before = figure.to_json()
    path = ex.save(figure, tmp_path / "x.html", caption=VIEWS["attention"].caption, mode="dark")
    text = path.read_text("utf-8")
    assert figure.to_json() == before and path.stat().st_size < 2_500_000
    page = re.sub(r'<script type="text/plain".*?</script>', "", text, flags=re.S)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page), "no address outside"
    assert "<em>why</em>" in page and "You may conclude" in page and "<td>" not in page, (
        "the table is made when it is asked for"
    )
    assert not re.search("@(TITLE|CAPTION|TABLE|DATA|PLOTLY)@", page)
    assert 'aria-label="encoder layer 0, head 0: weights' in page


def test_a_token_cannot_break_out_of_the_page(bert: TransformerModel, tmp_path: Path) -> None:
    record = ex.trace(bert, "</script><script>alert(1)</script> <img src=x onerror=alert(2)> @DATA@ dog")
    text = ex.save(VIEWS["attention"](record), tmp_path / "x.html", caption="</p><script>alert(3)</script>").read_text("utf-8")
    assert "<script>alert" not in text and "<img" not in text


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", *long("dark")])
def test_pictures_are_drawn(trace: Trace, tmp_path: Path, mode: str) -> None:
    figure = VIEWS["attention"](trace)
    svg = ex.save(figure, tmp_path / "x.svg", mode=mode).read_bytes()  # in a browser of its own
    with export.drawing():
        png, pdf = (ex.save(figure, tmp_path / f"x.{kind}", mode=mode).read_bytes() for kind in ("png", "pdf"))
    assert pdf[:5] == b"%PDF-" and pdf.rstrip().endswith(b"%%EOF") and b"/MediaBox" in pdf
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and len(png) > 20_000
    assert b"<svg" in svg[:200] and b"animal" in svg


def test_without_a_browser_a_picture_says_so_and_offers_html(
    trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export.shutil, "which", lambda name: None)
    for kind in ("png", "svg", "pdf"):
        with pytest.raises(ex.ExplorerError, match=r"needs Chrome or Chromium.*none was found.*\.html"):
            ex.save(VIEWS["attention"](trace), tmp_path / f"x.{kind}")
    assert ex.save(VIEWS["attention"](trace), tmp_path / "x.html").is_file()


@LONG
@pytest.mark.browser
def test_a_saved_page_has_a_table_and_one_button(trace: Trace, tmp_path: Path, visit: Visit) -> None:
    """The table is made of the figure's own numbers; the only stops of the tab key are the two that do something."""
    page = visit(ex.save(VIEWS["attention"](trace, head=2), tmp_path / "x.html").as_uri())
    page.wait_for_selector("body[data-drawn=yes]")
    stops = "() => [...document.querySelectorAll('button, a, summary, input, [tabindex]')].filter((e) => e.tabIndex >= 0)"
    assert page.evaluate(stops + ".map((e) => e.id || e.tagName)") == ["enlarge", "SUMMARY"]
    page.locator("summary").click()
    page.wait_for_selector("#numbers table")
    cells = page.locator("#numbers td").all_inner_texts()
    assert cells == [f"{float(value):.3f}" for value in trace.attention[0].weights[2].ravel()]
    assert page.locator("#numbers th[scope=row]").all_inner_texts() == list(trace.source.texts)
    assert page.locator("#figure").bounding_box()["height"] > 300  # type: ignore[index]
    page.locator("#enlarge").click()
    page.wait_for_function("() => document.fullscreenElement && document.getElementById('enlarge').textContent === 'Back'")
    page.keyboard.press("Escape")


@LONG
def test_a_long_text_with_many_heads_makes_a_small_page(tmp_path: Path, bert: TransformerModel) -> None:
    rng, count = np.random.default_rng(0), 502
    raw = rng.normal(0, 3, (12, count, count)).astype(np.float32)
    weights = np.exp(raw) / np.exp(raw).sum(-1, keepdims=True)
    allowed = np.ones((count, count), bool)
    first = Attention("encoder", 0, None, None, None, 1.0, allowed, weights)
    attention = tuple(replace(first, layer=layer, weights=weights[rng.permutation(12)]) for layer in range(6))
    tokens = bert.tokenizer.tokens(rng.integers(5, 900, count).tolist())
    figure = VIEWS["glance"](Trace("random", "encoder", tokens, None, attention, {}))
    assert ex.save(figure, tmp_path / "x.html").stat().st_size <= 8_000_000
    shown, pool = np.asarray(figure.data[0].z), 4
    tile = shown[:126, :126]  # layer 0, head 0: 126 squares of 4 × 4 weights
    cells, starts = attention[0].weights[0], range(0, count, pool)
    wanted = np.array([[cells[i : i + pool, j : j + pool].max() for j in starts] for i in starts])
    assert np.abs(tile - 255 * wanted / weights.max()).max() <= 0.5001
    assert "largest of 4 × 4" in figure.layout.title.text


def test_no_picture_catches_a_finger_or_the_tab_key() -> None:
    for mode in theme.MODES:
        layout = theme.template(mode).layout
        assert layout.dragmode is False and layout.xaxis.fixedrange and layout.yaxis.fixedrange
    assert export.ALONE["displayModeBar"] is False and "zoom2d" in export.CONFIG["modeBarButtonsToRemove"]


def drawn(shown: Any) -> dict[str, Any]:
    """The picture of a notebook as it is sent: data that JupyterLab draws by itself."""
    return shown.picture.outputs[0]["data"][PLOTLY]  # type: ignore[no-any-return]


def test_a_notebook_s_pictures_follow_its_theme(trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "theme_of_lab", functools.cache(lab.Theme))
    light, fixed = ex.show("attention", trace, head=1), ex.show("attention", trace, mode="light")

    def papers() -> list[str]:
        return [drawn(shown)["layout"]["template"]["layout"]["paper_bgcolor"] for shown in (light, fixed)]

    bright = papers()
    assert bright[0] == bright[1]
    notebook.theme_of_lab().mode = "dark"  # as the browser tells
    assert papers()[0] != bright[0] and papers()[1] == bright[1] and light.choices["head"] == 1
    after = ex.show("attention", trace)
    assert after.figure.layout.template.layout.paper_bgcolor == papers()[0], "one that is made in the dark begins so"


def test_a_notebook_redraws_its_own_picture_when_a_choice_changes_without_a_widget_of_plotly(trace: Trace) -> None:
    shown, other = ex.show("attention", trace, head=1), ex.show("attention", trace)
    assert isinstance(shown.figure, go.Figure) and shown.choices == {"layer": "encoder layer 0", "head": 1, "stage": "weights"}
    np.testing.assert_array_equal(np.asarray(shown.figure.data[0].z, np.float32), trace.attention[0].weights[1])
    shown.controls["layer"].value = "encoder layer 1"
    shown.controls["head"].value = 3
    np.testing.assert_array_equal(np.asarray(shown.figure.data[0].z, np.float32), trace.attention[1].weights[3])
    assert other.choices["head"] == 0
    np.testing.assert_array_equal(np.asarray(other.figure.data[0].z, np.float32), trace.attention[0].weights[0])
    before = drawn(shown)
    shown.controls["stage"].value = "masked"
    assert shown.figure.layout.coloraxis2.cmid == 0 and drawn(shown) != before == json.loads(
        json.dumps(before, allow_nan=False)
    )
    assert drawn(shown)["layout"]["title"]["text"] == shown.figure.layout.title.text
    assert not any("FigureWidget" in type(child).__name__ for child in shown.children), "its code would come too late"


def test_several_records_stand_side_by_side_with_one_caption(trace: Trace) -> None:
    several = ex.show("attention", [trace, trace], head=1, mode="dark")
    assert [picture.choices["head"] for picture in several.pictures] == [1, 1]
    captions = [child for child in widgets_in(several) if "You may conclude" in str(getattr(child, "value", ""))]
    assert len(captions) == 1
    with pytest.raises(ex.ExplorerError, match="this is a list"):
        ex.show("attention", [trace, 3])


def widgets_in(box: Any) -> list[Any]:
    """A widget and all inside it."""
    return [box, *(widget for child in getattr(box, "children", ()) for widget in widgets_in(child))]


def test_a_picture_in_a_notebook_fills_the_screen_and_comes_back(trace: Trace) -> None:
    shown = ex.show("attention", trace)
    before = drawn(shown)["layout"]["height"]
    shown.enlarge.height = before + 300  # as the browser tells
    assert drawn(shown)["layout"]["height"] == before + 300 and shown.figure.layout.height == before
    shown.enlarge.height = 0
    assert drawn(shown)["layout"]["height"] == before


def test_what_cannot_be_saved_is_refused(trace: Trace, tmp_path: Path) -> None:
    figure = VIEWS["attention"](trace)
    for shown, path, mode, says in (
        (figure, "x.jpg", "light", r"no file ending '\.jpg'"),
        (trace, "x.html", "light", "keeps this Trace"),
        (figure, "no/x.html", "light", "Could not write"),
        (figure, "x.html", "dusk", "no mode 'dusk'"),
        (go.Figure(go.Pie(labels=["a"], values=[1])), "pie.csv", "light", "pie"),
        (figure, "x\x00.html", "light", "is not a path"),
    ):
        with pytest.raises(ex.ExplorerError, match=says):
            ex.save(shown, tmp_path / path, mode=mode)
    for wrong in (None, 3):
        with pytest.raises(ex.ExplorerError, match="must be a text or a path"):
            ex.save(figure, wrong)  # type: ignore[arg-type]


def test_a_figure_of_another_maker_is_saved(tmp_path: Path) -> None:
    line, heat = go.Figure(go.Scatter(x=[1, 2], y=[3, 4])), go.Figure(go.Heatmap(z=[[1.0, 2.0], [3.0, 4.0]]))
    bars = go.Figure([go.Bar(x=["May", "June"], y=[1, float("nan")], name="b"), go.Scatter(y=[7])])
    for figure, rows in (
        (line, [",0,,0,1,3.0", ",0,,1,2,4.0"]),
        (bars, ["b,0,b,0,May,1.0", "b,0,b,1,June,", ",0,,0,0,7.0"]),
        (heat, [",1,1,1,1,4.0"]),
    ):
        assert ex.save(figure, tmp_path / "x.html").is_file()
        assert ex.save(figure, tmp_path / "x.csv").read_text().splitlines()[-len(rows) :] == rows


def test_unknown_views_and_choices_are_named(trace: Trace) -> None:
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        ("atention", trace, {}, "no view 'atention'. Did you mean 'attention'"),
        *(("attention", trace, choice, says) for choice, says in (({"head": 9}, "0 to 3"), ({"mode": "dusk"}, "no mode"))),
        *(("attention", other, {}, "does not fit: it draws what") for other in (object(), trace.attention[0], None)),
        (5, trace, {}, "view=5 must be"),
    ]
    for view, record, choice, says in cases:
        with pytest.raises(ex.ExplorerError, match=says):
            ex.show(view, record, **choice)
    with pytest.raises(ex.ExplorerError, match="no view 'x'"):
        _ = ex.views["x"]


@LONG
def test_the_command_line_answers_in_text_and_json(tmp_path: Path) -> None:
    def said(*arguments: str) -> str:
        return typed(*arguments, folder=tmp_path).stdout

    assert "bert" in said("models")
    assert {"bert", "gpt2"} <= {row["name"] for row in json.loads(said("models", "--json"))}
    traced = json.loads(said("trace", "bert", "The dog ran.", "--json", "--out", "t.npz"))
    assert traced["residual"] <= 1e-6 and traced["rows"][2]["token"] == traced["rows"][2]["piece"] == "dog"
    assert Trace.read(tmp_path / "t.npz").model == "bert"
    assert typed("trace", "gpt2", "dog", "--out", "t.html", folder=tmp_path).returncode == 0
    assert "model.safetensors" in json.loads(said("export", "gpt2", "hf", "--json"))["files"]
    assert json.loads(process("doctor", "--json", folder=tmp_path).stdout)["torch"].startswith("2.")
    for name in ("app", "lab", "models", "trace", "export", "doctor"):
        assert "--help" in CliRunner().invoke(cli.cli, [name, "--help"], catch_exceptions=False).output


@LONG
def test_the_command_line_survives_a_console_without_its_letters() -> None:
    for encoding in ("ascii", "cp1252"):
        env = {**os.environ, "PYTHONIOENCODING": encoding}
        run = subprocess.run([sys.executable, "-m", "explorer", "trace", "gpt2", "café 日本"], capture_output=True, env=env)
        assert run.returncode == 0 and b"Traceback" not in run.stderr


def test_the_command_line_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    for arguments in (("trace", "bret", "x"), ("trace", "bert", ""), ("trace", "bert", "x", "--out", "x.jpg")):
        run = typed(*arguments, folder=tmp_path)
        assert run.returncode == 2 and "Traceback" not in run.stderr and len(run.stderr.strip().splitlines()) == 1
