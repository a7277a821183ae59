"""The server of the app, before it has shown anybody a page."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from offline import free_port, server

from explorer.app import guard

THREADS = "import explorer.app.serve, torch; print(torch.get_num_threads())"


@pytest.mark.parametrize(("given", "threads"), [({}, "1"), ({"OMP_NUM_THREADS": "2"}, "2")])
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
for _ in range(20):
    threading.Thread(target=compute).start()
print(folder.name, flush=True)
compute()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
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
