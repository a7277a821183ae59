"""What the board costs in a browser: its sizes, its first picture, a frame, pointing and another head; BertViz's model view beside it.

Everything is measured in Chromium on a trace of 12 layers and 12 heads of 64 numbers, random weights, from files on disk. Drawing into a
canvas is asked back as a picture, so that a frame counts only when it is really there. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median

import torch
from bertviz import model_view
from playwright.sync_api import Browser, Page, sync_playwright

import explorer as ex
from explorer.records import Trace
from explorer.views.board.module import module
from explorer.views.board.pack import IN_A_FILE, pack
from explorer.views.board.page import page as paged

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
BOARD = "document.querySelector('.board').board"
TIMED = """([doing, times]) => {
  const b = BOARD, canvas = b.parts.canvas, g = canvas.getContext("2d"), found = [];
  const moves = {
    frame: (n) => { b.step = b.site.stations.indexOf("qk"); b.t = (n % 10) / 10; b.draw(); },
    hover: (n) => { const s = b.layout.boxes.find(x => x.id === "S"); b.hover(s.x + (n * 7) % s.w, s.y + (n * 13) % s.h); },
    head: (n) => b.choose(b.at, (n + 1) % b.site.heads),
  };
  for (let n = 0; n < times; n++) {
    const begin = performance.now();
    moves[doing](n);
    g.getImageData(0, 0, 1, 1);
    found.push(performance.now() - begin);
  }
  return found;
}""".replace("BOARD", BOARD)
FIRST = """() => {
  const b = BOARD, begin = performance.now();
  b.give(b.bytes, {});
  b.parts.canvas.getContext("2d").getImageData(0, 0, 1, 1);
  return performance.now() - begin;
}""".replace("BOARD", BOARD)


def traced(count: int, layers: int = 12) -> Trace:
    """A trace of about this many tokens."""
    tokenizer = ex.load("bert", device="cpu").tokenizer
    shape = {"dim": 768, "heads": 12, "layers": layers, "hidden": 3072, "length": 512}
    model = ex.build("bert", size="tiny", tokenizer=tokenizer, seed=1, device="cpu", **shape)
    return ex.trace(model, " ".join(["dog"] * (count - 2)), blocks=count <= 128, scores=False)


def opened(browser: Browser, content: bytes, name: str) -> tuple[Page, float]:
    """A page from disk, and the seconds until it was loaded."""
    path = Path(tempfile.mkdtemp()) / name
    path.write_bytes(content)
    page, begin = browser.new_page(viewport={"width": 1280, "height": 900}), time.perf_counter()
    page.set_default_timeout(300_000)
    page.goto(path.as_uri())
    return page, begin


def measure(browser: Browser, trace: Trace, rounds: int) -> list[str]:
    """One row of the table: of the board."""
    data = pack(trace)
    page, begin = opened(browser, paged(data, title="bench"), "board.html")
    page.wait_for_selector("body[data-drawn=yes]")
    opening = time.perf_counter() - begin
    first = median(page.evaluate(FIRST) for _ in range(max(3, rounds)))
    times = {what: sorted(page.evaluate(TIMED, [what, 10 * rounds])) for what in ("frame", "hover", "head")}
    page.close()
    file = len(paged(pack(trace, budget=IN_A_FILE), title="bench"))
    middle = [f"{median(results):.1f}" for results in times.values()]
    return [f"{len(data) / 1e6:.2f}", f"{file / 1e6:.2f}", f"{opening:.2f}", f"{first:.0f}", *middle]


def drawn_by_bertviz(browser: Browser, content: bytes, lines: int) -> float:
    """Seconds from opening BertViz's page to so many of its lines on the screen."""
    page, begin = opened(browser, content, "bertviz.html")
    page.wait_for_function(f"document.querySelectorAll('svg line').length >= {lines}")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    seconds = time.perf_counter() - begin
    page.close()
    return seconds


def bertviz(browser: Browser, trace: Trace) -> list[str]:
    """The same trace in BertViz's model view: the size of its own page, the time of ours, which needs no network to load its scripts.

    Its first picture is what opening takes longer than the same page with one layer over three tokens, so without loading its scripts.
    """
    tokens = list(trace.source.texts)
    own = model_view(
        [torch.tensor(attention.weights)[None] for attention in trace.attention], tokens, html_action="return"
    ).data
    content = ex.bertviz(trace, view="model").page().encode("utf-8")
    scripts = drawn_by_bertviz(browser, ex.bertviz(traced(3, layers=1), view="model").page().encode("utf-8"), 9)
    seconds = drawn_by_bertviz(browser, content, 1001)
    sizes = f"{len(own.encode()) / 1e6:.2f} ({len(content) / 1e6:.2f} in our letters)"
    return ["", sizes, f"{seconds:.2f}", f"{1000 * (seconds - scripts):.0f}", "", "", ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    assert CHROMIUM, "No Chromium on this machine. Debian: apt-get install chromium"
    rows = [["tokens", "what", "data MB", "file MB", "opened s", "first picture ms", "frame ms", "hover ms", "head ms"]]
    rows.append(["---"] * len(rows[0]))
    rows.append(["", "the module", f"{len(module().encode()) / 1e6:.3f}", "", "", "", "", "", ""])
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        bert = ex.trace(
            ex.load("bert", device="cpu"), "The animal didn't cross the street because it was too tired.", blocks=True
        )
        rows.append(["16", "board, shipped bert", *measure(browser, bert, rounds)])
        for count in (16, 64, 128):
            trace = traced(count)
            rows.append([str(count), "board, 12 × 12", *measure(browser, trace, rounds)])
            if count == 64 or rounds > 5:
                rows.append([str(count), "BertViz, model view", *bertviz(browser, trace)])
        rows.append(["512", "board, one layer", *measure(browser, traced(512, layers=1), rounds)])
        browser.close()
    print("\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows))


if __name__ == "__main__":
    main()
