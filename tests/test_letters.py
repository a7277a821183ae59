"""Bytes in letters, and numbers in steps: what a page reads back is what was packed, or as near as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import SENTENCE
from offline import Watch, opened
from playwright.sync_api import Browser, expect
from scipy.special import softmax
from test_board import header

import explorer as ex
from explorer.records import Trace
from explorer.views.board.pack import pack
from explorer.views.board.page import page as paged
from explorer.views.board.rounding import as_read, in_steps, planes
from explorer.views.letters import LETTERS, UNPACK, in_letters, out_of_letters, packed

expect.set_options(timeout=120_000)
BOARD = "document.querySelector('.board').board"


def by_hand(letters: str) -> bytes:
    """The bytes of letters by whole numbers of any size, as in a lesson on number systems."""
    number, bits = 0, 0
    for at in range(0, len(letters), 2):
        pair = letters[at : at + 2]
        value, wide = (91 * LETTERS.index(pair[0]) + LETTERS.index(pair[1]), 13) if len(pair) == 2 else (LETTERS.index(pair), 6)
        number, bits = number << wide | value, bits + wide
    return (number >> bits % 8).to_bytes(bits // 8, "big")


def test_bytes_of_every_length_come_back() -> None:
    assert len(set(LETTERS)) == 91 and not set(LETTERS) & set("&<> \n")
    rng = np.random.default_rng(0)
    for length in range(80):
        for raw in (rng.bytes(length), b"\0" * length, b"\xff" * length):
            assert out_of_letters(in_letters(raw)) == raw == by_hand(in_letters(raw))
            assert len(in_letters(raw)) <= 8 * length / 6.5 + 2


@pytest.mark.browser
def test_a_browser_reads_them_back(browser: Browser, tmp_path: Path) -> None:
    rng, watch = np.random.default_rng(1), Watch()
    raws = [rng.bytes(int(length)) for length in range(0, 40)]
    parts = "".join(f'<script type="text/plain" id="p{n}">{packed(raw)}</script>' for n, raw in enumerate(raws))
    (tmp_path / "x.html").write_text(f"<!doctype html><link rel='icon' href='data:,'>{parts}<script>{UNPACK}</script>", "utf-8")
    page = opened(browser, watch, (tmp_path / "x.html").as_uri())
    read = "async (n) => Array.from(new Uint8Array(await (await unpacked('p' + n)).arrayBuffer()))"
    assert [bytes(page.evaluate(read, n)) for n in range(len(raws))] == raws and watch.faults == []
    page.context.close()


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


def derived_from(trace: Trace, layer: int) -> np.ndarray:
    """The weights of all heads from rounded q and k, by the formula of the paper."""
    attention = trace.attention[layer]
    assert attention.q is not None and attention.k is not None
    q, k = as_read(attention.q).astype(np.float64), as_read(attention.k).astype(np.float64)
    weights: np.ndarray = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]), axis=-1)
    return weights


@pytest.mark.browser
def test_the_page_says_how_far_its_steps_move_a_weight(browser: Browser, tmp_path: Path, trace: Trace) -> None:
    data, watch = pack(trace, budget=16_000, first=("encoder", 1)), Watch()
    (tmp_path / "x.html").write_bytes(paged(data, title="steps", view={"stream": "encoder", "layer": 1, "head": 0}))
    page = opened(browser, watch, (tmp_path / "x.html").as_uri())
    expect(page.locator("body[data-drawn=yes] .board[data-state=ready]")).to_be_attached()
    weights = np.array([page.evaluate(f"h => {BOARD}.numbers(1, h).weights", h) for h in range(4)])
    own = trace.attention[1].weights
    assert np.abs(weights.reshape(own.shape) - derived_from(trace, 1)).max() < 1e-5
    moved = page.evaluate(f"{BOARD}.data.sites[1].moved")
    gap = np.abs(weights.reshape(own.shape) - own).max()
    assert 0 < gap <= moved["weights"] + 1e-6 and gap > 0.99 * moved["weights"]
    contexts = np.array([page.evaluate(f"h => {BOARD}.numbers(1, h).context", h) for h in range(4)])
    far = max(np.abs(contexts[h] - trace.attention[1].stage("context", h).reshape(-1)).max() for h in range(4))
    assert 0 < far <= moved["context"] + 1e-6
    expect(page.locator(".gap")).to_contain_text("in small steps")
    printed = re.search(r"a weight by at most (\S+) and", page.locator(".gap").inner_text())
    assert printed is not None and moved["weights"] <= float(printed[1]) <= 2 * moved["weights"], (
        "rounded up: nothing passes it"
    )
    assert watch.faults == []
    page.context.close()


@pytest.mark.browser
def test_a_file_keeps_all_layers_and_says_how_far_its_steps_move_what_leaves_them(browser: Browser, tmp_path: Path) -> None:
    trace, watch = ex.trace(ex.load("bert", device="cpu"), SENTENCE, blocks=True), Watch()
    path = ex.save(ex.board(trace, layer=0, head=0, station="post2"), tmp_path / "x.html")
    assert path.stat().st_size <= 280_000 and len(trace.attention) == 4
    page = opened(browser, watch, path.as_uri())
    expect(page.locator("body[data-drawn=yes] .board[data-state=ready]")).to_be_attached()
    assert page.evaluate(f"{BOARD}.data.sites.map(s => s.moved ? 'steps' : '16 bits')") == [
        "16 bits",
        "steps",
        "steps",
        "steps",
    ]
    for layer in (1, 2, 3):
        moved, numbers = (
            page.evaluate(f"n => {BOARD}.data.sites[n].moved", layer),
            page.evaluate(f"n => {BOARD}.numbers(n, 0)", layer),
        )
        for number, part in enumerate(("attention", "feed-forward")):
            own = trace.block("encoder", layer, part).normed.reshape(-1)
            far = np.abs(np.array(numbers["blocks"][number]["leaves"]) - own).max()
            assert 1e-5 < far < 0.01 and abs(far - moved["around"][number]) < 1e-5
    page.evaluate(f"{BOARD}.choose(1, 0)")
    expect(page.locator(".gap")).to_contain_text("a number that leaves a sub-layer by at most")
    assert watch.faults == []
    page.context.close()


def test_a_layer_with_nan_travels_without_steps(trace: Trace) -> None:
    attention = trace.attention[0]
    assert attention.q is not None
    q = attention.q.copy()
    q[0, 0, 0] = np.nan
    broken = trace.__class__(
        **{**vars(trace), "attention": (attention.__class__(**{**vars(attention), "q": q}), *trace.attention[1:])}
    )
    with np.errstate(invalid="ignore"):
        assert header(pack(broken, budget=16_000, first=("encoder", 0)))["sites"][0]["q"][0] == "f2"
    assert header(pack(trace, budget=16_000, first=("encoder", 0)))["sites"][0]["q"][0] == "p2"
    assert b'"p2"' not in ex.board(trace).data
