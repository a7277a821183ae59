"""The app, a notebook and an exported file in a real browser, with the network cut."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import re
import shutil
import statistics
import sys
import time
from pathlib import Path
from urllib.parse import urljoin

import nbformat
import numpy as np
import pytest
from conftest import ALL, LONG, Visit, long, some
from offline import ROOT, app_server, free_port, server
from PIL import Image
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as Late
from test_views import every_record

import explorer as ex
from explorer.training.jobs import CHILDREN, JobQueue, JobSpec
from explorer.views import VIEWS
from explorer.views.asking import PREDICTION

pytestmark = pytest.mark.browser
DRAWN = (  # a heat map is one image
    ".js-plotly-plot .hm image, .js-plotly-plot .barlayer .points, .js-plotly-plot .scatterlayer .lines path, "
    ".js-plotly-plot .scatterlayer .points path"
)
OPENING = ".opening[data-mode]"  # the first picture of the front page
BOARD = ".board[data-state=ready][data-mode]"  # a board says light or dark once a frame of it has been painted
LESSONS = {  # addresses, and what stands above their first picture
    "tokens": "merge 1",
    "attention?part=without-parameters": "Attention without parameters",
    "positions": "Position vectors",
    "corruption?part=every-strategy": "One text under every strategy",
    "training?part=step-size": "Learning rate",
}
CUT_OFF = """plot => {
  const frame = plot.getBoundingClientRect();
  const outside = box => box.left < frame.left - 1 || box.right > frame.right + 1 || box.width === 0;
  return [...plot.querySelectorAll(".xtick text, .ytick text, .gtitle")]
    .filter(text => outside(text.getBoundingClientRect())).map(text => text.textContent);
}"""
STICKS_OUT = """board => {
  const frame = board.getBoundingClientRect();
  const outside = box => box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1);
  const rolls = part => part !== board && (getComputedStyle(part).overflowX === "auto" || rolls(part.parentElement));
  return [...board.querySelectorAll("canvas, button, select, .stations, .title, .says, .ledger")]
    .filter(part => outside(part.getBoundingClientRect()) && !rolls(part.parentElement)).map(part => part.outerHTML.slice(0, 80));
}"""
SCREENS = [(mode, width) for mode in ("light", "dark") for width in (1280, 390)]
NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))


@LONG  # test_the_first_request_to_a_deep_link_opens_the_real_page begins with a new server, too
def test_the_first_picture_comes_within_ten_seconds(visit: Visit, tmp_path: Path) -> None:
    with app_server(tmp_path) as (address, outside):  # one that has shown nobody a page
        start = time.perf_counter()
        page = visit(address)
        page.wait_for_selector(OPENING, timeout=120_000)
        alone = "PYTEST_XDIST_WORKER" not in os.environ  # beside other tests on two cores it takes twice as long
        assert time.perf_counter() - start < (10 if alone else 30)
        assert outside.read_text() == ""
        page.close()  # before its server ends


@LONG
@pytest.mark.parametrize(("mode", "width"), some(SCREENS, ("dark", 390)))
def test_the_page_works_in_light_and_dark_wide_and_narrow(visit: Visit, mode: str, width: int) -> None:
    page = visit("/", mode, width)
    paper = {"light": "rgb(255, 255, 255)", "dark": "rgb(17, 21, 28)"}[mode]
    opening = page.locator(OPENING)
    expect(opening).to_have_attribute("data-mode", mode)
    expect(opening).to_have_css("background-color", paper)
    page.goto(urljoin(page.url, "/attention?part=walk"))
    board = page.locator(BOARD)
    expect(board).to_have_attribute("data-mode", mode)
    expect(board).to_have_css("background-color", paper)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out at the side"
    assert board.evaluate(STICKS_OUT) == [], "nothing sticks out of the board"
    page.goto(urljoin(page.url, "/?part=masks"))
    page.wait_for_selector(DRAWN, state="attached")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_have_css("background-color", paper)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out at the side"
    assert page.locator(".js-plotly-plot").first.evaluate(CUT_OFF) == [], "no label is cut off or left out"


@LONG
def test_every_choice_is_in_the_address_and_comes_back_from_it(visit: Visit) -> None:
    page = visit("/heads?part=combined")
    page.wait_for_selector(DRAWN, state="attached")
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name="gpt2", exact=True).click()
    combined = page.locator(".figure-title", has_text="all layers: ").first  # while it is drawn again there may be two
    expect(combined).to_contain_text("decoder, all layers: mean")
    page.get_by_label("Your sentence").fill("The walrus was tired.")
    page.get_by_label("Your sentence").press("Enter")
    expect(page.get_by_text("never seen in training").first).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text("rollout", exact=True).click()
    expect(combined).to_contain_text("decoder, all layers: rollout")
    shared = page.url
    assert "model=gpt2" in shared and "part=" in shared and "walrus" in shared and "rollout" in shared
    other = visit(shared)
    expect(other.locator(".figure-title", has_text="all layers: ")).to_contain_text("decoder, all layers: rollout")
    expect(other.get_by_label("Your sentence")).to_have_value("The walrus was tired.")
    other.goto(urljoin(other.url, "/tokens"))
    expect(other.locator(".staged .box").first).to_be_attached()
    expect(other.locator("[data-test-script-state=notRunning]")).to_be_attached()
    other.get_by_role("heading", name="Tokens", exact=True).click()  # the arrow keys step when no text is being written
    for key, step in (("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2)):  # it begins with the first merge
        settled(other)
        other.keyboard.press(key)
        expect(other).to_have_url(re.compile(f"merges.step={step}$"))
        expect(other.locator(".staged .title")).to_contain_text(f"merge {step}:")


@LONG
@pytest.mark.parametrize(
    "query",
    ["?model=nobody&attention.layer=x&attention.head=77&attention.stage=!&text=%3Cscript%3Ealert(1)%3C/script%3E",
     *long("?text=%3Cscript%3Ealert(1)%3C/script%3E", "?text=", "?text=%00%F0%9F%98%80", "?text=" + "word+" * 400)],
)  # fmt: skip
def test_odd_addresses_are_met_calmly(visit: Visit, query: str) -> None:
    page = visit("/heads?part=combined&" + query.removeprefix("?"))
    expect(page.locator(f"{DRAWN}, [data-testid=stAlert]").first).to_be_visible()
    assert page.get_by_text("Traceback").count() == 0 and page.locator("[data-testid=stException]").count() == 0


@LONG
def test_a_picture_can_be_taken_away(visit: Visit, tmp_path: Path) -> None:
    page = visit("/heads?part=combined")
    page.wait_for_selector(DRAWN, state="attached")
    page.get_by_role("button", name="Numbers · Files · Code").click()
    page.get_by_role("tab", name="Files and code").click()
    for kind in ("HTML", "CSV", "PNG", "SVG"):
        with page.expect_download(timeout=120_000) as waiting:
            page.get_by_role("button", name=kind, exact=True).first.click()
        target = tmp_path / f"x.{kind.lower()}"
        waiting.value.save_as(target)
        assert target.stat().st_size > 2000, kind


@LONG
def test_an_exported_file_draws_itself_from_disk(visit: Visit, tmp_path: Path) -> None:
    records = list(every_record(ex.load("bert", device="cpu"), ex.load("gpt2", device="cpu")).values())
    for number, (name, view) in enumerate(VIEWS.items() if ALL else list(VIEWS.items())[::20]):
        path = ex.save(
            view(next(record for record in records if not view.fits(record))), tmp_path / f"{name}.html", caption=view.caption
        )
        for mode, width in SCREENS if ALL else [SCREENS[number % 4]]:
            page = visit(path.as_uri(), mode, width)
            page.wait_for_selector("body[data-drawn=yes]")
            page.wait_for_selector(DRAWN, state="attached")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            page.close()


@LONG  # the front page is looked at on the narrowest screen above
@pytest.mark.parametrize(("mode", "width"), SCREENS)
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_fits_every_screen(visit: Visit, lesson: str, mode: str, width: int) -> None:
    page = visit(f"/{lesson}", mode, width)
    expect(page.locator(".figure-title", has_text=LESSONS[lesson]).first).to_be_visible()
    page.wait_for_timeout(1000)
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out at the side"
    for plot in page.locator(".js-plotly-plot").all():
        assert plot.evaluate(CUT_OFF) == [], "no label is cut off or left out"
    assert page.locator("[data-testid=stException]").count() == 0


INSIDE = "function inside(e) { const held = e.shadowRoot && e.shadowRoot.activeElement; return held ? inside(held) : e; }"


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the thing with this name has the keyboard; a page that is still being drawn may need another round."""
    says = "e => [e.innerText, e.ariaLabel, e.labels && e.labels[0] && e.labels[0].innerText].join(' ').slice(0, 80)"
    until = time.monotonic() + 30
    settled(page)
    while time.monotonic() < until:
        page.keyboard.press("Tab")
        if name in page.evaluate(f"({says})(({INSIDE})(document.activeElement))"):
            return
    raise AssertionError(f"no way to {name!r} with the Tab key")


def settled(page: Page) -> None:
    """Wait until the page is drawn: a key that comes while it is being drawn may not be heard."""
    for _ in range(2):
        page.wait_for_timeout(300)
        expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()


def walk_to(page: Page, section: str, lesson: str) -> None:
    """Open a section of the menu and go to one of its lessons, with the keyboard."""
    tab_to(page, section)
    page.keyboard.press("Enter")
    item = page.get_by_role("menuitem", name=lesson)
    expect(item).to_be_visible()
    expect(page.locator("[role=menuitem]:focus")).to_have_count(1)  # a menu takes the keyboard, and is walked with arrow keys
    arrow_to(page, item, page.get_by_role("menuitem"), "ArrowDown")
    page.keyboard.press("Enter")


def arrow_to(page: Page, wanted: Locator, every: Locator, key: str) -> None:
    """Press an arrow key until one of several is focused."""
    for _ in every.all():
        if wanted.evaluate("e => e === document.activeElement"):
            break
        page.keyboard.press(key)
    expect(wanted).to_be_focused()


def turn_to(page: Page, part: str) -> None:
    """Choose a part of the page with the keyboard: Tab goes to the bar of parts, arrow keys along it."""
    bar = page.locator(".st-key-bar [data-testid=stButtonGroup]").last
    tab_to(page, bar.get_by_role("radio", checked=True).inner_text())
    wanted = bar.get_by_role("radio", name=part, exact=True)
    arrow_to(page, wanted, bar.get_by_role("radio"), "ArrowRight")
    page.keyboard.press("Enter")
    expect(wanted).to_be_checked()


@LONG
def test_a_click_on_a_bar_forces_its_piece_and_temperature_moves_the_bars(visit: Visit) -> None:
    page = visit("/decoding?path=100", height=6000)
    bars = figure_titled(page, "Which token comes next?")
    click_on(page, bars, ".barlayer .point path", 1)
    expect(page).to_have_url(re.compile(r"path=100\.\d+(&|$)"))
    tab_to(page, "Temperature")
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("temperature=1"))


@LONG
def test_a_figure_that_fills_the_screen_has_its_title(visit: Visit) -> None:
    page = visit("/positions")
    title, drawn = page.locator(".figure-title").first, page.locator("[class*=st-key-titled] .js-plotly-plot").first
    drawn.hover()
    page.get_by_role("button", name="Fullscreen", exact=True).first.click()
    expect(page.get_by_role("button", name="Close fullscreen")).to_be_visible()
    above, below = title.bounding_box(), drawn.bounding_box()
    assert above is not None and below is not None and above["y"] >= 0 and above["y"] + above["height"] <= below["y"]
    on_top = "one => { const { x, y } = one.getBoundingClientRect(); return one.contains(document.elementFromPoint(x + 5, y + 12)); }"
    assert title.evaluate(on_top)


def figure_titled(page: Page, title: str) -> Locator:
    """The figure below this title."""
    titled = page.locator("[class*=st-key-titled]", has=page.locator(".figure-title", has_text=title))
    return titled.locator(".js-plotly-plot").first


def click_on(page: Page, plot: Locator, mark: str, which: int) -> None:
    """Click in the middle of one of a figure's marks, as a reader does: what lies above the marks hears the mouse."""
    marks = plot.locator(mark)
    expect(marks.first).to_be_attached()
    box = marks.nth(which).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(300)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@LONG
def test_attention_is_walked_through_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit("/heads?part=combined")
    page.wait_for_selector(DRAWN, state="attached")
    walk_to(page, "Inside", "Attention, step by step")
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    tab_to(page, "Play")
    page.keyboard.press("Tab")  # the keys of the board work wherever in it the focus is
    at = page.locator(".board .stations [aria-current]")
    names = page.locator(".board .stations button").evaluate_all("all => all.map(e => e.dataset.station)")
    assert len(names) == 16
    for name in names[1 : None if ALL else 6]:
        page.keyboard.press("ArrowRight")
        expect(at).to_have_attribute("data-station", name)
    page.keyboard.press("ArrowLeft")
    expect(at).to_have_attribute("data-station", names[-2 if ALL else 4])
    turn_to(page, "Why √dₖ")
    tab_to(page, "it stays the same")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".figure-title", has_text="Scores without and with")).to_be_visible()


@LONG
def test_positions_are_explored_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit("/")
    page.wait_for_selector(OPENING)
    walk_to(page, "Text", "Positions")
    expect(page.locator(".figure-title").first).to_contain_text("Position vectors")
    tab_to(page, "Position vectors")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".figure-title").first).to_contain_text("Dimensions over positions")
    turn_to(page, "Shuffle")
    tab_to(page, "no state changes")
    page.keyboard.press("Space")
    expect(page.locator(".figure-title", has_text="Another order: bert")).to_be_visible()
    expect(page.get_by_text("a bag of words", exact=False).last).to_be_visible()


@pytest.mark.skipif(not ALL, reason="a training and two visitors take minutes: make test-all")
def test_nobody_is_held_up_while_one_trains(
    visit: Visit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One visitor watches a training and finds it again after a reload; another goes from page to page meanwhile."""
    monkeypatch.setenv("EXPLORER_HOME", str(tmp_path / "home"))
    bench, name = JobQueue(tmp_path / "home" / "trainings"), ""
    port = free_port()
    address, arguments = f"http://127.0.0.1:{port}", ["streamlit", "run", "app.py", "--server.port", str(port)]
    with server(arguments, f"{address}/_stcore/health", tmp_path) as outside:
        try:
            walked(visit, address)  # the first visitor opens the models for all
            quiet = walked(visit, address)
            name = bench.begin(JobSpec("gpt2", "toy", 5000, plan={"batch": 8}))
            page = visit(address)
            page.goto(f"{address}/training?part=train-one")
            page.get_by_label("Run ID").fill(name)
            page.get_by_label("Run ID").press("Enter")
            expect(page.get_by_text("of 5,000. It ends in about")).to_be_visible(timeout=120_000)
            shared, begun = page.url, bench.state(name).step
            assert f"training={name}" in shared
            busy = [seconds for _ in range(2) for seconds in walked(visit, address)]
            again = visit(shared)
            expect(again.get_by_text("of 5,000. It ends in about")).to_be_visible()
            assert bench.state(name).step > begun, "it trains while others read"
            again.get_by_role("button", name="Stop").click()
            expect(again.get_by_text("It can be resumed from there")).to_be_visible()
            expect(page.get_by_text("It can be resumed from there")).to_be_visible()
            assert outside.read_text() == ""
            page.close()
            again.close()
        finally:
            ended(bench, name)
    with capsys.disabled():
        for label, times in (("nobody trains", quiet), ("one trains", busy)):
            sys.stdout.write(f"\npage changes while {label}: median {statistics.median(times):.2f} s, p95 {p95(times):.2f} s")
    assert p95(busy) < 1.5 * (6 if "PYTEST_XDIST_WORKER" not in os.environ else 12), "generous: other tests share these cores"


def p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


def ended(bench: JobQueue, name: str) -> None:
    """Stop a training, and wait until its process is gone."""
    while name and (bench.state(name).alive or any(child.poll() is None for child in CHILDREN)):
        bench.stop(name)
        time.sleep(0.1)


def walked(visit: Visit, address: str) -> list[float]:
    """The seconds until each lesson's first picture stands, for a visitor who goes through them all, and lets each be drawn."""
    page, seconds = visit(address), []
    page.wait_for_selector(OPENING)
    for lesson, title in LESSONS.items():
        if not lesson.startswith("training"):
            start = time.perf_counter()
            page.goto(f"{address}/{lesson}")
            expect(page.locator(".figure-title", has_text=title).first).to_be_visible(timeout=120_000)
            seconds.append(time.perf_counter() - start)
            expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
            page.wait_for_timeout(1000)
    page.close()
    return seconds


def run_all_cells(page: Page, drawn: str = DRAWN) -> None:
    """As a student does: choose a kernel where JupyterLab asks for one, then Run, Run All Cells; again if nothing came of it."""
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]", timeout=120_000)
    page.wait_for_timeout(3_000)  # widgets register with the kernel after it first says idle
    started = page.locator(".jp-CodeCell .jp-InputPrompt").first
    for _ in range(6):
        with contextlib.suppress(Late):
            for dialog in page.locator(".jp-Dialog .jp-mod-accept").all():
                dialog.click(timeout=5_000)
            page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click(timeout=5_000)
            page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click(timeout=5_000)
            with contextlib.suppress(AssertionError):  # a run that began is waited for; one that did not is asked for again
                expect(started).to_have_text(re.compile(r"\[(\*|\d+)\]"), timeout=15_000)
                page.wait_for_selector(drawn, state="attached", timeout=120_000)
                return
    raise AssertionError("the notebook drew nothing")


def answered(page: Page) -> None:
    """Run All shows nothing that a question is about; with an answer to each prediction all of it comes."""
    waits = page.get_by_text("It is shown when you have answered.")
    drawn = page.locator(f"{DRAWN}, {BOARD}").count()
    for question in page.locator(f".{PREDICTION}").all():
        question.locator("input").first.click()  # not `check`: the answer may draw the choices anew
    if held := waits.count():
        expect(waits).to_have_count(0)
        for _ in range(100):
            if page.locator(f"{DRAWN}, {BOARD}").count() > drawn:
                return
            page.wait_for_timeout(100)
        raise AssertionError(f"{held} reveals show nothing")


CLEAR = "background: rgba(0, 0, 0, 0);"  # a figure of the notebook's own, through which its page shows
PAPER = f'.js-plotly-plot:not(:has(.main-svg:first-child[style="{CLEAR}"])) .main-svg'
WITHOUT_CONTROLS = ("00_start.ipynb", "09_elmo.ipynb", "11_prompting.ipynb")  # their pictures have nothing to choose from


@LONG
@pytest.mark.parametrize("notebook", NOTEBOOKS if ALL else ["03_attention.ipynb"])
def test_a_notebook_runs_in_jupyterlab(visit: Visit, tmp_path: Path, notebook: str) -> None:
    """Opened and run as a student does; pictures and controls must be on the screen, and move."""
    shutil.copy(ROOT / "notebooks" / notebook, tmp_path / notebook)
    port = free_port()
    arguments = ["jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0", "--ip=127.0.0.1",
                 f"--notebook-dir={tmp_path}", "--IdentityProvider.token=", "--ServerApp.password=",
                 f"--LabApp.app_settings_dir={ROOT / 'notebooks' / 'settings'}"]  # fmt: skip
    (tmp_path / "logs").mkdir()
    with server(arguments, f"http://127.0.0.1:{port}/lab", tmp_path / "logs", path=(ROOT,)) as outside:
        page = visit(f"http://127.0.0.1:{port}/lab/tree/{notebook}", height=5000)  # all of it is drawn
        run_all_cells(page)
        expect(page.locator(".jp-CodeCell .jp-InputPrompt").last).to_have_text(re.compile(r"\[\d+\]:"), timeout=300_000)
        assert page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
        answered(page)
        before = page.locator(".js-plotly-plot").all_text_contents()
        assert before
        if notebook not in WITHOUT_CONTROLS:
            choice = page.locator(".widget-dropdown select:has(option:nth-child(2))").first
            choice.select_option(index=0 if choice.evaluate("e => e.selectedIndex") else 1)
            for _ in range(40):  # a busy kernel takes its time
                page.wait_for_timeout(500)
                if page.locator(".js-plotly-plot").all_text_contents() != before:
                    break
            assert page.locator(".js-plotly-plot").all_text_contents() != before, "a control moves a picture"
            bright = page.locator(PAPER).first.get_attribute("style")
            page.evaluate("document.body.dataset.jpThemeLight = 'false'")  # as JupyterLab says that its theme is dark
            expect(page.locator(PAPER).first).not_to_have_attribute("style", str(bright))
        still_when_saved(page, tmp_path / notebook)
        assert outside.read_text() == ""
        page.close()


def still_when_saved(page: Page, path: Path) -> None:
    """Saved, every picture of a cell is an image, too, which is not on the screen beside it; as a page it needs no kernel."""
    from nbconvert import HTMLExporter

    page.wait_for_timeout(2000)
    assert page.locator(".jp-OutputArea-child:visible .jp-RenderedImage img").count() == 0
    changed = page.locator(".lm-TabBar-tab.jp-mod-dirty")
    for _ in range(12):  # a picture that is drawn while the file is written makes it unsaved once more
        page.locator(".jp-CodeCell .jp-InputPrompt").first.click()
        page.keyboard.press("Control+s")
        page.wait_for_timeout(5000)
        if changed.count() == 0:
            break
    expect(changed).to_have_count(0)
    page.wait_for_timeout(1000)
    saved = nbformat.read(path, as_version=4)
    data = [output.get("data", {}) for cell in saved.cells for output in cell.get("outputs", ())]
    titles = {view.title for view in VIEWS.values()}
    shown = [number for number, one in enumerate(data) if "text/html" in one and one["text/plain"] in titles]
    images = [base64.b64decode(data[number + 1]["image/png"]) for number in shown]
    assert images and all(len(Image.open(io.BytesIO(one)).convert("L").getcolors()) > 2 for one in images), "none is empty"
    assert all(np.median(Image.open(io.BytesIO(one)).convert("L")) > 128 for one in images), (
        "and each is light, on a dark page too"
    )
    html, _ = HTMLExporter(template_name="lab").from_notebook_node(saved)
    assert html.count("data:image/png;base64,") >= len(images) and len(html) <= 3_000_000
