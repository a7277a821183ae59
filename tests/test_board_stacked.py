"""The encoder's board above the decoder's, in a real browser: its numbers, what links the two, and the way from one to the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import ALL, Show
from playwright.sync_api import Page, expect
from test_board_browser import BOARD, close, middle

import explorer as ex
from explorer.records import Trace

pytestmark = pytest.mark.browser
CROSS = {"stream": "cross", "layer": 0, "head": 0, "station": "softmax", "row": 1, "col": 2}
LAST = f"{BOARD}.other.columns.at(-1).states.at(-1).m.a"
NAMES = ("transformer", "t5", "bart") if ALL else ("transformer",)


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
