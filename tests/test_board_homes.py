"""The same hands in all three homes of the board: a saved file, a page of the app, JupyterLab; offline, and no error in the console."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import nbformat
import numpy as np
import pytest
from conftest import ALL, LONG, SENTENCE, Visit
from offline import ROOT, free_port, server
from playwright.sync_api import CDPSession, Page, expect
from test_board_browser import BOARD, middle

import explorer as ex

pytestmark = pytest.mark.browser
HOMES = ("file", "app", "notebook") if ALL else ("file",)


BOARDS = {  # what a notebook's cell draws, and the page of the app that has the like
    "board": f"""trace = ex.trace(ex.load("bert"), {SENTENCE!r}, blocks=True)
ex.board(trace, stream="encoder", layer=0, head=1, station="softmax", row=4, col=7)""",
    "series": f"""masks = [None, [ex.SetMask("encoder", np.tril(np.ones((16, 16), bool)))]]
traces = [ex.trace(ex.load("bert", device="cpu"), {SENTENCE!r}, blocks=True, edits=edits) for edits in masks]
ex.board(traces, labels=["seen", "masked"], layer=0, head=1, station="softmax")""",
    "text": """model = ex.load("transformer", device="cpu")
steps = tuple(ex.decode(model, "The dog was tired.", "beam", beams=3, max_tokens=12))
trace = ex.trace(model, "The dog was tired.", target=steps[-1].ids.tolist(), blocks=True)
ex.board(trace, steps=steps, stream="cross", layer=0, head=0, station="softmax")""",
}
PAGES = {
    "board": f"attention?board=encoder.0.1.softmax.4.7&text={quote(SENTENCE)}",
    "series": "whatif?edit=look%20everywhere%20alike&whatif.board=encoder.0.1.softmax.4.7",
    "text": "decoding?part=translation&source=The%20dog%20was%20tired.&writing.board=cross.0.0.softmax.1.1",
}


@contextmanager
def opened_at(home: str, kind: str, visit: Visit, folder: Path) -> Iterator[Page]:
    """A board in one of its homes."""
    if home == "app":
        yield visit(f"/{PAGES[kind]}")
    elif home == "notebook":
        with in_jupyterlab(visit, folder, f"import numpy as np\n{BOARDS[kind]}") as page:
            yield page
    else:
        *lines, last = BOARDS[kind].splitlines()
        known = {"ex": ex, "np": np}
        exec("\n".join(lines), known)
        yield visit(ex.save(eval(last, known), folder / "x.html").as_uri())


@contextmanager
def in_jupyterlab(visit: Visit, folder: Path, cell: str) -> Iterator[Page]:
    """A notebook of this cell, run."""
    from test_browser import run_all_cells

    begin = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport explorer as ex\n"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(begin + cell)]), folder / "b.ipynb")
    (folder / "logs").mkdir()
    port = free_port()
    arguments = ["jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--port-retries=0", "--ip=127.0.0.1",
                 f"--notebook-dir={folder}", "--IdentityProvider.token=", "--ServerApp.password=",
                 f"--LabApp.app_settings_dir={ROOT / 'notebooks' / 'settings'}"]  # fmt: skip
    with server(arguments, f"http://127.0.0.1:{port}/lab", folder / "logs"):
        page = visit(f"http://127.0.0.1:{port}/lab/tree/b.ipynb", height=1600)
        run_all_cells(page, ".board[data-state=ready]")
        yield page
        page.close()


def state(page: Page, what: str) -> Any:
    """Something of the board, which is `b`."""
    return page.evaluate(f"(() => {{ const b = {BOARD}; return {what}; }})()")


def ready(page: Page) -> None:
    """Wait until the board stands still, and in view."""
    expect(page.locator(".board[data-state=ready]")).to_be_visible()
    page.locator(".board canvas").scroll_into_view_if_needed()
    page.wait_for_function(f"{BOARD}.t === 1 && !{BOARD}.fading")


def choose_the_first(page: Page) -> None:
    """Back to the layer and the head at which the board began, by its lists."""
    page.get_by_label("Layer", exact=True).and_(page.locator(".layer")).select_option("0")
    page.get_by_label("Head", exact=True).and_(page.locator(".head")).select_option("1")


def drag(page: Page, row: int, col: int, up: float) -> None:
    """Drag the weight of a cell."""
    x, y = middle(page, "S", row, col)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - up, steps=3)
    page.mouse.up()
    ready(page)


def stations_and_keys(page: Page) -> None:
    """Buttons and keys: stations, rows, columns, heads, layers, a digit, the help."""
    current = page.locator(".stations [aria-current]")
    page.get_by_role("button", name="One station on").click()
    expect(current).to_have_attribute("data-station", "mix")
    page.locator(".board canvas").focus()
    page.keyboard.press("ArrowLeft")
    expect(current).to_have_attribute("data-station", "softmax")
    page.keyboard.press("3")
    expect(current).to_have_attribute("data-station", "qk")
    page.keyboard.press("6")
    ready(page)
    most = [int(state(page, f"b.strongest({row})")) for row in range(6)]  # another row is pointed at where it reads most
    wanted = ([5, most[5]], [5, most[5] - 1], [4, most[4]], [4, most[4] + 1])
    for key, cell in zip(("ArrowDown", "Shift+ArrowUp", "ArrowUp", "Shift+ArrowDown"), wanted, strict=True):
        page.keyboard.press(key)
        assert state(page, "[b.cursor.row, b.cursor.col]") == cell
    page.keyboard.press("]")
    page.keyboard.press(".")
    expect(page.locator(".where")).to_contain_text("encoder layer 1, head 2")
    page.keyboard.press("[")
    page.keyboard.press(",")
    expect(page.locator(".where")).to_contain_text("encoder layer 0, head 1")
    page.keyboard.press("?")
    expect(page.locator(".help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".help")).to_be_hidden()


def pointing_and_holding(page: Page) -> None:
    """Hover previews, a click holds, a second with Shift too, Esc releases; the square of another head opens it."""
    ready(page)
    page.mouse.move(*middle(page, "S", 9, 2))
    expect(page.locator(".pair")).to_have_text("because → animal")
    page.mouse.click(*middle(page, "S", 9, 2))
    page.keyboard.down("Shift")
    page.mouse.click(*middle(page, "S", 4, 7))
    page.keyboard.up("Shift")
    expect(page.locator(".holds")).to_contain_text("because → animal · ' → the")
    page.keyboard.press("Escape")
    expect(page.locator(".holds")).to_have_text("")
    at, thumb = page.locator(".board canvas").bounding_box(), state(page, "b.thumbs.find(t => t.site === 1 && t.head === 3)")
    assert at is not None
    page.mouse.move(at["x"] + thumb["x"] + 5, at["y"] + thumb["y"] + 5)
    expect(page.locator(".operands")).to_contain_text("Its weights go to")
    page.mouse.click(at["x"] + thumb["x"] + 5, at["y"] + thumb["y"] + 5)
    expect(page.locator(".where")).to_contain_text("encoder layer 1, head 3")
    choose_the_first(page)
    expect(page.locator(".where")).to_contain_text("encoder layer 0, head 1")


def ways_to_look(page: Page) -> None:
    """Words, special tokens, a threshold, heads by what they do, the numbers as a table, speed."""
    for key, what in (("w", "words"), ("h", "hiding")):
        page.locator(".board canvas").focus()
        page.keyboard.press(key)
        assert state(page, f"b.{what}") is True
        page.keyboard.press(key)
        assert state(page, f"b.{what}") is False
    page.locator(".looks summary").click()
    page.get_by_label("Hide weights below").fill("0.2")
    assert state(page, "b.faint") == 0.2
    page.get_by_label("Hide weights below").fill("0")
    page.get_by_label("Colour all heads by").select_option("spread")
    assert state(page, "b.habit") == "spread"
    assert state(page, "[b.at, b.head]") == state(page, "[b.peek.site, b.peek.head]"), "the head that does it most is opened"
    page.get_by_label("Colour all heads by").select_option("")
    choose_the_first(page)
    page.get_by_text("The numbers as a table").click()
    expect(page.locator(".field td")).to_have_count(256)
    page.get_by_text("The numbers as a table").click()
    page.get_by_label("Speed").select_option("2")
    page.locator(".looks summary").click()
    assert state(page, "b.speed") == 2


def hands(page: Page) -> None:
    """A weight is dragged, pushed by its slider and by keys, and every change is taken back."""
    page.locator(".board canvas").focus()
    page.keyboard.press("6")
    ready(page)
    weight = "b.numbers(0, 1).weights[4 * 16 + 7]"
    own = state(page, weight)
    drag(page, 4, 7, 40)
    assert state(page, weight) > own + 0.1
    page.get_by_label("This weight α").fill("0.7")
    assert abs(state(page, weight) - 0.7) < 1e-6
    while page.get_by_role("button", name="Undo", exact=True).is_visible():
        page.locator(".board canvas").focus()
        page.keyboard.press("z")
    assert abs(state(page, weight) - own) < 1e-6


def playing(page: Page) -> None:
    """It plays and pauses by its button and by the space bar, and can be shown on the whole screen."""
    page.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function(f"{BOARD}.playing")
    page.locator(".board canvas").focus()
    page.keyboard.press("Space")
    page.wait_for_function(f"!{BOARD}.playing")
    page.keyboard.press("p")
    expect(page.locator(".board.presenter")).to_be_visible()
    page.wait_for_function(f"!{BOARD}.asking")
    page.evaluate(f"{BOARD}.fullscreen()")
    expect(page.locator(".board.presenter")).to_have_count(0)


def swiping(page: Page) -> None:
    """A finger that moves sideways goes one station on or back; one that moves down scrolls the page, and no station."""
    ready(page)
    at = page.locator(".board canvas").bounding_box()
    assert at is not None
    hand, begin = page.context.new_cdp_session(page), state(page, "b.step")
    hand.send("Emulation.setTouchEmulationEnabled", {"enabled": True, "maxTouchPoints": 1})
    middle_x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 3
    for far, down, wanted in ((-90, 0, begin + 1), (90, 0, begin), (0, -90, begin)):
        finger(hand, middle_x, y, far, down)
        page.wait_for_function(f"{BOARD}.step === {wanted}")
    hand.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    hand.detach()


def finger(hand: CDPSession, x: float, y: float, far: float, down: float) -> None:
    """One stroke of a finger on the screen."""
    hand.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in (0.3, 0.6, 1.0):
        hand.send(
            "Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x + far * part, "y": y + down * part}]}
        )
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def saving(page: Page) -> None:
    """The picture is taken away as a file by its key."""
    page.locator(".board canvas").focus()
    with page.expect_download() as waiting:
        page.keyboard.press("s")
    assert Path(waiting.value.path()).read_bytes().startswith(b"\x89PNG")


def moving_along(page: Page) -> None:
    """The moments of a series, by keys and by the slider; what is held stays."""
    label = page.locator(".time b")
    ready(page)
    page.mouse.click(*middle(page, "S", 5, 2))
    first = label.inner_text()
    page.locator(".board canvas").focus()
    page.keyboard.press("t")
    expect(label).not_to_have_text(first)
    assert state(page, "b.held") == [{"row": 5, "col": 2}]
    page.keyboard.press("Shift+T")
    expect(label).to_have_text(first)
    page.get_by_label("Moment of the series").fill("1")
    expect(label).not_to_have_text(first)
    assert state(page, "b.view().moment") == 1


def writing_again(page: Page) -> None:
    """A text row by row, by keys and by the slider."""
    page.locator(".board canvas").focus()
    label = page.locator(".time b")
    page.keyboard.press("d")
    expect(label).to_contain_text("(1 of")
    page.keyboard.press("d")
    expect(label).to_contain_text("(2 of")
    page.keyboard.press("Shift+D")
    expect(label).to_contain_text("(1 of")
    page.get_by_label("Tokens written").fill(str(state(page, "b.rows.length")))
    ready(page)


def dragging(page: Page) -> None:
    """A weight under a hand, and the way back."""
    weight = "b.numbers(b.at, b.head).weights[2 * b.cols.length + 2]"
    ready(page)
    own = state(page, weight)
    drag(page, 2, 2, -40 if own > 0.5 else 40)
    assert abs(state(page, weight) - own) > 0.1
    page.locator(".board canvas").focus()
    page.keyboard.press("z")
    assert abs(state(page, weight) - own) < 1e-6


def to_the_other_board(page: Page) -> None:
    """From the decoder's board to the encoder's above it, and back down."""
    for wanted in ("encoder layer", "decoder layer 0"):
        ready(page)
        other_board = state(page, "b.other.layout.boxes.find(x => x.id === 'S')")
        page.locator(".board canvas").click(position={"x": other_board["x"] + 3, "y": other_board["y"] + 3})
        expect(page.locator(".where")).to_contain_text(wanted)


HANDS = {
    "board": (stations_and_keys, pointing_and_holding, ways_to_look, hands, playing, swiping, saving),
    "series": (moving_along,),
    "text": (dragging, writing_again, to_the_other_board),
}


@LONG
@pytest.mark.parametrize("kind", HANDS)
@pytest.mark.parametrize("home", HOMES)
def test_every_hand_works_in_every_home(visit: Visit, tmp_path: Path, home: str, kind: str) -> None:
    with opened_at(home, kind, visit, tmp_path) as page:
        ready(page)
        for part in HANDS[kind]:
            part(page)


@LONG  # test_a_notebook_s_board_runs_its_model_again is its shorter test
def test_a_notebook_masks_a_token_and_takes_it_back(visit: Visit, tmp_path: Path) -> None:
    cell = f"bert = ex.load('bert')\nex.board(ex.trace(bert, {SENTENCE!r}, blocks=True), model=bert, station='softmax', row=2, col=3)"
    with in_jupyterlab(visit, tmp_path, cell) as page:
        ready(page)
        page.locator(".board canvas").focus()
        page.keyboard.press("m")
        page.get_by_role("menuitem", name="Mask it").click()
        expect(page.locator("[role=rowheader]", has_text="[MASK]")).to_be_attached()
        wanted = ex.trace(ex.load("bert", device="cpu"), SENTENCE.replace("animal", "[MASK]")).attention[0].weights[1]
        page.wait_for_function(f"{BOARD}.rows[2].includes('MASK')")
        assert np.abs(np.array(state(page, "b.numbers(0, 1).weights")) - wanted.reshape(-1)).max() < 1e-5
        page.locator(".board canvas").focus()
        page.keyboard.press("z")
        page.wait_for_function(f"{BOARD}.rows[2] === 'animal'")
        page.locator(".board .looks summary").click()
        page.get_by_role("button", name="Silence head").click()
        expect(page.locator(".gap")).to_contain_text("silenced")
