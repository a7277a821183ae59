"""How the board looks, in a real browser: names, motions, telephones, and the encoder's board above the decoder's, linked with it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ALL, LONG, SENTENCE, Show, Visit, long
from playwright.sync_api import Page, expect
from test_board_browser import BOARD, close, middle, traced
from test_frame_browser import rested

import explorer as ex
from explorer.app.frame import addressed
from explorer.records import Trace

pytestmark = pytest.mark.browser
WRITTEN = """() => { const b = BOARD, found = [], own = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
    found.push({ text, px: parseFloat(this.font.match(/([\\d.]+)px/)[1]), x, y, right: this.textAlign === "right" });
    return own.call(this, text, x, y, most); };
  b.draw(); CanvasRenderingContext2D.prototype.fillText = own; return found; }""".replace("BOARD", BOARD)
CELLS = """([id, t, many]) => { const b = BOARD; b.t = t; b.fading = null; b.draw();
  const x = b.layout.boxes.find(x => x.id === id), g = b.parts.canvas.getContext("2d"), c = many || x.c;
  return Array.from({ length: x.r * c }, (_, n) => [...g.getImageData((x.x + (n % c + 0.5) * x.w / c) * b.dots,
    (x.y + (Math.floor(n / c) + 0.5) * x.h / x.r) * b.dots, 1, 1).data].slice(0, 3).join()); }""".replace("BOARD", BOARD)


CROSS = {"stream": "cross", "layer": 0, "head": 0, "station": "softmax", "row": 1, "col": 2}
LAST = f"{BOARD}.other.columns.at(-1).states.at(-1).m.a"
NAMES = ("transformer", "t5", "bart") if ALL else ("transformer",)


def at(page: Page, station: str) -> None:
    page.evaluate(f"s => {{ const b = {BOARD}; b.go(b.site.stations.indexOf(s)); b.held = []; b.point(-1, -1); }}", station)
    page.evaluate(f"cancelAnimationFrame({BOARD}.raf)")


def cells(page: Page, box: str, t: float, columns: int = 0) -> np.ndarray:
    """The colours of the cells of a box, in the middle of each, at a moment of the motion."""
    return np.array(page.evaluate(CELLS, [box, t, columns]))


@LONG
@pytest.mark.parametrize("width", [390, *long(1280)])
def test_names_are_twelve_dots_high_and_do_not_overlap(show: Show, width: int) -> None:
    trace = ex.trace(ex.load("gpt2", device="cpu"), f"{SENTENCE} " * 4, blocks=True)
    page = show(trace, width=width, view={"stream": "decoder", "layer": 0, "station": "softmax", "row": 9})
    written = page.evaluate(WRITTEN)
    assert min(entry["px"] for entry in written) >= 12
    rows = sorted(entry["y"] for entry in written if entry["right"] and entry["text"] in {*trace.source.texts})
    assert len(rows) > 12 and np.diff(rows).min() >= 12
    assert trace.source.texts[9] in {entry["text"] for entry in written}, "the name of the row that is pointed at"


@LONG
def test_a_bias_slides_in_by_distance(show: Show, bert: Any) -> None:
    model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", positions="alibi")
    page = show(ex.trace(model, SENTENCE, blocks=True))
    at(page, "bias")
    before, after, half = (cells(page, "S", t) for t in (0, 1, 0.4))
    rows, columns = np.divmod(np.arange(len(before)), 16)
    far = np.ceil(4 * 0.4**3 * 16)
    changed = before != after
    near = np.abs(rows - columns) <= far
    assert (changed & near).sum() > 20 and (changed & ~near).sum() > 20
    assert (half == np.where(near, after, before)).all()


@LONG
def test_the_most_active_units_light_first(show: Show, bert: Any) -> None:
    model = ex.build("bert", size="tiny", tokenizer=bert.tokenizer, seed=0, device="cpu", hidden=16)
    trace = ex.trace(model, SENTENCE, blocks=True)
    page = show(trace, view={"stream": "encoder", "layer": 0, "head": 0, "station": "narrow"})
    at(page, "units")
    after, half = cells(page, "u", 1, 16), cells(page, "u", 0.5, 16)
    units = np.abs(trace.block("encoder", 0, "feed-forward").units).reshape(-1)
    bound = page.evaluate(f"{BOARD}.columns.find(c => c.id === 'u').states[0].m.top") / 2
    assert 5 < (units > bound).sum() < units.size / 2
    assert (half == after)[units > bound].all(), "the strongest are as they will be"
    assert len(set(half[units < bound])) == 1, "the others wait"


@LONG
def test_a_wide_board_fills_its_width_at_every_layer(show: Show) -> None:
    trace = traced("bert")
    page = show(trace)
    for width, layer in itertools.product((1120, 1500, 2300), (0, len(trace.attention) - 1)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(
            f"at => {{ const b = {BOARD}; b.choose(at, 0, false); b.go(b.site.stations.length - 1); b.size(); }}", layer
        )
        boxes, wide, high = page.evaluate(f"(x => [x.boxes, x.wide, x.high])({BOARD}.layout)")
        assert wide > width - 60 and high < 900
        assert 0 <= wide - max(b["x"] + b["w"] for b in boxes) <= 24 + max(0, width - 2200)


@LONG
def test_columns_that_come_later_leave_their_room_to_what_is_there(show: Show) -> None:
    page = show(traced("bert"), width=1280, height=800)
    placed = f"{BOARD}.layout.boxes.map(b => [b.id, [b.x, b.w]])"
    go = f"name => {{ const b = {BOARD}; b.go(b.site.stations.indexOf(name)); b.t = 1; }}"
    page.evaluate(go, "softmax")
    early, words = dict(page.evaluate(placed)), page.evaluate(f"{BOARD}.layout.ledger")
    assert not early.keys() & {"o", "s1", "u", "s2", "next"}
    assert words["x"] + words["w"] >= page.evaluate(f"{BOARD}.layout.wide") - 10, "the words have all of it"
    page.evaluate(go, "add1")
    later = dict(page.evaluate(placed))
    assert later["s1"][1] > 3 * later["o"][1] and not later.keys() & {"u", "s2"}
    assert all(later[name] == early[name] for name in ("x", "q", "S", "z")), "what came stays where it is"


@pytest.mark.parametrize("width", (700, 900))
def test_what_is_pointed_at_does_not_move_the_board_under_the_hand(show: Show, width: int) -> None:
    page = show(traced("bert"), width=width, height=900)
    page.evaluate(f"{BOARD}.go({BOARD}.site.stations.indexOf('softmax'))")
    before, thumb = (
        page.locator("canvas").bounding_box(),
        page.evaluate(f"{BOARD}.thumbs.find(t => t.site === 1 && t.head === 3)"),
    )
    for _ in range(2):
        page.mouse.move(before["x"] + thumb["x"] + 5, before["y"] + thumb["y"] + 5)
        expect(page.locator(".operands")).to_contain_text("Its weights go to")
        assert page.locator("canvas").bounding_box() == before
        page.mouse.move(2, 2)
    page.mouse.click(before["x"] + thumb["x"] + 5, before["y"] + thumb["y"] + 5)
    assert page.evaluate(f"[{BOARD}.at, {BOARD}.head]") == [1, 3]


@LONG
def test_on_a_telephone_the_player_is_below_and_a_list_chooses_the_token(show: Show) -> None:
    trace = traced("bert")
    page = show(trace, width=390, height=844)
    for station in range(page.evaluate(f"{BOARD}.site.stations.length")):
        page.evaluate(f"n => {BOARD}.go(n)", station)
        bar, title = (page.locator(element).bounding_box() for element in (".board > .bar", ".board .title"))
        assert bar is not None and title is not None and title["y"] < 100
        assert bar["y"] > 600 and bar["y"] + bar["height"] <= 844, "the player keeps its place under the thumb"
    page.get_by_label("Token", exact=True).select_option("animal")
    assert page.evaluate(f"{BOARD}.cursor.row") == trace.source.texts.index("animal")
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(page.get_by_label("Token", exact=True)).to_be_hidden()


def test_on_a_telephone_keys_and_values_have_the_names_of_their_tokens(show: Show) -> None:
    page = show(traced("bert"), width=390, height=844)
    named = page.evaluate(f"""() => {{ const b = {BOARD}, g = b.parts.canvas.getContext("2d"), write = g.fillText.bind(g), found = [];
        b.go(b.site.stations.indexOf("qkv"));
        g.fillText = (text, ...place) => {{ if (text === b.cols[b.cursor.col]) found.push(text); write(text, ...place); }};
        b.draw();
        return [found.length, b.rows.indexOf(b.cols[b.cursor.col])]; }}""")
    assert named[0] >= 2, f"the key and the value of token {named[1]}"


def test_a_board_begins_as_it_was_looked_at(visit: Visit, tmp_path: Path) -> None:
    looked: dict[str, Any] = {"held": [[4, 7], [9, 2]], "words": True, "hidden": True, "threshold": 0.2}
    board = ex.board(traced("bert"), layer=0, head=1, station="softmax", row=4, col=7, **looked)
    page = visit(ex.save(board, tmp_path / "x.html").as_uri())
    expect(page.locator(".holds")).to_contain_text("because → animal")
    assert page.evaluate(f"{BOARD}.view()") == board.view
    page.locator(".looks summary").click()
    expect(page.get_by_role("button", name="words")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Hide weights below")).to_have_value("0.2")
    page.keyboard.press("Tab")
    page.locator("canvas").focus()
    for key in ("Escape", "w", "h"):
        page.keyboard.press(key)
    page.get_by_label("Hide weights below").fill("0")
    left = page.evaluate(f"{BOARD}.view()")
    assert left == {name: board.view[name] for name in ("stream", "layer", "head", "station", "row", "col")}


@LONG
def test_the_address_of_a_board_holds_how_it_is_looked_at(visit: Visit) -> None:
    page = visit("/attention?part=walk&board=encoder.0.1.qk.4.7.w_a20_h4-7", height=720)
    rested(page)
    expect(page.locator(".board .holds")).to_contain_text("held: not → river")
    page.locator(".looks summary").click()
    expect(page.get_by_role("button", name="words")).to_have_attribute("aria-pressed", "true")
    page.locator(".board canvas").focus()
    for _ in range(3):  # an idle mask is passed over
        page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"board=encoder\.0\.1\.mix\.4\.7\.w_a20_h4-7"))
    page.keyboard.press("w")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"board=encoder\.0\.1\.mix\.4\.7\.a20(&|$)"))


@LONG
def test_a_step_of_the_tour_begins_where_its_address_says_and_shows_no_more_than_it_is_about(visit: Visit) -> None:
    page = visit("/attention?step=7&part=walk&board=encoder.0.1.qk.4.7", height=720)
    rested(page)
    strip = page.locator(".st-key-tour")
    expect(strip).not_to_contain_text("Now you know")
    expect(page.locator(".board .choices")).to_be_hidden()
    page.locator(".board canvas").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"board=encoder\.0\.1\.mix\.4\.7"))
    expect(strip).to_contain_text("Now you know")


@LONG  # the place of a board is in the address, as above
def test_a_board_is_where_it_was_after_another_part_of_the_page(visit: Visit) -> None:
    page = visit("/attention")
    rested(page)
    page.locator(".board canvas").focus()
    page.keyboard.press("6")
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile(r"board=encoder\.3\.2\.softmax"))
    where = page.locator(".board .where").inner_text()
    for part in ("Both masks", "Walk"):
        page.get_by_role("radio", name=part).click(force=True)
        expect(page).to_have_url(re.compile(f"part={addressed(part)}"))  # the page has heard of it
        rested(page)
    expect(page.locator(".board .stations [aria-current]")).to_have_attribute("data-station", "softmax")
    expect(page.locator(".board .where")).to_have_text(where)
    page.get_by_label("Your sentence").fill("The walrus was tired.")
    page.get_by_label("Your sentence").press("Enter")
    expect(page.locator("[role=grid]")).to_have_attribute("aria-rowcount", re.compile("^(?!16$)"))
    expect(page.locator(".board .stations [aria-current]")).to_have_attribute("data-station", "softmax")


@LONG
def test_the_whole_board_comes_into_view_on_a_low_screen(visit: Visit) -> None:
    page = visit("/attention?part=walk", height=720)
    rested(page)
    page.locator(".board .play").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".board canvas")).to_be_in_viewport(ratio=1)
    expect(page.locator(".board .play")).to_be_in_viewport(ratio=1)
    seen = page.locator(".board .play").evaluate(
        "(one) => { const { left, top } = one.getBoundingClientRect(), page = document.elementFromPoint(left + 5, top + 5);"
        " return (page.shadowRoot ?? document).elementFromPoint(left + 5, top + 5) === one; }"
    )
    assert seen, "nothing of the page lies over its player"


def translated(model: Any) -> Trace:
    return ex.trace(model, "The dog was tired.", target="Le chien est fatigué.", blocks=True)


def uneven(tokenizer: Any) -> Trace:
    """Three layers that read, one that writes, and two texts of different length."""
    shape: dict[str, Any] = {"encoder_layers": 3, "layers": 1, "dim": 32, "heads": 4}
    model = ex.build("transformer", size="tiny", tokenizer=tokenizer, seed=0, device="cpu", **shape)
    return ex.trace(model, "The old dog was tired because it was late.", target="Le chien.", blocks=True)


def check_link(page: Page, trace: Trace) -> None:
    """The upper board ends with the states that cross-attention reads, and the key that is pointed at is its row."""
    layer = max(attention.layer for attention in trace.attention if attention.stream == "encoder")
    block = trace.block("encoder", layer, "feed-forward")
    close(page.evaluate(f"Array.from({LAST})"), block.normed if block.place == "post" else block.total)
    page.mouse.move(*middle(page, "S", 0, 1))
    assert page.evaluate(f"{BOARD}.other.cursor.row") == 1
    assert page.evaluate(f"{BOARD}.other.layout.boxes[0].y < {BOARD}.layout.boxes[0].y")


@LONG
@pytest.mark.parametrize("name", NAMES)
def test_the_encoder_s_board_lies_above_and_is_linked(show: Show, name: str) -> None:
    trace = translated(ex.load(name, device="cpu"))
    page = show(trace, view=CROSS)
    check_link(page, trace)
    page.wait_for_function(f"!{BOARD}.fading")
    layer = max(attention.layer for attention in trace.attention if attention.stream == "encoder")
    for place, waits in ((f"encoder layer {layer}", "decoder"), ("decoder layer 0", "encoder")):
        box = page.evaluate(f"{BOARD}.other.layout.boxes.find(b => b.id === 'S')")
        page.locator("canvas").click(position={"x": box["x"] + 3, "y": box["y"] + 3})
        expect(page.locator(".where")).to_contain_text(place)
        assert page.evaluate(f"{BOARD}.other.site.stream") == waits
        assert waits == "encoder" or page.evaluate(f"{BOARD}.other.step") == -1, "the decoder waits below"


@LONG
@pytest.mark.parametrize("width", [390, 850, 1280] if ALL else [390])
def test_unequal_depths_and_lengths_fit_above_each_other(show: Show, width: int) -> None:
    trace = uneven(ex.load("transformer", device="cpu").tokenizer)
    page = show(trace, view=CROSS, width=width)
    if width == 390:
        assert page.evaluate(f"{BOARD}.other.layout") is None, "one station at a time"
        page.set_viewport_size({"width": 1280, "height": 900})
        page.wait_for_function(f"{BOARD}.other.layout")
    wide = page.viewport_size
    assert wide is not None
    check_link(page, trace)
    boxes, high = page.evaluate(f"[[...{BOARD}.layout.boxes, ...{BOARD}.other.layout.boxes], {BOARD}.layout.high]")
    assert all(b["x"] >= 0 and b["x"] + b["w"] <= wide["width"] and b["y"] + b["h"] <= high for b in boxes)


@LONG
def test_keys_and_values_come_down_from_the_encoder(show: Show) -> None:
    trace = translated(ex.load("transformer", device="cpu"))
    page = show(trace, view=CROSS | {"station": "qkv"})
    expect(page.locator(".title")).to_have_text("Keys and values come from the encoder")
    page.mouse.move(*middle(page, "k", 3, 1))
    expect(page.locator(".operands")).to_contain_text("row of the encoder's last states · column 3 of W_K")
    dot = f"""t => {{ const b = {BOARD}, v = b.layout.boxes.find(x => x.id === 'v'), edge = b.other.edge; b.t = t; b.draw();
      return [...b.parts.canvas.getContext('2d')
        .getImageData((v.x + v.w - 4) * b.dots, (edge + v.y) / 2 * b.dots, 1, 1).data].slice(0, 3); }}"""
    before, after = (np.array(page.evaluate(dot, t)) for t in (0, 1))
    assert (before == 255).all() and (after < 250).any(), "the ribbon hangs in the space between the boards"
