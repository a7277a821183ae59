"""What the board says beside its picture, in a real browser: of a number, in its grid, of what was edited, why a key does nothing."""

from __future__ import annotations

import re

import numpy as np
import pytest
from conftest import LONG, SENTENCE, Show, long
from playwright.sync_api import Page, expect
from test_board import header
from test_board_browser import BOARD, middle, traced

import explorer as ex
from explorer.records import Attention, Edit, Trace
from explorer.views.board.pack import pack

pytestmark = pytest.mark.browser
ROW, COL, HEAD = 10, 2, 3


def said(number: float) -> str:
    """A number as the board writes it."""
    return f"{number:.{1 if abs(number) >= 100 else 2 if abs(number) >= 10 else 3}f}".replace("-", "−")


def go(page: Page, station: str) -> None:
    page.evaluate(f"s => {BOARD}.go({BOARD}.site.stations.indexOf(s))", station)
    page.wait_for_function(f"{BOARD}.t === 1 && !{BOARD}.fading")


def board_at(show: Show, station: str, name: str = "bert", **place: int) -> tuple[Page, Attention]:
    """The board of the first layer of a model, at rest at a station, and what that layer attends to."""
    trace = traced(name)
    view = {"stream": trace.attention[0].stream, "layer": 0, "head": 0, "station": station, **place}
    page = show(trace, view=view, motion="reduce")
    page.wait_for_function(f"{BOARD}.t === 1")
    return page, trace.attention[0]


def table_of(page: Page) -> dict[str, list[float]]:
    """The table below the board: a row's name and its numbers."""
    return {
        line.locator("th").inner_text(): [float(cell.replace("−", "-")) for cell in line.locator("td").all_inner_texts()]
        for line in page.locator(".field tr").all()[1:]
    }


@LONG
def test_a_held_score_lists_all_its_products(show: Show) -> None:
    page, attention = board_at(show, "qk", head=HEAD)
    q, k, v = (np.asarray(part)[HEAD] for part in (attention.q, attention.k, attention.v))
    page.get_by_text("The numbers as a table").click()
    page.mouse.click(*middle(page, "S", ROW, COL))
    expect(page.locator(".field tr")).to_have_count(4)
    rows = table_of(page)
    np.testing.assert_allclose(rows["q"], q[ROW], atol=1e-3)
    np.testing.assert_allclose(rows["k"], k[COL], atol=1e-3)
    assert abs(sum(rows["q×k"]) - float(q[ROW] @ k[COL])) < 2e-2
    go(page, "qkv")
    page.keyboard.press("Escape")
    page.mouse.click(*middle(page, "v", COL, 5))
    expect(page.locator(".field")).to_contain_text("Values: a row for each token.")
    np.testing.assert_allclose(list(table_of(page).values())[-1], v[-1], atol=1e-3)


@LONG
def test_a_number_of_z_says_whose_it_is_and_before_the_heads_are_joined_it_is_of_the_chosen_head(show: Show) -> None:
    page, attention = board_at(show, "concat", head=HEAD)
    contexts = attention.weights @ np.asarray(attention.v)
    (x, y), (wide, _) = middle(page, "z", ROW, 0), middle(page, "z", ROW, 1)
    dims = contexts.shape[-1]
    page.mouse.move(x + (2 * dims + 9) * (wide - x), y)
    expect(page.locator(".operands")).to_contain_text("dimension 9 of z in head 2\n", use_inner_text=True)
    expect(page.locator(".operands")).to_contain_text(f"= {said(contexts[2, ROW, 9])}")
    for station in ("softmax", "mix"):
        go(page, station)
        page.mouse.move(*middle(page, "z", ROW, 20))  # its column has room for all four heads
        expect(page.locator(".pair")).to_contain_text("z, dimension 5")
        expect(page.locator(".operands")).to_contain_text(f"= {said(contexts[HEAD, ROW, 5])}")


@LONG
@pytest.mark.parametrize(
    ("name", "root", "normalised"), [("bert", True, True), *long(("gpt2", True, False)), ("deberta", False, True)]
)
def test_a_scale_is_called_the_root_and_an_embedding_normalised_where_it_is(
    show: Show, name: str, root: bool, normalised: bool
) -> None:
    page, attention = board_at(show, "scale", name, row=ROW, col=COL)  # DeBERTa divides by √(3 dₖ)
    way = f"Dividing by {'√dₖ = ' if root else ''}{said(1 / attention.scale)} is multiplying by {said(attention.scale)}."
    expect(page.locator(".operands")).to_contain_text(way)
    assert (abs(1 / attention.scale - np.asarray(attention.q).shape[-1] ** 0.5) < 1e-3) == root
    go(page, "x")
    heads, _, wide = np.asarray(attention.q).shape
    for dim in range(0, heads * wide, 16):
        page.mouse.move(*middle(page, "x", ROW, dim))
        expect(page.locator(".pair")).to_contain_text(re.compile(r"dimension \d+"))
        assert ("then normalised" in page.locator(".operands").inner_text()) == normalised


@LONG
def test_another_station_forgets_the_cell_of_a_column(show: Show) -> None:
    page, _ = board_at(show, "qkv")
    page.mouse.click(*middle(page, "q", 4, 5))
    expect(page.locator(".pair")).to_contain_text("q, dimension 5")
    go(page, "softmax")
    expect(page.locator(".pair")).to_contain_text("→")
    expect(page.locator(".operands")).to_contain_text("e to the power of")


@LONG
def test_a_name_over_a_column_chooses_it(show: Show) -> None:
    page, _ = board_at(show, "qk")
    x, y = middle(page, "k", 0, 8)
    page.mouse.click(x + 8, y - 16)  # names lean to the right
    assert page.evaluate(f"{BOARD}.held[0].col") == 8


@LONG
def test_a_file_says_why_nothing_is_masked(show: Show) -> None:
    page, _ = board_at(show, "mask")
    expect(page.locator(".operands")).to_contain_text("No cell is masked here")
    page.locator(".board canvas").focus()
    page.keyboard.press("m")
    expect(page.locator(".holds")).to_contain_text("There is no model here")
    page.keyboard.press("?")
    expect(page.locator(".help")).to_contain_text("hide special tokens")
    expect(page.locator(".help")).not_to_contain_text("mask or replace")


@LONG
def test_hidden_special_tokens_keep_their_weight(show: Show) -> None:
    page, attention = board_at(show, "softmax", head=HEAD, row=ROW, col=COL)
    page.locator(".board canvas").focus()
    page.keyboard.press("h")
    weights = attention.weights[HEAD, ROW]
    expect(page.locator(".operands")).to_contain_text(f"they keep {said(float(weights[0] + weights[-1]))} of this row")


@LONG
def test_queries_and_keys_are_said_before_and_after_their_position_turns_them(show: Show) -> None:
    head, row, dim = 1, 4, 3
    page, attention = board_at(show, "qkv", "llama", head=head)
    q, k, before_q, before_k = map(np.asarray, (attention.q, attention.k, attention.projected_q, attention.projected_k))
    group = head // (attention.heads // len(k))
    for box, cell, before, after in (
        ("q", (row, dim), before_q[head, row, dim], q[head, row, dim]),
        ("k", (dim, row), before_k[group, row, dim], k[group, row, dim]),
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


@LONG
def test_the_grid_holds_the_numbers_of_the_last_stations_too(show: Show) -> None:
    trace = traced("bert")
    last = len(trace.attention) - 1
    page = show(trace, view={"stream": "encoder", "layer": 0, "station": "up", "row": 2, "col": 0}, motion="reduce")
    first = page.get_by_role("gridcell").nth(0)
    expect(first).to_have_accessible_name(f"animal, dimension 0: {said(float(trace.hidden['encoder'][1][2][0]))}")
    assert trace.top is not None
    page.evaluate(f"{BOARD}.choose({last}, 0)")
    go(page, "next")
    texts, p = trace.top.texts[2], np.exp(trace.top.logp[2])
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="animal", exact=True))
    expect(row.get_by_role("gridcell").nth(0)).to_have_text(re.compile(re.escape(texts[0]) + r" [\d.<]+"))
    expect(row.get_by_role("gridcell")).to_have_count(len(texts))
    share = row.get_by_role("gridcell").nth(0).inner_text().split(" ")[-1].rstrip("%")
    assert abs(float(share) / 100 - p[0]) < 0.006
    page.get_by_text("The numbers as a table").click()
    expect(page.locator(".field td").first).to_contain_text(trace.top.texts[0][0])


def test_a_trace_without_blocks_says_the_model_s_own_numbers(show: Show) -> None:
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE)
    output, after = trace.attention[0].output, trace.hidden["encoder"][1]
    assert not trace.blocks and output is not None
    page = show(trace, view={"stream": "encoder", "layer": 0, "head": 1, "station": "wo", "row": 3}, motion="reduce")
    expect(page.locator(".operands")).to_contain_text(f"= {said(output[3][0])}")
    go(page, "up")
    expect(page.locator(".operands")).to_contain_text(f"passed on by the model: {said(after[3][0])}")


@LONG
@pytest.mark.parametrize(
    ("edit", "heads", "says"),
    [
        (ex.Uniform("encoder", 0, 1), [1], "These weights were edited"),
        (ex.SilenceLayer("encoder", 0, "attention"), [], ""),
        *long((ex.SilenceHead("encoder", 0, 1), [], "This output was edited"), (ex.NoScale("encoder"), [], "")),
    ],
)
def test_only_what_an_edit_set_is_called_edited(show: Show, edit: Edit, heads: list[int], says: str) -> None:
    trace = ex.trace(ex.load("bert", device="cpu"), SENTENCE, blocks=True, edits=[edit])
    head = header(pack(trace))
    assert head["sites"][0]["edited"] == heads and any(note.startswith("edited: ") for note in head["notes"])
    view = {"stream": "encoder", "layer": 0, "head": 1, "station": "softmax" if heads else "mix", "row": 4, "col": 7}
    page = show(trace, view=view, motion="reduce")
    expect(page.locator(".operands")).to_contain_text(says or "strongest first")
    check_weights(page, trace)
    page.get_by_label("Head", exact=True).select_option("0")
    expect(page.locator(".operands")).not_to_contain_text("edited")
    go(page, "wo")
    off = isinstance(edit, ex.SilenceLayer)
    expect(page.locator(".operands")).to_contain_text("Switched off: all of this output is 0." if off else "of W_O, + bias")
    expect(page.locator(".gap")).to_contain_text(re.compile(r"difference from the model's own numbers: weights \d"))


@LONG
@pytest.mark.parametrize("name", [*long("bert"), "gpt2"])
def test_without_a_residual_connection_nothing_is_said_to_be_added(show: Show, name: str) -> None:
    model = ex.load(name, device="cpu")
    stream = model.family
    trace = ex.trace(model, SENTENCE, blocks=True, edits=[ex.NoResidual(stream, 0, "attention")])
    block = trace.block(stream, 0, "attention")
    page = show(trace, view={"stream": stream, "layer": 0, "head": 0, "station": "add1", "row": 3}, motion="reduce")
    expect(page.locator(".operands")).to_contain_text(f"x is not added\n= {said(block.total[3][0])}", use_inner_text=True)
    go(page, "add2")
    block = trace.block(stream, 0, "feed-forward")
    given, out, total = (said(part[3][0]) for part in (block.given, block.out, block.total))
    added = f"({out})" if out.startswith("−") else out
    expect(page.locator(".operands")).to_contain_text(f"{given} + {added} = {total}")
    expect(page.locator(".gap")).to_contain_text(re.compile(r"first sum and norm (0|\de-\d)"))
    go(page, "up")
    expect(page.locator(".operands")).to_contain_text(f"= {said(trace.hidden[stream][1][3][0])}")


def check_weights(page: Page, trace: Trace) -> None:
    """Weights and outputs of all heads of the first layer are the model's."""
    attention = trace.attention[0]
    for head in range(attention.heads):
        values = page.evaluate(f"h => {BOARD}.numbers(0, h)", head)
        for stage in ("weights", "context"):
            assert np.abs(np.array(values[stage]) - attention.stage(stage, head).reshape(-1)).max() < 1e-5


def test_beside_the_weights_stands_what_the_followed_token_reads_most(show: Show) -> None:
    """Its largest weights, the others together; a click points at the cell; at a station without weights there is nothing."""
    page, _ = board_at(show, "softmax", layer=3, head=HEAD, row=ROW)
    attention = traced("bert").attention[3]
    row = np.asarray(attention.weights)[HEAD, ROW]
    order = np.argsort(-row, kind="stable")
    bars = page.locator(".reads button")
    shares = [float(bar.evaluate("e => getComputedStyle(e).getPropertyValue('--share')")) for bar in bars.all()]
    np.testing.assert_allclose(shares, [*row[order[:6]], row[order[6:]].sum()], atol=1e-6)
    assert float(bars.nth(0).locator("span").inner_text().rstrip("%")) == pytest.approx(100 * row[order[0]], abs=0.5)
    bars.nth(2).click()
    assert page.evaluate(f"[{BOARD}.cursor.row, {BOARD}.cursor.col]") == [ROW, int(order[2])]
    go(page, "qk")
    expect(page.locator(".reads")).to_be_hidden()


def test_a_bar_of_what_is_read_has_its_number_right_behind_its_track(show: Show) -> None:
    """Bars differ in length; their tracks do not, and a number stands one gap behind them: a row is read without following it across."""
    page, _ = board_at(show, "softmax", layer=3, head=HEAD, row=ROW)
    edges = """bars => bars.map(({ children: [, track, number] }) => {
      const range = document.createRange(); range.selectNodeContents(number);
      return [track.getBoundingClientRect().right, range.getBoundingClientRect().left, getComputedStyle(track).backgroundColor]; })"""
    tracks, numbers, colours = zip(*page.locator(".reads button").evaluate_all(edges), strict=True)
    assert max(tracks) - min(tracks) < 1 and all(0 < number - track < 12 for track, number in zip(tracks, numbers, strict=True))
    assert set(colours).isdisjoint(
        {"rgba(0, 0, 0, 0)", page.locator(".board").first.evaluate("e => getComputedStyle(e).backgroundColor")}
    )


@pytest.mark.parametrize("largest", [True, False])
def test_a_weight_is_reckoned_from_its_score_one_operation_a_line(show: Show, largest: bool) -> None:
    """The row's largest score is taken away, e to the power of that, divided by the sum of the row: each number is the record's."""
    page, _ = board_at(show, "softmax", layer=3, head=HEAD, row=ROW)
    attention = traced("bert").attention[3]
    row = np.asarray(attention.stage("scaled", HEAD), dtype=float)[ROW]
    col = int(row.argmax() if largest else row.argsort()[len(row) // 2])
    page.mouse.click(*middle(page, "S", ROW, col))
    less, (power, total) = row[col] - row.max(), (np.exp(row[col] - row.max()), np.exp(row - row.max()).sum())
    top = f"({said(row.max())})" if row.max() < 0 else said(row.max())
    first, second = ("0", "1") if largest else (said(less), said(power))
    lines = page.locator(".operands").inner_text().splitlines()
    assert [line.rsplit(" (", 1)[0] for line in lines[:3]] == [
        f"{said(row[col])} − {top} = {first}",
        f"e to the power of {first} = {second}",
        f"{second} ÷ {said(total)} = {said(np.asarray(attention.weights)[HEAD, ROW, col])}",
    ]


def test_before_the_weights_stand_the_vectors_of_the_cell_and_their_products(show: Show) -> None:
    """A bar for each dimension of q and k on one scale, and the products, whose sum is the score; a pointer reads one dimension of all."""
    page, _ = board_at(show, "qk", layer=3, head=HEAD, row=ROW, col=COL)
    attention = traced("bert").attention[3]
    q, k = np.asarray(attention.q)[HEAD, ROW], np.asarray(attention.k)[HEAD, COL]
    largest, names = max(np.abs(q).max(), np.abs(k).max()), page.locator(".vectors .name")
    for n, wanted in enumerate((q / largest, k / largest, q * k / np.abs(q * k).max())):
        drawn = np.zeros(len(wanted))
        for path in page.locator(".vectors svg").nth(n).locator("path").all()[1:]:
            for at, up in re.findall(r"M(\d+)\.1 1v(-?[\d.e-]+)", str(path.get_attribute("d"))):
                drawn[int(at)] = -float(up)
        np.testing.assert_allclose(drawn, wanted, atol=1e-3)
    expect(names.nth(2)).to_have_text(f"q × k · sum of all: {said((q * k).sum())}")
    box = page.locator(".vectors svg").nth(1).bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 7.5 / len(q), box["y"] + box["height"] / 2)
    for n, number in enumerate((q[7], k[7], q[7] * k[7])):
        expect(names.nth(n)).to_contain_text(f"dimension 7: {said(number)}")
    go(page, "qkv")
    expect(names).to_have_text([f"{vector} of “{page.evaluate(f'{BOARD}.rows[{ROW}]')}”" for vector in "qkv"])
    go(page, "softmax")
    expect(page.locator(".vectors")).to_be_hidden()
