"""Many visitors who play with a board of the app at once, and what that costs its server.

    python benchmarks/players.py --visitors 300 --minutes 2

One Chromium plays on a page of this machine's `explorer app --classroom`: it moves along the rows, types two sentences, masks a token. The
messages that it sends to the server are recorded, with their times. Then so many WebSocket sessions open the page, and when it is there
for all of them they send these messages at these times, over and over, each with sentences that nobody else has. Printed are the processor
time of the server while they play, the messages, and how long an answer took. What runs in a visitor's browser costs the server nothing
and is not simulated; with another checkout on PYTHONPATH the same visitors play there.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import psutil
from board import CHROMIUM, FLAGS
from classroom import served
from playwright.sync_api import Error, Page, WebSocket, sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

PAGE = "/attention?part=walk"
SENTENCES = ("The old dogs followed a small child home.", "My sister was thirsty, so she drank some water.")
NOUNS = ("dogs", "cats", "girls", "boys", "cooks", "horses", "friends", "teachers", "nurses", "children")
ADJECTIVES = ("small", "young", "tired", "happy", "quiet", "hungry", "clever", "brave", "kind", "old")
DRINKS = ("water", "milk", "tea", "coffee", "juice", "lemonade", "cocoa", "beer", "wine", "soup")
ARRIVAL = 0.4  # seconds between two visitors who open the page
PAUSE, LETTER = 2500, 60  # milliseconds between two deeds, and between two keys


@dataclass
class Play:
    """The messages of one visitor: the first opens the page, the others follow after so many seconds."""

    opening: bytes
    messages: list[tuple[float, bytes]]
    seconds: float


@dataclass
class Answers:
    """What the visitors met while they played."""

    sent: int = 0
    times: list[float] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)


def recorded(address: str) -> Play:
    """What a browser sends while somebody plays with the board."""
    frames: list[tuple[float, bytes]] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framesent", lambda data: frames.append((time.monotonic(), bytes(data))))

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("websocket", listen)
        page.goto(address + PAGE)
        page.locator(".board[data-state=ready] canvas").wait_for(timeout=120_000)
        page.wait_for_timeout(3 * PAUSE)
        begun = time.monotonic()
        play(page)
        seconds = time.monotonic() - begun
        browser.close()
    asked = [(at, data) for at, data in frames if BackMsg.FromString(data).WhichOneof("type") == "rerun_script"]
    return Play(asked[0][1], [(at - begun, data) for at, data in asked if at >= begun], seconds)


def play(page: Page) -> None:
    """Move along the rows, type two sentences, and mask a token of each."""
    canvas, box = page.locator(".board canvas"), page.get_by_label("Your sentence")
    for sentence in SENTENCES:
        canvas.focus()
        for _ in range(3):
            page.keyboard.press("ArrowDown")
            page.wait_for_timeout(PAUSE / 2)
        box.fill("")
        box.press_sequentially(sentence, delay=LETTER)
        box.press("Enter")
        page.wait_for_timeout(2 * PAUSE)
        mask(page)
        page.wait_for_timeout(2 * PAUSE)


def mask(page: Page) -> None:
    """Mask a token by its menu; a page that has just been drawn again may have lost the first key."""
    menu = page.get_by_role("menuitem", name="Mask it")
    for _ in range(5):
        page.locator(".board canvas").focus()
        page.keyboard.press("ArrowUp")  # the row may be at the end, where there is no word
        page.keyboard.press("m")
        with suppress(Error):
            menu.wait_for(timeout=2000)
            return menu.click()
    raise SystemExit("The board shows no menu of its token.")


def own(data: bytes, number: int, turn: int) -> bytes:
    """A recorded message with the words of one visitor in it."""
    message = BackMsg.FromString(data)
    asked, pick = message.rerun_script, number + turn
    words = {
        "dogs": NOUNS[pick % 10],
        "small": ADJECTIVES[pick // 10 % 10],
        "thirsty": ADJECTIVES[pick % 10],
        "water": DRINKS[pick // 10 % 10],
    }

    def with_words(text: str) -> str:
        for word, other in words.items():
            text = text.replace(word, other)
        return text

    asked.query_string = with_words(asked.query_string)
    for state in asked.widget_states.widgets:
        kind = state.WhichOneof("value")
        if kind in ("string_value", "json_value", "string_trigger_value"):
            setattr(state, kind, with_words(getattr(state, kind)))
        elif kind == "json_trigger_value":
            state.json_trigger_value = with_words(state.json_trigger_value)
    return message.SerializeToString()


class Visitor:
    """One browser, as the server sees it."""

    def __init__(self, number: int, recording: Play, answers: Answers) -> None:
        self.number, self.recording, self.answers = number, recording, answers
        self.sent = 0.0  # when the message was sent that has no answer yet
        self.opened = asyncio.Event()

    async def stay(self, address: str, begin: asyncio.Event, seconds: float) -> None:
        """Open the page, wait for the others, and play until the time is over."""
        await asyncio.sleep(self.number * ARRIVAL)
        url, kind = address.replace("http", "ws", 1) + "/_stcore/stream", Subprotocol("streamlit")
        try:
            async with connect(
                url, subprotocols=[kind], origin=Origin(address), max_size=None, open_timeout=60, ping_interval=None
            ) as socket:
                reading = asyncio.create_task(self._read(socket))
                reading.add_done_callback(lambda _: self.opened.set())  # nobody waits for one whom the server has left
                await socket.send(self.recording.opening)
                await begin.wait()
                await self._play(socket, time.monotonic() + seconds)
                reading.cancel()
        except (OSError, ConnectionClosed) as error:
            self.opened.set()
            self.answers.broken.append(f"{type(error).__name__}: {error}")

    async def _play(self, socket: ClientConnection, until: float) -> None:
        """The recorded messages at their times, over and over, each visitor somewhere else in them."""
        length = self.recording.seconds
        turn, start = 0, time.monotonic() - length * (self.number * 0.618 % 1)
        while True:
            for after, data in self.recording.messages:
                wait = start + turn * length + after - time.monotonic()
                if wait < 0 and not turn:
                    continue  # before this visitor's first message
                if time.monotonic() + max(0.0, wait) > until:
                    return
                await asyncio.sleep(max(0.0, wait))
                self.sent = time.monotonic()
                self.answers.sent += 1
                await socket.send(own(data, self.number, turn))
            turn += 1

    async def _read(self, socket: ClientConnection) -> None:
        """Everything that comes; an answer is there when a run of the page has ended."""
        async for raw in socket:
            message = ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())
            if message.WhichOneof("type") == "script_finished":
                self.opened.set()
                if self.sent:
                    self.answers.times.append(time.monotonic() - self.sent)
                    self.sent = 0.0


def used(pid: int) -> float:
    """The processor time of a server and what it started, in seconds."""
    total = 0.0
    for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
        with suppress(psutil.Error):
            times = process.cpu_times()
            total += times.user + times.system
    return total


async def visits(address: str, pid: int, recording: Play, count: int, seconds: float) -> tuple[Answers, float]:
    """All visitors; what they met, and the processor time that the server needed while they played."""
    answers, begin = Answers(), asyncio.Event()
    visitors = [Visitor(number, recording, answers) for number in range(count)]
    tasks = [asyncio.create_task(visitor.stay(address, begin, seconds)) for visitor in visitors]
    for visitor in visitors:
        await visitor.opened.wait()
    before = used(pid)
    begin.set()
    await asyncio.sleep(seconds)
    taken = used(pid) - before
    for task in tasks:
        task.cancel()
    return answers, taken


def report(recording: Play, answers: Answers, count: int, seconds: float, taken: float) -> str:
    """The figures, as a table."""
    median, most = (float(np.percentile(answers.times or [float("nan")], at)) for at in (50, 95))
    rows = {
        "messages of one visitor in one play": f"{len(recording.messages)} in {recording.seconds:.0f} s",
        "visitors, seconds": f"{count}, {seconds:.0f}",
        "messages sent, answered": f"{answers.sent}, {len(answers.times)}",
        "an answer, median and 95%, s": f"{median:.2f}, {most:.2f}",
        "processor time of the server, s": f"{taken:.1f}",
        "of it for one visitor and minute, s": f"{taken / count / seconds * 60:.3f}",
        "connections broken": str(len(answers.broken)),
    }
    return "\n".join(
        ["", "| what | |", "|---|---|", *(f"| {what} | {figure} |" for what, figure in rows.items()), *answers.broken[:3]]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=0, help="a short visit instead: three visitors, so many times 12 s")
    options = parser.parse_args()
    count, seconds = (3, 12.0 * options.rounds) if options.rounds else (options.visitors, 60 * options.minutes)
    with served() as (address, pid):
        recording = recorded(address)
        answers, taken = asyncio.run(visits(address, pid, recording, count, seconds))
        print(report(recording, answers, count, seconds, taken), flush=True)


if __name__ == "__main__":
    main()
