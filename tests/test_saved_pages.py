"""What a saved page may do: draw what it holds. Its content policy refuses everything that would leave it, whoever asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import LONG, long
from offline import Watch, opened
from playwright.sync_api import Browser, expect
from plotly.offline import get_plotlyjs

import explorer as ex
from explorer.records import Trace
from explorer.views.bertviz import FILES, _file

pytestmark = pytest.mark.browser
ATTEMPTS = """async () => {
  const refused = [], outside = "http://127.0.0.1:9/";
  document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
  const load = (tag, name) => Object.assign(document.body.appendChild(document.createElement(tag)), { [name]: outside });
  await fetch(outside).catch(() => {});
  load("img", "src"); load("iframe", "src"); load("script", "src"); load("video", "src");
  load("link", "rel").rel = "stylesheet"; document.body.lastChild.href = outside;
  const form = load("form", "action");
  form.method = "post";
  form.submit();
  try { new WebSocket("ws://127.0.0.1:9/"); } catch { /* refused at once */ }
  navigator.sendBeacon(outside, "x");
  for (let turn = 0; turn < 100 && new Set(refused).size < 7; turn++) await new Promise((go) => setTimeout(go, 50));
  return refused; }"""
EXPECTED = {"connect-src", "img-src", "frame-src", "script-src-elem", "media-src", "style-src-elem", "form-action"}


def kinds(trace: Trace) -> dict[str, Callable[[], Any]]:
    """A page of each kind: a figure, BertViz's, a recorded board, a live model."""
    return {
        "figure": lambda: ex.views["attention"](trace),
        "bertviz": lambda: ex.bertviz(trace),
        "board": lambda: ex.board(trace),
        "live": lambda: ex.live(ex.load("gpt2", device="cpu"), "A dog ran."),
    }


@LONG
@pytest.mark.parametrize("kind", ("figure", *long("bertviz", "board"), "live"))
def test_a_saved_page_draws_and_can_do_nothing_else(browser: Browser, tmp_path: Path, kind: str) -> None:
    trace = ex.trace(ex.load("bert-tiny", device="cpu"), "The dog was tired.", blocks=True)
    file, watch = ex.save(kinds(trace)[kind](), tmp_path / "page.html"), Watch()
    page = opened(browser, watch, file.as_uri())
    page.wait_for_function("document.body.dataset.drawn === 'yes' || document.querySelector('#vis svg')")
    page.wait_for_timeout(300)
    assert watch.faults == [], "its own scripts are within its policy"
    requests: list[str] = []
    page.on("requestfinished", lambda request: requests.append(request.url))
    refused = set(page.evaluate(ATTEMPTS))
    assert refused >= EXPECTED
    assert not [url for url in requests if url.startswith("http")]
    page.context.close()


def test_a_page_says_whose_libraries_it_holds(trace: Trace, tmp_path: Path) -> None:
    """The licence of D3 asks for its notice, its conditions and its disclaimer wherever it goes; so do those of the others."""
    pages = {
        kind: ex.save(kinds(trace)[kind](), tmp_path / f"{kind}.html").read_text("utf-8") for kind in ("figure", "bertviz")
    }
    for says in (
        "Copyright (c) 2010-2016, Michael Bostock",
        "The name Michael Bostock may not be used",
        "OpenJS",
        "Apache License, Version 2.0",
    ):
        assert says in pages["bertviz"] and says not in pages["figure"], says
    assert "plotly.js: " in pages["figure"] and "Plotly, Inc." in pages["figure"] and "Plotly, Inc." in get_plotlyjs()[:400]
    d3, jquery = (_file(*FILES[name]) for name in ("d3", "jquery"))
    assert (
        'version: "3.5.16"' in d3
        and "D3 3.5.16" in pages["bertviz"]
        and "jQuery v3.7.1" in jquery
        and "jQuery 3.7.1" in pages["bertviz"]
    )
    assert all(page.count("<!--") == page.count("-->") == 1 for page in pages.values())


def damaged(page: str, how: str) -> str:
    """A page whose longest run of packed letters lacks its second half, or has another letter in its middle."""
    first, last = max((run.span() for run in re.finditer(r"[!-%'-;=?-~]{1000,}", page)), key=lambda span: span[1] - span[0])
    half = (first + last) // 2
    other = "a" if page[half] != "a" else "b"
    return page[:half] + page[last:] if how == "cut" else page[:half] + other + page[half + 1 :]


@LONG
@pytest.mark.parametrize(
    ("kind", "how"), [("figure", "cut"), ("board", "letter"), *long(("figure", "letter"), ("bertviz", "cut"), ("bertviz", "letter"),
    ("board", "cut"), ("live", "cut"), ("live", "letter"))],
)  # fmt: skip
def test_a_damaged_page_says_so_and_shows_nothing(browser: Browser, trace: Trace, tmp_path: Path, kind: str, how: str) -> None:
    """What it holds ends with a checksum: a letter that is another one is noticed before anything is drawn."""
    file = ex.save(kinds(trace)[kind](), tmp_path / "page.html")
    file.write_text(damaged(file.read_text("utf-8"), how), "utf-8")
    page = opened(browser, Watch(), file.as_uri())
    expect(page.get_by_role("alert").first).to_contain_text("This file is damaged")
    assert page.evaluate("document.body.dataset.drawn || ''") != "yes" and not page.query_selector("#vis svg")
    page.context.close()
