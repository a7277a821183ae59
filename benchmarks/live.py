"""What a live board costs in a browser: its file, its first picture, a sentence typed anew, a token written; in a file and in the app.

Everything is measured in Chromium, from files on disk with the network cut, and on a page of the app that runs here. A picture counts
once the canvas was asked back, so it is really there. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median
from urllib.parse import quote

import psutil
from board import CHROMIUM, FLAGS
from classroom import served
from playwright.sync_api import Browser, Page, sync_playwright

import explorer as ex
from explorer.views.board.module import module
from explorer.views.letters import packed

MODELS = ("bert", "gpt2", "bart")
NAMES = ("Anna", "Ben", "Clara", "David", "Emma", "Felix")
SENTENCE = "{} did not cross the old bridge because the river was too wide and the small dog was"  # 20 tokens for bert
DRAWN = """new MutationObserver(() => globalThis.drawnAt ??= performance.now()).observe(document,
  { subtree: true, attributeFilter: ["data-drawn"] })"""
BOARD = "[document, ...[...document.querySelectorAll('*')].map(e => e.shadowRoot)].map(r => r?.querySelector('.board')).find(Boolean).board"
TYPED = """async ([find, texts]) => {
  const box = document.querySelector(find), times = [], canvas = BOARD.parts.canvas.getContext("2d");
  const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set;
  for (const text of texts) {
    const begin = performance.now();
    set.call(box, text);
    box.dispatchEvent(new Event("input", { bubbles: true }));
    while (explorerBoards[0].state().text !== text) await new Promise(requestAnimationFrame);
    canvas.getImageData(0, 0, 1, 1);
    times.push(performance.now() - begin);
    await new Promise((done) => setTimeout(done, 50));
  }
  return times;
}""".replace("BOARD", BOARD)
GREEDY = """async (text) => {
  const begin = performance.now(), steps = await explorerBoards[0].write(text, "greedy", { max_tokens: 30 });
  return (performance.now() - begin) / steps.length;
}"""
HELD = """async (text) => {
  let last = performance.now(), worst = 0, on = true;
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now; if (on) port2.postMessage(0); };
  port2.postMessage(0);
  for (let n = 0; n < 5; n++) await explorerBoards[0].engine.ask("read", { text, target: null, edits: [] });
  on = false;
  return worst;
}"""


def texts(rounds: int) -> list[str]:
    """Sentences of 20 tokens, each unlike the one before."""
    return [SENTENCE.format(NAMES[n % len(NAMES)]) for n in range(rounds)]


def saved(name: str, folder: Path) -> Path:
    """The live file of a model."""
    model = ex.load(name, device="cpu")
    target = {"target": "The river was wide."} if model.family == "encoder-decoder" else {}
    trace = ex.trace(model, SENTENCE.format("Anna"), blocks=True, **target)
    return Path(ex.save(ex.board(trace, model=model), folder / f"{name}.html"))


def in_a_file(browser: Browser, name: str, folder: Path, rounds: int) -> list[str]:
    """One row: the file of a model."""
    file, firsts = saved(name, folder), []
    for _ in range(max(3, rounds // 4)):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.context.set_offline(True)
        page.add_init_script(DRAWN)
        page.goto(file.as_uri())
        page.wait_for_function("globalThis.drawnAt && globalThis.explorerBoards?.length")
        loaded = "performance.getEntriesByType('navigation')[0].responseEnd"
        firsts.append(page.evaluate(f"drawnAt - {loaded}"))
        if len(firsts) < max(3, rounds // 4):
            page.close()
    times = page.evaluate(TYPED, [".typed input", texts(rounds)])
    writes = ex.load(name, device="cpu").family != "encoder"
    token = f"{page.evaluate(GREEDY, 'Anna was hungry, so'):.1f}" if writes else ""
    held = page.evaluate(HELD, "dog " * 120)
    page.close()
    size = f"{file.stat().st_size / 1e6:.2f}"
    return ["file", name, size, f"{median(firsts):.0f}", f"{median(times):.0f}", f"{max(times):.0f}", token, f"{held:.0f}", ""]


def seconds_of(pid: int) -> float:
    """The seconds that a process and those that it started have had of the processor."""
    server = psutil.Process(pid)
    return sum(sum(process.cpu_times()[:2]) for process in (server, *server.children(recursive=True)))


def on_a_page(page: Page, address: str, name: str, pid: int, rounds: int) -> list[str]:
    """One row: a page of the app; the processor time that its server spends meanwhile."""
    page.set_default_timeout(120_000)
    page.goto(f"{address}/attention?part=walk&model={name}&text={quote(SENTENCE.format('Zoe'))}")
    page.wait_for_function("globalThis.explorerBoards?.length === 1")
    page.wait_for_timeout(2000)
    before = seconds_of(pid)
    times = page.evaluate(TYPED, [".st-key-text input", texts(rounds)])
    spent = 1000 * (seconds_of(pid) - before) / rounds
    return ["app", name, "", "", f"{median(times):.0f}", f"{max(times):.0f}", "", "", f"{spent:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    assert CHROMIUM, "No Chromium on this machine. Debian: apt-get install chromium"
    sizes = [f"{len(packed(module(live=live))) / 1e3:.0f} kB" for live in (False, True)]
    rows = [
        ["home", "model", "file MB", "first picture ms", "retyped ms", "slowest ms", "a token ms", "held up ms", "server ms"]
    ]
    rows.append(["---"] * len(rows[0]))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        rows += [in_a_file(browser, name, Path(folder), rounds) for name in MODELS]
        with served() as (address, pid):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            rows += [on_a_page(page, address, name, pid, rounds) for name in MODELS[:2]]
        browser.close()
    print(f"\nthe module in a file: {sizes[1]} with the engine, {sizes[0]} without\n")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))


if __name__ == "__main__":
    main()
