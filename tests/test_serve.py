"""The server of the app, before it has shown anybody a page."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from conftest import LONG, long
from offline import free_port, server
from playwright.sync_api import Browser, expect

from explorer.app import guard, streamlit_inside

THREADS = "import explorer.app.serve, torch; print(torch.get_num_threads())"


@LONG
@pytest.mark.parametrize(("given", "threads"), [({}, "1"), *long(({"OMP_NUM_THREADS": "2"}, "2"))])
def test_a_page_is_computed_by_one_thread_unless_somebody_asks_for_more(given: dict[str, str], threads: str) -> None:
    """Beside others who compute, two threads wait for each other: a new sentence took ten times the processor time."""
    here = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    answer = subprocess.run([sys.executable, "-c", THREADS], env=here | given, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == threads


def answer(address: str) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of an answer, whatever it is."""
    try:
        with urllib.request.urlopen(address, timeout=60) as read:
            return read.status, read.read().decode("utf-8"), {name.lower(): value for name, value in read.headers.items()}
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode("utf-8"), {name.lower(): value for name, value in error.headers.items()}


@LONG
def test_every_answer_says_what_a_page_may_do_and_figures_of_a_room_are_the_teachers(tmp_path: Path) -> None:
    (tmp_path / "room.toml").write_text('key = "sesame"', "utf-8")
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    arguments = ["explorer", "app", "--settings", str(tmp_path / "room.toml"), "--address", "127.0.0.1", "--port", str(port)]
    with server(arguments, f"{address}/_stcore/health", tmp_path):
        for path, status in (("/", 200), ("/attention", 200), ("/_stcore/health", 200), ("/static/none.js", 404)):
            seen, _, headers = answer(address + path)
            assert seen == status or path == "/static/none.js", path
            assert headers["x-frame-options"] == "SAMEORIGIN" and headers["content-security-policy"] == guard.POLICY, path
        for path in (
            "/_stcore/metrics",
            "/_stcore/metrics/",
            "/_stcore/metrics?teacher=x",
        ):
            status, text, headers = answer(address + path)
            assert status == 403 and "cache" not in text and headers["x-frame-options"] == "SAMEORIGIN", path
        assert answer(f"{address}/_stcore/metrics?teacher=sesame")[0] == 200
    assert "frame-ancestors 'self'" in guard.POLICY and "*" not in guard.POLICY and "http" not in guard.POLICY


@LONG
def test_the_scripts_of_streamlit_are_compressed_for_a_browser_that_takes_it(app: tuple[str, Path]) -> None:
    folder = streamlit_inside.static_folder()
    for file in (*folder.glob("js/index.*.js"), *folder.glob("css/index.*.css")):
        address = f"{app[0]}/static/{file.parent.name}/{file.name}"
        with urllib.request.urlopen(address) as plain:
            assert "Content-Encoding" not in plain.headers and plain.read() == file.read_bytes()
        with urllib.request.urlopen(urllib.request.Request(address, headers={"Accept-Encoding": "br, gzip"})) as small:
            content = small.read()
        assert gzip.decompress(content) == file.read_bytes() and len(content) < file.stat().st_size / 2
        assert ("css" if file.suffix == ".css" else "javascript") in small.headers["Content-Type"]
        assert small.headers["Cache-Control"] == plain.headers["Cache-Control"]
        assert small.headers["Content-Security-Policy"] == guard.POLICY
    for odd in ("js/none.js", "js/..%2f..%2fapp.py", "js/%00.js", "js/"):
        asked = urllib.request.Request(f"{app[0]}/static/{odd}", headers={"Accept-Encoding": "gzip"})
        with suppress(urllib.error.HTTPError), urllib.request.urlopen(asked) as found:
            assert b'<div id="root">' in found.read(), "the page of the app, as for any other address"


@LONG
@pytest.mark.browser
def test_the_front_page_arrives_in_a_megabyte_and_a_half(browser: Browser, app: tuple[str, Path]) -> None:
    page, sizes = browser.new_context().new_page(), list[int]()
    page.on("websocket", lambda socket: socket.on("framereceived", lambda data: sizes.append(len(data))))
    page.goto(app[0])
    expect(page.locator("[data-test-script-state=notRunning]")).to_be_attached()
    page.wait_for_load_state("networkidle")
    every = "[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]"
    weight = page.evaluate(f"{every}.reduce((sum, entry) => sum + entry.transferSize, 0)")
    assert 500_000 < weight + sum(sizes) <= 1_500_000
    page.context.close()


BUSY = """
import sys, tempfile, threading
from explorer.app import streamlit_inside

def compute():
    while True:
        sum(range(1000))

class Server:
    def stop(self):
        print("asked", flush=True)

streamlit_inside.end_within(0.5)
from streamlit.web import bootstrap
bootstrap._set_up_signal_handler(Server())
folder = tempfile.TemporaryDirectory()
for _ in range(6):
    threading.Thread(target=compute).start()
print(folder.name, flush=True)
compute()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, *long(signal.SIGINT)])
def test_a_server_that_is_asked_to_end_is_gone_soon_whatever_it_computes(number: signal.Signals) -> None:
    """The threads of its pages go on, and what it would leave on the disk is removed."""
    with subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.is_dir()
        process.send_signal(number)
        try:
            assert process.wait(60) == 0 and process.stdout.read() == "asked\n" and not folder.exists()
        finally:
            process.kill()
