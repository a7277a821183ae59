"""A run on the command line: one line that is written over, a line for each measurement, and a Ctrl-C that ends after the step."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from explorer.errors import many
from explorer.records import TrainingStep

WIDTH, SECONDS, SHOWN = 24, 0.1, 4
LATELY = 21  # moments from which the time that is left is reckoned: of twenty steps
ENDING = ("SIGINT", "SIGTERM")


class Progress:
    """Says where a run is. On a terminal the line moves; elsewhere there is one for every tenth of the way."""

    def __init__(self, steps: int, done: int, as_json: bool) -> None:
        self.steps, self.as_json = steps, as_json
        self._marks = deque([(done, time.monotonic())], maxlen=LATELY)  # of the last steps, each with its moment
        self._begun = False  # whether a step after the first one was made: it alone waits for a compiler and for caches
        self._said_at, self._moves, self._lines = 0.0, sys.stderr.isatty(), max(1, steps // 10)

    def say(self, step: TrainingStep) -> None:
        """Tell of a step, if it is time to."""
        self._note(step.step)
        last = step.step == self.steps
        if self.as_json:
            if step.step % 10 == 0 or last or step.metrics:
                sys.stdout.write(json.dumps(as_plain(step), ensure_ascii=False) + "\n")
                sys.stdout.flush()
            return
        if step.metrics:
            clear = "\r\x1b[K" if self._moves else ""
            sys.stderr.write(f"{clear}step {step.step}: {measured(step)}\n")
        due = time.monotonic() - self._said_at >= SECONDS if self._moves else step.step % self._lines == 0
        if due or last:
            self._said_at = time.monotonic()
            sys.stderr.write(f"\r{self.line(step)}\x1b[K" if self._moves else f"{self.line(step)}\n")
            sys.stderr.flush()

    def _note(self, step: int) -> None:
        """Remember when a step came, and forget the beginning once a second one shows how long a usual step takes."""
        self._marks.append((step, time.monotonic()))
        if not self._begun and len(self._marks) > 2 and self._marks[-1][1] > self._marks[1][1]:
            self._begun = True
            self._marks.popleft()

    def line(self, step: TrainingStep) -> str:
        """How far it is, the losses, how fast, how long still."""
        done = round(WIDTH * step.step / self.steps)
        losses = "  ".join(f"{name} {value:.3f}" for name, value in step.losses.items())
        (first, began), (last, now) = self._marks[0], self._marks[-1]
        left = (now - began) / max(1, last - first) * (self.steps - step.step)
        bar = "█" * done + "░" * (WIDTH - done)
        return f"{bar} {step.step}/{self.steps}  {losses}  {step.speed:,.0f} tokens/s  {clock(left)} left"


def clock(seconds: float) -> str:
    """A time as a reader takes it in: 0:07, 12:40, 3:05:00."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def measured(step: TrainingStep) -> str:
    """The first of the held-out metrics, on what they were measured, and one line of what the model writes."""
    described = "  ".join(f"{name} {value:.3f}" for name, value in list(step.metrics.items())[:SHOWN])
    return described + measured_on(step.counts) + (f"  “{step.samples[0]}”" if step.samples else "")


def measured_on(counts: Mapping[str, int]) -> str:
    """On how many texts and predictions a model was measured; on how many windows, where texts were too long for it.

    >>> measured_on({"texts": 24, "windows": 187, "predictions": 3412})
    '  (24 texts in 187 windows, 3,412 predictions)'
    """
    texts, windows, predictions = (counts.get(name, 0) for name in ("texts", "windows", "predictions"))
    parts = [f"{many(texts, 'text')}{f' in {windows:,} windows' if windows > texts else ''}"] if texts else []
    parts += [many(predictions, "prediction")] if predictions else []
    return f"  ({', '.join(parts)})" if parts else ""


def as_plain(step: TrainingStep) -> dict[str, Any]:
    """A step as JSON takes it; what was not measured is left out."""
    plain: dict[str, Any] = {"step": step.step, "losses": dict(step.losses), "speed": round(step.speed)}
    plain |= {"metrics": dict(step.metrics), "samples": list(step.samples), "snapshot": step.snapshot}
    plain["counts"] = dict(step.counts)
    return {name: value for name, value in plain.items() if value not in ({}, [], None)}


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[list[int]]:
    """While inside, the first Ctrl-C (or a polite kill) asks to stop, and the second one interrupts. Yields what came."""
    came: list[int] = []
    before = {name: signal.getsignal(getattr(signal, name)) for name in ENDING}

    def ask(number: int, _: FrameType | None) -> None:
        came.append(number)
        stop()
        signal.signal(number, signal.default_int_handler)

    for name in ENDING:
        signal.signal(getattr(signal, name), ask)
    try:
        yield came
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
