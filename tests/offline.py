"""A server and a browser that can reach nothing but this machine, and that write down every attempt."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from conftest import CHROMIUM

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, Request

ROOT = Path(__file__).parent.parent
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
CUT = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"
PATIENCE = 120_000  # milliseconds: a machine with much else to do
SOUGHT = "/_stcore/"  # Streamlit looks for its server beside the address of a page first, and then where it is
LATE = (  # what JupyterLab and anywidget say of a machine that is slow: they go on, and the picture has to come all the same
    "Failed to initialize model", "Could not restore the debugger state", "widget model not found",
)  # fmt: skip
OWN_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_WORKSPACES_DIR", "JUPYTERLAB_SETTINGS_DIR", "IPYTHONDIR")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def server(
    arguments: list[str], address: str, folder: Path, *, cwd: Path = ROOT, path: tuple[Path, ...] = (), wait: bool = True
) -> Iterator[Path]:
    """Run `python -m …` with the network cut; give back the list of what it tried to reach, once it answers at `address`, or at once.

    It runs in the folder `cwd`, and looks for packages in the folders of `path` first.
    """
    outside, log = folder / "outside.txt", folder / "log.txt"
    outside.write_text("")
    places = os.pathsep.join(map(str, (Path(__file__).parent / "loopback", *path)))
    env = {**os.environ, "PYTHONPATH": places, "EXPLORER_OUTSIDE": str(outside)}
    env |= {name: str(folder / name.lower()) for name in OWN_FOLDERS}
    with open(log, "w") as out:
        process = subprocess.Popen([sys.executable, "-m", *arguments], cwd=cwd, env=env, stdout=out, stderr=subprocess.STDOUT)
    try:
        if wait:
            wait_for(address, process, log)
        yield outside
    finally:
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:  # it still waits for something else: nothing of a test stays behind
            process.kill()
            process.wait()
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2):
        raise AssertionError(f"a server is left behind at {address}")


@contextlib.contextmanager
def app_server(folder: Path, *, wait: bool = True) -> Iterator[tuple[str, Path]]:
    """The app on a free port: its address, and the list of what it tried to reach."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    run = ["explorer.app.serve", "run", "app.py", "--server.port", str(port)]
    with server(run, f"{address}/_stcore/health", folder, wait=wait) as outside:
        yield address, outside


class Files(BaseHTTPRequestHandler):
    """Answers with the bytes that are at an address."""

    kept: ClassVar[dict[str, bytes]] = {}

    def do_GET(self) -> None:
        data = self.kept.get(self.path)
        self.send_response(200 if data is not None else 404)
        self.send_header("Content-Type", "text/html" if self.path.endswith("html") else "application/octet-stream")
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@functools.cache
def files_address() -> str:
    """Where a thread of this process answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def address_of(data: bytes, ending: str = "bin") -> str:
    """An address at which a page of the same server fetches these bytes: handed to a script, a model takes seconds of a processor."""
    path = f"/{hashlib.sha256(data).hexdigest()[:16]}.{ending}"
    Files.kept[path] = data
    return files_address() + path


def empty_page(browser: Browser | BrowserContext, body: str = "") -> Page:
    """A page with this body, which may fetch what is at an address of `address_of`."""
    page = browser.new_page()
    html = f"<!doctype html><html lang=en><meta charset=utf-8><title>x</title><link rel=icon href=data:,>{body}</html>"
    page.goto(address_of(html.encode(), "html"))
    return page


def wait_for(address: str, process: subprocess.Popen[bytes] | None, log: Path) -> None:
    """Until a server answers; `process` is None where another process started it."""
    for _ in range(600):
        assert process is None or process.poll() is None, f"the server stopped: {log.read_text()[-2000:]}"
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=2):
            return
        time.sleep(0.1)
    raise AssertionError(f"no answer at {address}: {log.read_text()[-2000:]}")


@dataclass
class Watch:
    """Everything on a page that must not happen."""

    faults: list[str] = field(default_factory=list)

    def on(self, page: Page) -> None:
        page.on("pageerror", lambda error: self._noted(f"page error: {error}", page.url))
        page.on("console", self._console)
        page.on("dialog", self._dialog)
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        if SOUGHT in message.location["url"] and "404" in message.text:
            return
        if message.type == "error" or message.text.startswith("WARN: "):  # so plotly warns, which is slower than drawing
            self._noted(f"console: {message.text}", message.location["url"] + getattr(message.page, "url", ""))

    def _noted(self, fault: str, place: str) -> None:
        if not ("/lab/tree/" in place and any(late in fault for late in LATE)):
            self.faults.append(fault)

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"a script ran: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.url.startswith(("http://127.0.0.1:", "ws://127.0.0.1:", "file:", "data:", "blob:")):
            self.faults.append(f"outside: {request.url}")


@contextlib.contextmanager
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "No Chromium on this machine. Debian: apt-get install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, CUT])
        browser.on("context", lambda context: context.set_default_timeout(PATIENCE))
        yield browser
        browser.close()


def opened(
    window: BrowserContext,
    watch: Watch,
    address: str,
    mode: str = "light",
    width: int = 1280,
    height: int = 900,
    motion: str = "no-preference",
) -> Page:
    page = window.new_page()
    page.emulate_media(color_scheme=mode, reduced_motion=motion)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": height})
    watch.on(page)
    page.goto(address)
    return page
