"""The notebooks as pages: every picture is an image in the file, nothing is fetched, and answers are on the teachers' page alone."""

from __future__ import annotations

import base64
import io
import re
import unicodedata
from html import unescape
from itertools import pairwise
from pathlib import Path

import nbformat
import numpy as np
import pytest
from conftest import ALL, LONG, Visit
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image
from playwright.sync_api import Browser
from test_notebooks import FORMULA, NOTEBOOKS, check_formula

import explorer as ex
from explorer.app.lessons import SENTENCE
from explorer.errors import ChoiceError
from explorer.views import theme
from studies import board_picture, site
from studies.mathml import formulas, mathml
from studies.still_widgets import fitted

SOME = NOTEBOOKS if ALL else [path for path in NOTEBOOKS if path.stem == FORMULA]
LOADED = re.compile(r"""<(?:script|link|iframe|img)\b[^>]*?\b(?:src|href)\s*=\s*(?!["']?data:)|@import|url\(["']?https?:""")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site."""
    folder = tmp_path_factory.mktemp("site")
    site.main([path.stem for path in SOME], folder)
    return folder


def test_the_rule_notices_what_is_loaded() -> None:
    assert LOADED.search('<script src="https://x.org/a.js">') and LOADED.search("<img alt='' src='a.png'>")
    assert not LOADED.search('<img src="data:image/png;base64,AA"> <a href="https://x.org">x</a> <script>1</script>')


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_every_picture_is_an_image_in_the_file(written: Path, path: Path) -> None:
    done = nbformat.read(written / path.name, as_version=4)
    code = "\n".join(cell.source for cell in done.cells if cell.cell_type == "code")
    shown = len(re.findall(r"(?<!ex\.save\()ex\.(?:show|board)\(", code))  # what is saved is not shown
    kinds = [output.get("data", {}) for cell in done.cells for output in cell.get("outputs", ())]
    images = [data["image/png"] for data in kinds if "image/png" in data]
    boards = [data["image/svg+xml"] for data in kinds if "image/svg+xml" in data]
    assert shown and len(images) + len(boards) >= shown
    if path.stem == FORMULA:
        check_formula(done)
    for image in images:
        drawn = Image.open(io.BytesIO(base64.b64decode(image))).convert("RGB")
        assert drawn.width > 600 and len(drawn.getcolors(1 << 24) or ()) > 8, "an empty picture has two or three colours"
    assert not any("widget-view" in name for data in kinds for name in data) and "widgets" not in done.metadata


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_a_page_is_small_and_drawn_without_a_network(written: Path, visit: Visit, path: Path) -> None:
    file = (written / path.name).with_suffix(".html")
    assert file.stat().st_size <= 3_000_000 and not loads(file.read_text("utf-8"))
    page = visit(file.as_uri())
    widths = page.eval_on_selector_all("img", "all => all.map(one => one.complete ? one.naturalWidth : 0)")
    assert widths and all(widths)
    page.evaluate(
        "document.querySelectorAll('.jp-CodeCell .jp-InputArea').forEach(one => one.remove())"
    )  # code may name a widget
    text = page.inner_text("body")
    assert "import explorer as ex" not in text and not re.search(r"FORMULA|\$\$|\$[\\]|\$d_|ipywidget|Widget\(", text)
    assert page.locator("math").count() >= text_formulas(path), "questions have formulas, too"


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("mode", theme.MODES)
def test_a_page_and_its_pictures_are_light_or_dark_as_its_reader_is(browser: Browser, tmp_path: Path, mode: str) -> None:
    drawn = np.full((300, 800, 3), 255, np.uint8)
    drawn[:, 400:] = 0x08, 0x40, 0x7E  # paper, and blue
    out = io.BytesIO()
    Image.fromarray(drawn).save(out, "PNG")
    image = new_output("display_data", {"image/png": base64.b64encode(out.getvalue()).decode()})
    cells = [new_markdown_cell("# A picture\n\nIts words."), new_code_cell(f"x = '{'long ' * 60}'", outputs=[image])]
    site.write(new_notebook(cells=cells), tmp_path / "a")
    shown = browser.new_page(color_scheme="dark" if mode == "dark" else "light", viewport={"width": 390, "height": 800})
    shown.goto((tmp_path / "a.html").as_uri())
    paper = tuple(int(theme.PAPER[mode][at : at + 2], 16) for at in (1, 3, 5))
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == f"rgb{paper}"
    words = [
        int(part) for part in re.findall(r"\d+", shown.evaluate("getComputedStyle(document.querySelector('h1')).color"))[:3]
    ]
    assert min(words) > 200 if mode == "dark" else max(words) < 50
    picture = shown.locator(".jp-RenderedImage")
    with Image.open(io.BytesIO(picture.screenshot())) as seen:
        assert seen.convert("RGB").getpixel((100, 150)) == paper, "the paper of a picture is that of the page"
    picture.evaluate("box => { box.scrollLeft = 400; }")
    assert picture.evaluate("box => box.scrollLeft") == 400 and shown.evaluate("document.documentElement.scrollWidth") == 390
    with Image.open(io.BytesIO(picture.screenshot())) as seen:
        red, _, blue = np.asarray(seen.convert("RGB"), int)[150:250, 100:200].mean((0, 1))
    assert blue > red + 30, "blue stays blue"
    code = shown.locator(".highlight pre").first
    assert code.evaluate("box => [box.scrollWidth > box.clientWidth, getComputedStyle(box).overflowX]") == [True, "auto"]
    shown.close()


def loads(page: str) -> bool:
    """Whether a page, or a page in a frame of it, asks for anything that it does not hold."""
    inside = [unescape(framed) for framed in re.findall(r'srcdoc="([^"]*)"', page)]
    return any(LOADED.search(part) for part in (re.sub(r'srcdoc="[^"]*"', "", page), *inside))


def test_a_formula_in_a_heading_stays_out_of_its_address() -> None:
    page = site.page(new_notebook(cells=[new_markdown_cell("## From a random start to $\\hat\\theta$\n\nThe loss at $t$.")]))
    heading = re.search(r"<h2[^>]*>.*?</h2>", page, re.DOTALL)
    assert heading and heading[0].count("<math") == 1 and heading[0].count("<math") == heading[0].count("</math>")
    assert 'id="From-a-random-start-to"' in heading[0] and "FORMULA" not in page and page.count("<math") == 2


def test_what_a_frame_loads_is_noticed() -> None:
    assert loads('<iframe srcdoc="&lt;script src=&quot;https://x.org/a.js&quot;&gt;"></iframe>')
    assert loads('<img src="a.png">') and loads("<style>@import 'x'</style>")
    assert not loads('<iframe srcdoc="&lt;link rel=&quot;icon&quot; href=&quot;data:,&quot;&gt;"></iframe><img src="data:,">')


@LONG
def test_a_page_with_many_pictures_keeps_fewer_dots_of_each() -> None:
    rng, out = np.random.default_rng(0), io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (200, 300, 3), dtype=np.uint8)).save(out, "PNG")
    full = base64.b64encode(out.getvalue()).decode()

    def widths(limit: int) -> tuple[int, int]:
        shown = [new_output("display_data", {"image/png": full}) for _ in range(3)]
        done = fitted(new_notebook(cells=[new_code_cell("", outputs=shown)]), limit)
        first = done.cells[0].outputs[0]
        return Image.open(io.BytesIO(base64.b64decode(first.data["image/png"]))).width, first.metadata["image/png"]["width"]

    assert widths(10**9) == (225, 150) and widths(300_000) == (188, 150)
    assert widths(1) == (150, 150), "never fewer than a screen shows"


def text_formulas(path: Path) -> int:
    cells = nbformat.read(path, as_version=4).cells
    return sum(len(formulas(cell.source)) for cell in cells if cell.cell_type == "markdown")


@LONG
@pytest.mark.browser
def test_answers_are_on_the_page_for_teachers_alone(written: Path) -> None:
    trace = ex.trace(ex.load("bert"), SENTENCE, blocks=True)
    exercises = ex.lesson("attention").exercises(trace)
    solved = nbformat.read(written / "solutions.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in solved.cells)
    handed = unescape((written / "03_attention.html").read_text("utf-8"))
    for exercise in exercises:
        where = text.index(exercise.question)
        assert f"**{exercise.shown}**. {exercise.why}" in text[where : where + 2000]
        assert exercise.why not in handed
    assert len(re.findall(r"^\*\*\d+\.\*\*", text, re.M)) >= len(exercises) + 2, "the guesses, too"


def test_the_front_page_s_picture_is_short_small_and_moves() -> None:
    with Image.open(board_picture.PICTURE) as picture:
        stays, frames = [], []
        for number in range(getattr(picture, "n_frames", 1)):
            picture.seek(number)
            frames.append(np.asarray(picture.convert("RGB"), np.int16))
            stays.append(picture.info["duration"])
    assert sum(stays) <= 12_000 and board_picture.PICTURE.stat().st_size <= 500_000 and frames[0].shape[1] >= 1000
    rests = [frame for frame, stay in zip(frames, stays, strict=True) if stay >= 1000]
    assert len(rests) == len(board_picture.STATIONS)
    assert all(float(np.abs(a - b).mean()) > 1 for a, b in pairwise(rests)), "each station has a picture of its own"


def test_a_notebook_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChoiceError, match="03_attention"):
        site.main(["04_atention"], tmp_path)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_formula_keeps_all_of_its_letters(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        for _, formula, block in formulas(cell.source) if cell.cell_type == "markdown" else ():
            body = mathml(formula, block=block).split("<annotation")[0]
            signs = re.sub(r"\\[A-Za-z]+|\\.|[{}^_\s-]", "", re.sub(r"\\(max|min|log|sin|cos|arg)\b", r"\1", formula))
            kept = unicodedata.normalize("NFKC", unescape(re.sub(r"<[^>]+>", "", body)))  # ℒ is an L
            for sign in set(signs):
                assert kept.count(sign) >= signs.count(sign), (formula, sign)
            assert not set("{}_\\") & set(re.sub(r"\|", "", kept)) and kept.count("^") <= formula.count(
                "\\hat"
            ) + formula.count("\\{")


def test_formulas_are_built_as_their_brackets_say() -> None:
    assert "<msubsup><mi>W</mi><mi>e</mi>" in mathml(r"W_e^\top")
    assert "<mfrac><mi>a</mi><mrow><mi>b</mi><mi>c</mi></mrow></mfrac>" in mathml(r"\frac a{bc}")
    assert "<munderover><mo>&#x02211;</mo><mrow><mi>i</mi><mo" in mathml(r"\sum_{i=1}^n x", block=True)
    assert "<msubsup><mo>&#x02211;</mo>" in mathml(r"\sum_{i=1}^n x") and "<munder><mo>max" in mathml(r"\max_x y", block=True)
    assert "√" in mathml(r"\sqrt{x}") and "<mi>arg</mi>" in mathml(r"\arg\max_x").replace("<mo>", "<mi>").replace(
        "</mo>", "</mi>"
    )
    for wrong in (r"\nonsense x", r"\frac{a", "a_", "}"):
        with pytest.raises(ChoiceError):
            mathml(wrong)
