"""A line of progress for somebody who waits: nothing for two seconds, then one line that moves, and afterwards no trace of it.

On a terminal and in a notebook only, and only in the main thread: a log, a page of the app and a test stay as they are.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Any, TypeVar

PATIENCE, OFTEN = 2.0, 0.2  # seconds before the first word, and between two
WIDTH = 24
Item = TypeVar("Item")
_lines: list[Any] = []  # the one that is shown now: what is done inside of something else says nothing


class Terminal:
    """The last line of a terminal."""

    def show(self, text: str) -> None:
        """Write this line over the one before."""
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()


class Notebook:
    """One output below the cell of a notebook, which is changed in place."""

    def __init__(self) -> None:
        self.handle: Any = None

    def show(self, text: str) -> None:
        """Write this line in place of the one before."""
        from IPython.display import display

        if self.handle is None:
            self.handle = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self.handle.update({"text/plain": text}, raw=True)


def screen() -> Terminal | Notebook | None:
    """Where somebody may be waiting; None where nobody looks."""
    if threading.current_thread() is not threading.main_thread() or sys.stderr is None:
        return None
    if type(sys.stderr).__module__.startswith("ipykernel"):
        return Notebook()
    return Terminal() if sys.stderr.isatty() else None


class WaitingLine:
    """One line about one piece of work."""

    def __init__(self, doing: str, total: int | None) -> None:
        self.doing, self.total, self.done = doing, total, 0
        self.screen = None if _lines else screen()
        self.began = time.monotonic()
        self.latest, self.shown = self.began + PATIENCE - OFTEN, False

    def say(self) -> None:
        """Say how far it is, if somebody waits for long enough."""
        now = time.monotonic()
        if self.screen is not None and now - self.latest >= OFTEN:
            self.screen.show(self.text(now - self.began))
            self.latest, self.shown = now, True

    def text(self, seconds: float) -> str:
        """The line: a bar and what is left where the number is known, otherwise the time."""
        if not self.total:
            return f"{self.doing} … {seconds:.0f} s" + (f", {self.done:,} done" if self.done else "")
        share = min(1.0, self.done / self.total)
        full = round(WIDTH * share)
        left = f", about {seconds / share - seconds:.0f} s left" if share else ""
        return f"{self.doing}  {'█' * full}{'░' * (WIDTH - full)} {self.done:,}/{self.total:,}{left}"

    def clear(self) -> None:
        """Take it away."""
        if self.screen is not None and self.shown:
            self.screen.show("")
            self.shown = False


@contextmanager
def waiting(doing: str, total: int | None = None) -> Iterator[WaitingLine]:
    """A line for as long as this lasts; who works says with `done` and `say` how far it is."""
    line = WaitingLine(doing, total)
    if line.screen is not None:
        _lines.append(line)
    try:
        yield line
    finally:
        line.clear()
        if line in _lines:
            _lines.remove(line)


def with_progress(items: Iterable[Item], doing: str, total: int | None = None) -> Iterator[Item]:
    """The same items, one after another, while the line says how many are done.

    >>> list(with_progress("abc", "Counting"))
    ['a', 'b', 'c']
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with waiting(doing, total) as line:
        for item in items:
            line.say()
            yield item
            line.done += 1
        line.say()


def steps_with_progress(items: Iterable[Item], doing: str, total: int | None = None) -> Iterator[Item]:
    """The same for steps that somebody is given one by one and may print: there is a line only while the next one is made."""
    line = WaitingLine(doing, total)
    for item in items:
        line.clear()
        yield item
        line.done += 1
        line.say()
    line.clear()


@contextmanager
def during(doing: str) -> Iterator[None]:
    """While inside, a line says for how long."""
    with waiting(doing) as line:
        over = threading.Event()
        clock = threading.Thread(target=_tick, args=(line, over), daemon=True)
        if line.screen is not None:
            clock.start()
        try:
            yield
        finally:
            over.set()
            if line.screen is not None:
                clock.join()


def _tick(line: WaitingLine, over: threading.Event) -> None:
    """Say the time again and again until it is over."""
    while not over.wait(OFTEN):
        line.say()
