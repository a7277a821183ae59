"""What a newcomer looks for on the board: all products of a score, whose number it is, why a key does nothing, what hiding leaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from offline import Watch
from playwright.sync_api import Browser, Page, expect
from test_board_browser import BOARD, middle, shown, traced
from test_board_says import go, said

from explorer.records import Attention

pytestmark = pytest.mark.browser
ROW, COL, HEAD = 10, 2, 3


def table_of(page: Page) -> dict[str, list[float]]:
    """The table below the board: a row's name and its numbers."""
    lines = page.locator(".field tr").all()[1:]
    return {
        line.locator("th").inner_text(): [float(cell.replace("−", "-")) for cell in line.locator("td").all_inner_texts()]
        for line in lines
    }


@contextmanager
def board_at(
    browser: Browser, folder: Path, station: str, name: str = "bert", **place: int
) -> Iterator[tuple[Page, Attention]]:
    """The board of the first layer of a model, at rest at a station; nothing may have gone wrong in the end."""
    watch, trace = Watch(), traced(name)
    view = {"stream": trace.attention[0].stream, "layer": 0, "head": 0, "station": station, **place}
    page = shown(browser, trace, folder, watch, view=view)
    page.wait_for_function(f"{BOARD}.t === 1")
    yield page, trace.attention[0]
    assert watch.faults == []
    page.context.close()


def test_a_held_score_lists_all_its_products(browser: Browser, tmp_path: Path) -> None:
    with board_at(browser, tmp_path, "qk", head=HEAD) as (page, opened_page):
        assert opened_page.q is not None and opened_page.k is not None and opened_page.v is not None
        page.get_by_text("The numbers as a table").click()
        expect(page.locator(".field")).to_contain_text("Click a cell of the picture")
        page.mouse.click(*middle(page, "S", ROW, COL))
        expect(page.locator(".field tr")).to_have_count(4)
        rows = table_of(page)
        np.testing.assert_allclose(rows["q"], opened_page.q[HEAD, ROW], atol=1e-3)
        np.testing.assert_allclose(rows["k"], opened_page.k[HEAD, COL], atol=1e-3)
        assert abs(sum(rows["q×k"]) - float(opened_page.q[HEAD, ROW] @ opened_page.k[HEAD, COL])) < 2e-2
        go(page, "qkv")
        page.keyboard.press("Escape")
        page.mouse.click(*middle(page, "v", COL, 5))
        expect(page.locator(".field")).to_contain_text("Values: a row for each token.")
        np.testing.assert_allclose(list(table_of(page).values())[-1], opened_page.v[HEAD, -1], atol=1e-3)


def test_a_number_of_all_heads_says_whose_it_is(browser: Browser, tmp_path: Path) -> None:
    with board_at(browser, tmp_path, "concat") as (page, opened_page):
        box = page.evaluate(f"{BOARD}.layout.boxes.find(b => b.id === 'z')")
        at = page.locator(".board canvas").bounding_box()
        assert at is not None and opened_page.v is not None
        page.mouse.move(at["x"] + box["x"] + box["w"] * 0.6, at["y"] + box["y"] + box["h"] * (ROW + 0.5) / box["r"])
        expect(page.locator(".operands")).to_contain_text(re.compile(r"dimension \d+ of z in head 2\n"), use_inner_text=True)
        match = re.search(r"dimension (\d+)", page.locator(".operands").inner_text())
        assert match is not None
        wanted = float((opened_page.weights[2] @ opened_page.v[2])[ROW, int(match[1])])
        shows = float(page.locator(".operands").inner_text().split("= ")[1].replace("−", "-"))
        assert abs(shows - wanted) < 1e-3


@pytest.mark.parametrize("station", ["softmax", "mix"])
def test_before_the_heads_are_joined_a_number_of_z_is_of_the_chosen_head(
    browser: Browser, tmp_path: Path, station: str
) -> None:
    with board_at(browser, tmp_path, station, head=HEAD) as (page, opened_page):
        assert opened_page.v is not None
        page.mouse.move(*middle(page, "z", ROW, 20))  # its column has room for all four heads
        expect(page.locator(".pair")).to_contain_text("z, dimension 5")
        expect(page.locator(".operands")).to_contain_text(
            f"= {said(float((opened_page.weights[HEAD] @ opened_page.v[HEAD])[ROW, 5]))}"
        )


@pytest.mark.parametrize(("name", "root"), [("gpt2", True), ("deberta", False)])  # DeBERTa divides by √(3 dₖ)
def test_the_scale_is_called_the_root_only_where_it_is(browser: Browser, tmp_path: Path, name: str, root: bool) -> None:
    with board_at(browser, tmp_path, "scale", name, row=ROW, col=COL) as (page, opened_page):
        assert opened_page.q is not None
        wanted = (
            f"Dividing by {'√dₖ = ' if root else ''}{said(1 / opened_page.scale)} is multiplying by {said(opened_page.scale)}."
        )
        expect(page.locator(".operands")).to_contain_text(wanted)
        assert (abs(1 / opened_page.scale - opened_page.q.shape[-1] ** 0.5) < 1e-3) == root


@pytest.mark.parametrize(("name", "normalised"), [("bert", True), ("gpt2", False)])
def test_an_embedding_is_called_normalised_where_the_model_does_it(
    browser: Browser, tmp_path: Path, name: str, normalised: bool
) -> None:
    with board_at(browser, tmp_path, "x", name, row=ROW) as (page, _):
        for dim in range(0, 128, 16):
            page.mouse.move(*middle(page, "x", ROW, dim))
            expect(page.locator(".pair")).to_contain_text(re.compile(r"dimension \d+"))
            assert ("then normalised" in page.locator(".operands").inner_text()) == normalised


def test_another_station_forgets_the_cell_of_a_column(browser: Browser, tmp_path: Path) -> None:
    with board_at(browser, tmp_path, "qkv") as (page, _):
        page.mouse.click(*middle(page, "q", 4, 5))
        expect(page.locator(".pair")).to_contain_text("q, dimension 5")
        go(page, "softmax")
        expect(page.locator(".pair")).to_contain_text("→")
        expect(page.locator(".operands")).to_contain_text("÷ the sum over the 16 keys")


def test_a_name_over_a_column_chooses_it(browser: Browser, tmp_path: Path) -> None:
    with board_at(browser, tmp_path, "qk") as (page, _):
        x, y = middle(page, "k", 0, 8)
        page.mouse.click(x + 8, y - 16)  # names lean to the right
        assert page.evaluate(f"{BOARD}.held[0].col") == 8


def test_a_file_says_why_nothing_is_masked(browser: Browser, tmp_path: Path) -> None:
    with board_at(browser, tmp_path, "mask") as (page, _):
        expect(page.locator(".operands")).to_contain_text("No cell is masked here")
        page.locator(".board canvas").focus()
        page.keyboard.press("m")
        expect(page.locator(".holds")).to_contain_text("No model is at hand here")
        page.keyboard.press("?")
        expect(page.locator(".help")).to_contain_text("hide special tokens")
        expect(page.locator(".help")).not_to_contain_text("mask or replace")


def test_hidden_special_tokens_keep_their_weight(browser: Browser, tmp_path: Path) -> None:
    with board_at(browser, tmp_path, "softmax", head=HEAD, row=ROW, col=COL) as (page, opened_page):
        page.locator(".board canvas").focus()
        page.keyboard.press("h")
        weights = opened_page.weights[HEAD, ROW]
        expect(page.locator(".operands")).to_contain_text(f"they keep {said(float(weights[0] + weights[-1]))} of this row")
