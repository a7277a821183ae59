"""Batches made ahead of time, while the model is busy, in a thread or in processes: the same ones in the same order."""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset

from explorer.errors import ChoiceError

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


@dataclass
class _Numbered(Dataset[tuple[Made | None, BaseException | None]], Generic[Made]):
    """What is made of a number, as PyTorch's loader asks for it; an error is handed over as it is."""

    make: Callable[[int], Made]

    def __getitem__(self, number: int) -> tuple[Made | None, BaseException | None]:
        try:
            return self.make(number), None
        except Exception as error:
            return None, error


def made_in_processes(make: Callable[[int], Made], first: int, last: int, *, workers: int) -> Generator[Made, None, None]:
    """The same in so many processes of PyTorch's own loader, for makers that one thread cannot keep up with."""
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ChoiceError(
            f"workers={workers}: this system cannot divide a process. Leave workers=… out: a thread makes batches."
        )
    loader: DataLoader[tuple[Made | None, BaseException | None]] = DataLoader(
        _Numbered(make),
        sampler=range(first, last + 1),
        batch_size=None,
        num_workers=workers,
        prefetch_factor=DEPTH,
        collate_fn=_as_it_is,
        multiprocessing_context="fork",
        generator=torch.Generator(),  # the loader seeds its processes: not from the numbers that the run draws
        worker_init_fn=_deaf,
    )
    coming = iter(loader)
    try:
        for made, error in coming:
            if error is not None:
                raise error
            yield made
    finally:
        del coming  # with it its processes end


def _as_it_is(made: Made) -> Made:
    return made


def _deaf(_: int) -> None:
    """Ctrl-C is for the run, which ends after its step and then ends its processes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
