"""How a network is computed for a while: by one thread, or in evaluation mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

SMALL = 5_000_000  # weights: up to here a layer of a short text is computed before a second thread has begun


@contextmanager
def one_thread(module: nn.Module) -> Iterator[None]:
    """While inside, a small model on a processor is computed by one thread; one with more weights, or on a GPU, by as many as before.

    Several threads wait for each other after every layer. For a few short texts that takes longer than the work that they share, and
    where other programs run it takes many times as long.

    >>> import torch
    >>> from explorer.nn.threads import one_thread
    >>> with one_thread(torch.nn.Linear(2, 2)):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    weights = list(module.parameters())
    small = all(weight.device.type == "cpu" for weight in weights) and sum(weight.numel() for weight in weights) <= SMALL
    if before == 1 or not small:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """While inside, a network is in evaluation mode, without dropout; then again in the mode in which it was."""
    was = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(was)
