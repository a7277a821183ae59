"""Batches made ahead of time in a thread, while the model is busy: the same ones in the same order."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator
from typing import TypeVar

Made = TypeVar("Made")
DEPTH = 2  # how many may lie ready


def made_ahead(make: Callable[[int], Made], first: int, last: int) -> Generator[Made, None, None]:
    """What `make` makes of each number from the first to the last. An error comes out where the reader is when it is due."""
    ready: queue.Queue[tuple[Made | None, BaseException | None]] = queue.Queue(DEPTH)
    over = threading.Event()
    worker = threading.Thread(target=_fill, args=(make, range(first, last + 1), ready, over), daemon=True)
    worker.start()
    try:
        for _ in range(first, last + 1):
            made, error = ready.get()
            if error is not None:
                raise error
            yield made  # type: ignore[misc]
    finally:
        over.set()
        while not ready.empty():  # make room, so that the worker sees that it is over
            ready.get_nowait()
        worker.join()


def _fill(make: Callable[[int], Made], numbers: range, ready: queue.Queue, over: threading.Event) -> None:
    for number in numbers:
        try:
            done: tuple[Made | None, BaseException | None] = (make(number), None)
        except BaseException as error:  # handed over to the reader, whatever it is
            done = (None, error)
        if over.is_set():
            return
        ready.put(done)
        if done[1] is not None:
            return
