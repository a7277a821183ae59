"""A room of visitors: real WebSocket sessions that read pages, change parts, models and sentences, and think in between.

    python benchmarks/classroom.py --visitors 30 --minutes 5

Starts `explorer app --classroom` on this machine (or takes `--at http://host:port`), speaks Streamlit's own protocol, and prints one
line for each kind of action: count, median, 95% and slowest answer in seconds, errors; then the memory of the server over time. A time
is from sending to the server's "script finished", without the browser's drawing. Run it where nothing else runs: the visitors take some
of the processor themselves.
"""

from __future__ import annotations

import argparse
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from explorer.microworld import texts

THINK = (3.0, 8.0)
PATIENCE = 90.0  # seconds after which an answer counts as an error
PARTS = {
    "": ("board", "masks", "predictions", "another-sentence"),
    "tokens": ("learn", "one-text", "languages"),
    "vectors": ("plane", "neighbours", "sums"),
    "positions": ("schemes", "shuffle"),
    "attention": ("walk", "both-masks", "why-d", "exercises"),
    "heads": ("board", "all-layers", "combined", "many-texts", "lens"),
    "families": ("blueprint", "masks", "residual-stream"),
    "corruption": ("hide-a-word", "every-strategy", "one-strategy"),
    "training": ("watch", "snapshots", "systems", "train-one"),
    "elmo": ("letters", "directions", "senses"),
    "decoding": ("next-token", "beams", "strategies"),
    "whatif": ("change-one-thing", "each-part-alone"),
    "vote": ("",),
}
MODELS = ("bert", "gpt2", "roberta", "bart")


@dataclass
class Found:
    """What all visitors met."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    memory: list[tuple[float, float]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, kind: str, seconds: float, errors: list[str]) -> None:
        with self.lock:
            self.times[kind].append(seconds)
            self.errors += errors


class Visitor:
    """One browser, as the server sees it."""

    def __init__(self, address: str, seed: int, visits: Found, sentences: list[str]) -> None:
        self.address, self.found, self.sentences = address, visits, sentences
        self.rng = random.Random(seed)
        self.page, self.part, self.boxes = "", "", {}  # type: str, str, dict[str, str]

    def connected(self) -> ClientConnection:
        """A session of its own."""
        url, from_ = self.address.replace("http", "ws", 1) + "/_stcore/stream", Origin(self.address)
        return connect(url, subprotocols=[Subprotocol("streamlit")], max_size=None, origin=from_, open_timeout=30)

    def stay(self, until: float) -> None:
        """Read, change, think, until the hour is over."""
        with self.connected() as socket_:
            self._ask(socket_, "first page")
            while time.monotonic() < until:
                time.sleep(self.rng.uniform(*THINK))
                self._ask(socket_, self._choose())

    def warm(self, pages: int) -> None:
        """Open the first pages once, so that the models are open when the others come; nothing of it is counted."""
        with self.connected() as socket_:
            for self.page in list(PARTS)[:pages]:
                self.part = PARTS[self.page][0]
                self._ask(socket_, "warm")

    def _choose(self) -> str:
        """What the visitor does next."""
        kind = self.rng.choices(("page", "part", "sentence"), (3, 4, 3))[0]
        if kind == "page":
            self.page = self.rng.choice(list(PARTS))
            self.boxes = {}
        if kind in ("page", "part"):
            self.part = self.rng.choice(PARTS[self.page])
        return kind if kind != "sentence" or self.boxes else "part"

    def _ask(self, to: ClientConnection, kind: str) -> None:
        """Ask for a page as a browser does, and wait until it is there."""
        message = BackMsg()
        rerun = message.rerun_script
        options = ({"part": self.part} if self.part else {}) | self._fill(rerun, kind)
        rerun.query_string, rerun.page_name = urlencode(options), self.page
        begun = time.perf_counter()
        to.send(message.SerializeToString())
        errors = self._listen(to)
        where = f"{kind} {self.page or 'start'}/{self.part}"
        self.found.add(kind, time.perf_counter() - begun, [f"{where}: {error}" for error in errors])

    def _fill(self, rerun: ClientState, kind: str) -> dict[str, str]:
        """Fill in what this kind of action fills in; what it adds to the address."""
        if kind == "sentence":
            for box in self.boxes.values():
                state = rerun.widget_states.widgets.add()
                state.id, state.string_value = box, self.rng.choice(self.sentences)
        return {"model": self.rng.choice(MODELS)} if kind == "page" and self.page in ("attention", "heads", "whatif") else {}

    def _listen(self, to: ClientConnection) -> list[str]:
        """Everything until the script has finished; what went wrong."""
        errors, until = [], time.monotonic() + PATIENCE
        while time.monotonic() < until:
            try:
                raw = to.recv(timeout=max(0.1, until - time.monotonic()))
            except TimeoutError:
                break
            message = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
            kind = message.WhichOneof("type")
            if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                element = message.delta.new_element
                if element.WhichOneof("type") == "exception":
                    errors.append(element.exception.message[:200])
                else:
                    self.met(element, message.delta.fragment_id)
            elif kind == "script_finished":
                return errors
        return [*errors, f"no answer in {PATIENCE:.0f} s"]

    def met(self, element: Element, fragment: str) -> None:
        """Remember the boxes that take a sentence."""
        if element.WhichOneof("type") == "text_input" and "entence" in element.text_input.label:
            self.boxes[element.text_input.label] = element.text_input.id


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(port: int, home: str, settings: Path | None = None) -> subprocess.Popen[bytes]:
    """A server for a room, or with these settings, which keeps what is trained in this folder; it answers when this returns."""
    room = ("--classroom",) if settings is None else ("--settings", str(settings))
    options = (*room, "--address", "127.0.0.1", "--port", str(port), "--no-open-browser")
    with tempfile.TemporaryFile() as log:
        here = {**os.environ, "EXPLORER_HOME": home}
        process = subprocess.Popen([sys.executable, "-m", "explorer", "app", *options], stdout=log, stderr=log, env=here)
    for _ in range(300):
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
            break
        time.sleep(0.2)
    return process


def end(process: subprocess.Popen[bytes], *, kill: bool = False) -> None:
    """End a server and what it started, politely or at once."""
    for child in (*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)):
        with suppress(psutil.Error):
            child.kill() if kill else child.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:  # hundreds of visitors' pages are still being computed
        end(process, kill=True)


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """A server of its own, for a room, on a free port."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        process = start(port, home)
        try:
            yield f"http://127.0.0.1:{port}", process.pid
        finally:
            end(process)


def weigh(pid: int, visits: Found, until: float) -> None:
    """The memory of the server and what it started, every five seconds."""
    begun = time.monotonic()
    while time.monotonic() < until:
        with suppress(psutil.Error):
            server = psutil.Process(pid)
            size = sum(child.memory_info().rss for child in (server, *server.children(recursive=True)))
            visits.memory.append((time.monotonic() - begun, size / 1e6))
        time.sleep(5)


def visit(address: str, pid: int | None, visitors: int, seconds: float, warm: int = len(PARTS)) -> Found:
    """All visitors, each in a thread, arriving within fifteen seconds, after one who opened the pages for them."""
    sentences = [text.split(". ")[0] + "." for text in texts(200, 11, "test")]
    Visitor(address, -1, Found(), sentences).warm(warm)
    visits, until = Found(), time.monotonic() + seconds
    threads = [threading.Thread(target=weigh, args=(pid, visits, until), daemon=True)] if pid else []

    def one(number: int) -> None:
        time.sleep(number * min(15.0, seconds / 4) / visitors)
        try:
            Visitor(address, number, visits, sentences).stay(until)
        except Exception as error:  # whatever ends a visit is a finding
            visits.add("broken off", 0.0, [f"{type(error).__name__}: {error}"])

    threads += [threading.Thread(target=one, args=(number,), daemon=True) for number in range(visitors)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + PATIENCE + 30)
    return visits


def answers(visits: Found) -> list[str]:
    """How long each kind of action took, as the lines of a table."""
    lines = ["", "| what | count | median, s | 95%, s | slowest, s |", "|---|---|---|---|---|"]
    every = [second for times in visits.times.values() for second in times]
    for kind, times in (*sorted(visits.times.items()), ("all", every)):
        middle, most, last = (float(np.percentile(times, at)) for at in (50, 95, 100))
        lines.append(f"| {kind} | {len(times)} | {middle:.2f} | {most:.2f} | {last:.2f} |")
    return [*lines, f"| errors | {len(visits.errors)} | | | |"]


def report(visits: Found) -> str:
    """The figures of a visit, as a table."""
    lines = [*answers(visits), "", "| after, s | memory of the server, MB |", "|---|---|"]
    some = visits.memory[:: max(1, len(visits.memory) // 10)]
    lines += [f"| {after:.0f} | {size:.0f} |" for after, size in some]
    return "\n".join([*lines, "", *visits.errors[:5]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=0, help="a short visit instead: three visitors, so many times 12 s")
    parser.add_argument("--warm", type=int, default=len(PARTS), help="so many pages are opened once before")
    parser.add_argument("--at", default="", help="the address of a server that runs already")
    options = parser.parse_args()
    visitors, seconds = (3, 12.0 * options.rounds) if options.rounds else (options.visitors, 60 * options.minutes)
    if options.at:
        visits = visit(options.at.rstrip("/"), None, visitors, seconds, options.warm)
    else:
        with served() as (address, pid):
            visits = visit(address, pid, visitors, seconds, options.warm)
    print(report(visits))
    sys.exit(bool(visits.errors))


if __name__ == "__main__":
    main()
