"""What a saved page may do: draw what it holds. Its content policy refuses everything that would leave it, whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import long
from offline import Watch, opened
from playwright.sync_api import Browser

import explorer as ex
from explorer.records import Trace

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
