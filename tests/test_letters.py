"""Bytes in letters, and numbers in steps: what a page reads back is what was packed, or as near as the page says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import LONG, Visit, long
from playwright.sync_api import Page, expect
from scipy.special import softmax
from test_board import header

import explorer as ex
from explorer.records import Trace
from explorer.views.board.pack import pack
from explorer.views.board.page import page as paged
from explorer.views.board.rounding import as_read, in_steps, planes
from explorer.views.letters import UNPACK, packed, unpacked

expect.set_options(timeout=120_000)
READY = "body[data-drawn=yes] .board[data-state=ready]"
BOARD = "document.querySelector('.board').board"


@pytest.fixture
def read_page(visit: Visit, tmp_path: Path) -> Callable[[bytes], Page]:
    """Opens a file in the browser; at the end nothing may have gone wrong there."""

    def read(content: bytes) -> Page:
        (tmp_path / "x.html").write_bytes(content)
        return visit((tmp_path / "x.html").as_uri())

    return read


@LONG
@pytest.mark.browser
@pytest.mark.parametrize("older", [*long(False), True])
def test_a_browser_reads_them_back(older: bool, read_page: Callable[[bytes], Page]) -> None:
    """Also one that has no `Uint8Array.fromBase64`."""
    raws = [np.random.default_rng(1).bytes(length) for length in (*range(40), 100_000)]
    assert [unpacked(packed(raw)) for raw in raws] == raws and not set("".join(map(packed, raws))) & set("&<> \n")
    parts = "".join(f'<script type="text/plain" id="p{n}">{packed(raw)}</script>' for n, raw in enumerate(raws))
    without = "delete Uint8Array.fromBase64;" * older
    page = read_page(f"<!doctype html><link rel='icon' href='data:,'>{parts}<script>{without}{UNPACK}</script>".encode())
    read = "async (n) => Array.from(new Uint8Array(await (await unpacked('p' + n)).arrayBuffer()))"
    assert [bytes(page.evaluate(read, n)) for n in range(len(raws))] == raws


def test_a_step_is_the_largest_error_and_outliers_are_kept() -> None:
    rng = np.random.default_rng(2)
    array = rng.normal(size=(3, 7, 5)).astype(np.float32)
    array[1] *= 1000
    array[2, 3, 4] = 500
    whole, steps = in_steps(array)
    assert np.abs(as_read(array) - array).max(axis=(1, 2)).tolist() <= [0.501 * step for step in steps]
    low, high = np.frombuffer(planes(whole), np.uint8).reshape(2, -1).astype(int)
    folded = low + 256 * high
    np.testing.assert_array_equal(np.where(folded % 2, -(folded + 1) // 2, folded // 2), whole.reshape(-1))
    assert not as_read(np.zeros((1, 2, 2), np.float32)).any()


@LONG
@pytest.mark.browser
def test_the_page_says_how_far_its_steps_move_a_weight(read_page: Callable[[bytes], Page], trace: Trace) -> None:
    data, attention = pack(trace, budget=16_000, first=("encoder", 1)), trace.attention[1]
    page = read_page(paged(data, title="steps", view={"stream": "encoder", "layer": 1, "head": 0}))
    expect(page.locator(READY)).to_be_attached()
    numbers = [page.evaluate(f"h => {BOARD}.numbers(1, h)", h) for h in range(4)]
    weights = np.array([each["weights"] for each in numbers]).reshape(attention.weights.shape)
    q, k = (as_read(part).astype(np.float64) for part in (attention.q, attention.k))
    assert np.abs(weights - softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), axis=-1)).max() < 1e-5
    moved = page.evaluate(f"{BOARD}.data.sites[1].moved")
    gap = np.abs(weights - attention.weights).max()
    assert 0 < gap <= moved["weights"] + 1e-6 and gap > 0.99 * moved["weights"]
    far = max(np.abs(numbers[h]["context"] - attention.stage("context", h).reshape(-1)).max() for h in range(4))
    assert 0 < far <= moved["context"] + 1e-6
    printed = re.search(r"a weight by at most (\S+) and", page.locator(".gap").inner_text())
    assert printed is not None and moved["weights"] <= float(printed[1]) <= 2 * moved["weights"], "rounded up"


@LONG
@pytest.mark.browser
def test_a_file_keeps_all_layers_and_says_how_far_its_steps_move_what_leaves_them(
    read_page: Callable[[bytes], Page], trace: Trace, tmp_path: Path
) -> None:
    path = ex.save(ex.board(trace, layer=0, head=0, station="post2"), tmp_path / "saved.html")
    assert path.stat().st_size <= 280_000 and len(trace.attention) == 4
    page = read_page(path.read_bytes())
    expect(page.locator(READY)).to_be_attached()
    assert page.evaluate(f"{BOARD}.data.sites.map(site => !site.moved)") == [True, False, False, False], "16 bits, or steps"
    for layer in (1, 2, 3):
        moved = page.evaluate(f"{BOARD}.data.sites[{layer}].moved")
        blocks = page.evaluate(f"{BOARD}.numbers({layer}, 0).blocks")
        for number, part in enumerate(("attention", "feed-forward")):
            far = np.abs(blocks[number]["leaves"] - trace.block("encoder", layer, part).normed.reshape(-1)).max()
            assert 1e-5 < far < 0.01 and abs(far - moved["around"][number]) < 1e-5
    page.evaluate(f"{BOARD}.choose(1, 0)")
    expect(page.locator(".gap")).to_contain_text("an output of a sub-layer by at most")


def test_a_layer_with_nan_travels_without_steps(trace: Trace) -> None:
    q = np.where(np.arange(trace.attention[0].q.size).reshape(trace.attention[0].q.shape) == 0, np.nan, trace.attention[0].q)
    broken = replace(trace, attention=(replace(trace.attention[0], q=q.astype(np.float32)), *trace.attention[1:]))
    with np.errstate(invalid="ignore"):
        assert header(pack(broken, budget=16_000, first=("encoder", 0)))["sites"][0]["q"][0] == "f2"
    assert header(pack(trace, budget=16_000, first=("encoder", 0)))["sites"][0]["q"][0] == "p2"
    assert b'"p2"' not in ex.board(trace).data
