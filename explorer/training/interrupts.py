"""What may come between: Ctrl-C in the middle of an update, and a machine without the memory for a step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from explorer.errors import ChoiceError
from explorer.nn.memory import is_short_of_memory


@contextmanager
def defer_sigint() -> Iterator[None]:
    """Ctrl-C waits until the block is done, so that weights are never left half moved."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread is ever interrupted
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came and callable(before):
            before(*came[-1])


@contextmanager
def memory_for(batch: int, accumulate: int) -> Iterator[None]:
    """Say what to turn when a step does not fit into the memory."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if is_short_of_memory(error):
            raise ChoiceError(
                f"There is not enough memory for a step of {batch} texts in {accumulate} part(s). Raise accumulate=… (the same "
                "result in smaller parts), or choose a smaller batch=…, length=… or size=…. Earlier snapshots are intact."
            ) from error
        raise
