"""A room that has the explorer open for half an hour and is not kind to it: does everything stay as it was?

    python benchmarks/soak.py --visitors 30 --minutes 30 --kills 2 --graph soak.html

Visitors as in `classroom.py`, and more: they change models, begin trainings and stop them, and one action in twenty is hostile (texts
and addresses that nobody means well with). The server is killed and started again in the first third of the time, while they are there;
each must find its way back. Its last life is long enough for its caches to fill: by that one it is judged.
Printed are the actions, the errors, and for each life of the server what it held after its warm-up and at its end: memory, open files,
threads. Ends with 1 if there was an error that no restart explains.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import psutil
from classroom import Found, Visitor, answers, end, free_port, start
from plotly.subplots import make_subplots
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Element_pb2 import Element
from websockets.exceptions import WebSocketException

import explorer as ex
from explorer.microworld import texts

HOSTILE_SHARE, EVERY = 0.05, 5.0
TEXTS = (
    "", " ", "\x00", "a" * 100_000, "the " * 20_000, "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "=1+1",
    "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627", "e" + "\u0301" * 500, "\U0001f468\u200d\U0001f469",
    "[MASK]" * 300, "`); import os", "../../etc/passwd", "$$\\frac{1}{0}$$", ".",
)  # fmt: skip
ADDRESSES = (
    {"model": "nobody"}, {"model": "/etc/passwd"}, {"model": "hub:gpt2"}, {"part": "<script>"}, {"attention.layer": "-1"},
    {"attention.head": "1e9"}, {"training": "../../x"}, {"room": "\x00"}, {"text": "x" * 50_000},
)  # fmt: skip
FORM = ("training", "train-one")
SCRIPT = (
    ("page", *FORM),
    ("train", *FORM),
    ("part", *FORM),
    ("stop", *FORM),
    ("hostile", "", "board"),
)  # what one does at once
MEASURES = ("memory with trainings, MB", "memory, MB", "open files", "threads")


@dataclass
class Life:
    """One life of the server: when it was measured, and what it held then."""

    times: list[float] = field(default_factory=list)
    measures: list[tuple[float, ...]] = field(default_factory=list)

    def drift(self) -> np.ndarray:
        """By which share each measure changed from the middle third of this life (warm by then) to its last third."""
        third = max(1, len(self.measures) // 3)
        rows = np.array(self.measures)
        return np.median(rows[-third:], axis=0) / np.median(rows[third : 2 * third], axis=0) - 1


class Guest(Visitor):
    """A visitor who stays through restarts, trains, and is sometimes hostile."""

    def __init__(self, address: str, seed: int, visits: Found, sentences: list[str]) -> None:
        super().__init__(address, seed, visits, sentences)
        self.training, self.buttons = "", {}  # type: str, dict[str, str]
        self.returns, self.script = 0, list(SCRIPT) if seed == 0 else []

    def stay(self, until: float) -> None:
        """Come back whenever the server went away."""
        while time.monotonic() < until:
            try:
                super().stay(until)
            except (OSError, WebSocketException, TimeoutError):
                self.returns, self.boxes, self.buttons, self.training = self.returns + 1, {}, {}, ""
                time.sleep(1 + self.rng.random())

    def _choose(self) -> str:
        if self.script:
            kind, self.page, self.part = self.script.pop(0)
            return kind
        if self.rng.random() < HOSTILE_SHARE:
            return "hostile"
        if (self.page, self.part) == FORM and self.rng.random() < 0.5:
            return "stop" if self.training else "train"
        return super()._choose()

    def _fill(self, rerun: ClientState, kind: str) -> dict[str, str]:
        if kind == "hostile":
            for box in self.boxes.values():
                state = rerun.widget_states.widgets.add()
                state.id, state.string_value = box, self.rng.choice(TEXTS)
            return self.rng.choice(ADDRESSES)
        if kind in ("train", "stop"):
            self._press(rerun, kind)
        return super()._fill(rerun, kind)

    def _press(self, rerun: ClientState, kind: str) -> None:
        """Press *Start* or *Stop*, with the training's ID in its box."""
        widgets = rerun.widget_states.widgets
        if button := self.buttons.get("Start" if kind == "train" else "Stop"):
            state = widgets.add()
            state.id, state.trigger_value = button, True
        if kind == "stop" and (box := self.buttons.get("Run ID")):
            state = widgets.add()
            state.id, state.string_value = box, self.training
            self.training = ""

    def met(self, element: Element, fragment: str) -> None:
        """Remember the buttons of a training, and its ID once it has one."""
        super().met(element, fragment)
        kind = element.WhichOneof("type")
        if kind == "button" and element.button.label in ("Start", "Stop"):
            self.buttons[element.button.label] = element.button.id
        elif kind == "text_input" and element.text_input.label.startswith("Run ID"):
            self.buttons["Run ID"] = element.text_input.id
            self.training = element.text_input.value or self.training


def measures_of(process: subprocess.Popen[bytes]) -> tuple[float, ...]:
    """Memory of everything that was started; then memory, open files and threads of the largest process, which is the server."""
    sizes: list[tuple[int, psutil.Process]] = []
    for child in (psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)):
        with suppress(psutil.Error):
            sizes.append((child.memory_info().rss, child))
    most, server = max(sizes, key=lambda pair: pair[0])
    return sum(size for size, _ in sizes) / 1e6, most / 1e6, float(server.num_fds()), float(server.num_threads())


def soak(visitors: int, seconds: float, kills: int, home: str) -> tuple[Found, list[Life], int]:
    """The whole visit: what the visitors met, the lives of the server, and how often a visitor had to come back."""
    port, visits, began = free_port(), Found(), time.monotonic()
    sentences = [text.split(". ")[0] + "." for text in texts(200, 11, "test")]
    guests = [Guest(f"http://127.0.0.1:{port}", number, visits, sentences) for number in range(visitors)]
    process, lives = start(port, home), [Life()]
    threads = [threading.Thread(target=guest.stay, args=(began + seconds,), daemon=True) for guest in guests]
    for thread in threads:
        thread.start()
    while time.monotonic() < began + seconds:
        if len(lives) <= kills and time.monotonic() > began + seconds * len(lives) / (3 * kills):
            end(process, kill=True)
            process = start(port, home)
            lives.append(Life())
        with suppress(psutil.Error):
            lives[-1].measures.append(measures_of(process))
            lives[-1].times.append(time.monotonic() - began)
        time.sleep(min(EVERY, seconds / 30))
    for thread in threads:
        thread.join(100)
    end(process)
    return visits, lives, sum(guest.returns for guest in guests)


def drawn(lives: Sequence[Life]) -> go.Figure:
    """Memory, open files and threads over the minutes; a line for each life of the server."""
    figure = make_subplots(rows=len(MEASURES), cols=1, shared_xaxes=True, subplot_titles=MEASURES)
    for row in range(len(MEASURES)):
        for life in lives:
            minutes, values = [second / 60 for second in life.times], [sizes[row] for sizes in life.measures]
            figure.add_scatter(x=minutes, y=values, mode="lines", line={"color": "#3366cc"}, row=row + 1, col=1)
    figure.update_yaxes(rangemode="tozero")
    figure.update_xaxes(title_text="minutes", row=len(MEASURES), col=1)
    return figure.update_layout(showlegend=False, height=900, title="What the server held; each line is one life of it")


def report(visits: Found, lives: Sequence[Life], returns: int) -> str:
    """The figures as tables."""
    lines = [*answers(visits), f"| came back after a restart | {returns} | | | |"]
    changes = " | ".join(f"{child}: change since it was warm" for child in MEASURES)
    lines += ["", f"| life of the server | {' | '.join(MEASURES)} | {changes} |", "|---" * (1 + 2 * len(MEASURES)) + "|"]
    for number, life in enumerate(lives, 1):
        last = np.median(np.array(life.measures)[-max(1, len(life.measures) // 3) :], axis=0)
        cells = [*(f"{child:,.0f}" for child in last), *(f"{child:+.1%}" for child in life.drift())]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *dict.fromkeys(visits.errors[:20])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--kills", type=int, default=2, help="how often the server is killed and started again")
    parser.add_argument(
        "--rounds", type=int, default=0, help="a short visit instead: three visitors, so many times 15 s, one restart"
    )
    parser.add_argument("--graph", type=Path, help="where the picture goes (HTML, SVG or PNG)")
    options = parser.parse_args()
    visitors, seconds, kills = options.visitors, 60 * options.minutes, options.kills
    if options.rounds:
        visitors, seconds, kills = 3, 15.0 * options.rounds, 1
    with tempfile.TemporaryDirectory() as home:
        visits, lives, returns = soak(visitors, seconds, kills, home)
    print(report(visits, lives, returns))
    if options.graph:
        ex.save(drawn(lives), options.graph)
    sys.exit(bool(visits.errors))


if __name__ == "__main__":
    main()
