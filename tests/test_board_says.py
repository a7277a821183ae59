"""What the board says beside its picture, in a real browser: of a number, in the grid for a screen reader, of what was edited."""

from __future__ import annotations

import re

import numpy as np
import pytest
from conftest import SENTENCE
from playwright.sync_api import Page, expect
from test_board import header
from test_board_browser import BOARD, Show, middle, traced

import explorer as ex
from explorer.records import Edit, Trace
from explorer.views.board.pack import pack

pytestmark = pytest.mark.browser


def said(number: float) -> str:
    """A number as the board writes it."""
    return f"{number:.{1 if abs(number) >= 100 else 2 if abs(number) >= 10 else 3}f}".replace("-", "−")


def go(page: Page, station: str) -> None:
    page.evaluate(f"s => {BOARD}.go({BOARD}.site.stations.indexOf(s))", station)
    page.wait_for_function(f"{BOARD}.t === 1 && !{BOARD}.fading")


def test_queries_and_keys_are_said_before_and_after_their_position_turns_them(show: Show) -> None:
    trace = traced("llama")
    attention, head, row, dim = trace.attention[0], 1, 4, 3
    page = show(trace, view={"stream": "decoder", "layer": 0, "head": head, "station": "qkv"})
    assert (
        attention.q is not None
        and attention.projected_q is not None
        and attention.k is not None
        and attention.projected_k is not None
    )
    group = head // (attention.heads // len(attention.k))
    page.wait_for_function(f"{BOARD}.t === 1")
    for box, cell, before, after in (
        ("q", (row, dim), attention.projected_q[head, row, dim], attention.q[head, row, dim]),
        ("k", (dim, row), attention.projected_k[group, row, dim], attention.k[group, row, dim]),
    ):
        assert said(before) != said(after)
        go(page, "qkv")
        page.mouse.move(*middle(page, box, *cell))
        expect(page.locator(".operands")).to_contain_text(f"= {said(before)}")
        go(page, "turn")
        page.mouse.move(*middle(page, box, *cell))
        expect(page.locator(".pair")).to_contain_text(f"{box}′, dimension {dim}")
        expect(page.locator(".operands")).to_contain_text(f"= {said(after)}")
        expect(page.locator(".operands")).to_contain_text(f"{said(before)} in {box}")


def test_the_grid_holds_the_numbers_of_the_last_stations_too(show: Show) -> None:
    trace = traced("bert")
    last = len(trace.attention) - 1
    page = show(trace, view={"stream": "encoder", "layer": 0, "station": "up", "row": 2, "col": 0})
    first = page.get_by_role("gridcell").nth(0)
    expect(first).to_have_accessible_name(f"animal, dimension 0: {said(float(trace.hidden['encoder'][1][2][0]))}")
    assert trace.top is not None
    page.evaluate(f"{BOARD}.choose({last}, 0)")
    go(page, "next")
    texts, p = trace.top.texts[2], np.exp(trace.top.logp[2])
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="animal", exact=True))
    expect(row.get_by_role("gridcell").nth(0)).to_have_text(re.compile(re.escape(texts[0]) + r" [\d.<]+"))
    expect(row.get_by_role("gridcell")).to_have_count(len(texts))
    share = row.get_by_role("gridcell").nth(0).inner_text().split(" ")[-2]
    assert abs(float(share) / 100 - p[0]) < 0.006
    page.get_by_text("The numbers as a table").click()
    expect(page.locator(".field td").first).to_contain_text(trace.top.texts[0][0])


def test_a_trace_without_blocks_says_the_model_s_own_numbers(show: Show) -> None:
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE)
    output, after = trace.attention[0].output, trace.hidden["encoder"][1]
    assert not trace.blocks and output is not None
    page = show(trace, view={"stream": "encoder", "layer": 0, "head": 1, "station": "wo", "row": 3})
    expect(page.locator(".operands")).to_contain_text(f"= {said(output[3][0])}")
    go(page, "up")
    expect(page.locator(".operands")).to_contain_text(f"hands on: {said(after[3][0])}")


@pytest.mark.parametrize(
    ("edit", "heads", "says"),
    [
        (ex.SilenceHead("encoder", 0, 1), [], "This output was edited"),
        (ex.Uniform("encoder", 0, 1), [1], "These weights were edited"),
        (ex.NoScale("encoder"), [], ""),
        (ex.SilenceLayer("encoder", 0, "attention"), [], ""),
    ],
)
def test_only_what_an_edit_set_is_called_edited(show: Show, edit: Edit, heads: list[int], says: str) -> None:
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE, blocks=True, edits=[edit])
    assert header(pack(trace))["sites"][0]["edited"] == heads
    view = {"stream": "encoder", "layer": 0, "head": 1, "station": "softmax" if heads else "mix", "row": 4, "col": 7}
    page = show(trace, view=view)
    expect(page.locator(".operands")).to_contain_text(says or "strongest first")
    check_weights(page, trace)
    page.get_by_label("Head", exact=True).select_option("0")
    expect(page.locator(".operands")).not_to_contain_text("edited")
    go(page, "wo")
    off = isinstance(edit, ex.SilenceLayer)
    expect(page.locator(".operands")).to_contain_text("Switched off: all of this output is 0." if off else "of W_O, + bias")
    expect(page.locator(".gap")).to_contain_text(re.compile(r"difference from the model's own numbers: weights \d"))


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_without_a_residual_connection_nothing_is_said_to_be_added(show: Show, name: str) -> None:
    model = ex.load(name, device="cpu")
    stream = model.family
    trace = ex.trace(model, SENTENCE, blocks=True, edits=[ex.NoResidual(stream, 0, "attention")])
    block = trace.block(stream, 0, "attention")
    page = show(trace, view={"stream": stream, "layer": 0, "head": 0, "station": "add1", "row": 3})
    expect(page.locator(".operands")).to_contain_text(f"x is not added\n= {said(block.total[3][0])}", use_inner_text=True)
    go(page, "add2")
    block = trace.block(stream, 0, "feed-forward")
    given, out, total = (said(sublayer[3][0]) for sublayer in (block.given, block.out, block.total))
    added = f"({out})" if out.startswith("−") else out
    expect(page.locator(".operands")).to_contain_text(f"{given} + {added} = {total}")
    expect(page.locator(".gap")).to_contain_text(re.compile(r"first sum and norm (0|\de-\d)"))


def check_weights(page: Page, trace: Trace) -> None:
    """Weights and outputs of all heads of the first layer are the model's."""
    attention = trace.attention[0]
    for head in range(attention.heads):
        values = page.evaluate(f"h => {BOARD}.numbers(0, h)", head)
        for stage in ("weights", "context"):
            assert np.abs(np.array(values[stage]) - attention.stage(stage, head).reshape(-1)).max() < 1e-5
