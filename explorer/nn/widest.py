"""How exactly a device computes: the widest numbers it has, in which sums over many rows are kept, and whether float32 may be rounded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


def widest(device: torch.device) -> torch.dtype:
    """64 bits; on Apple's GPU 32, which has no wider ones.

    >>> widest(torch.device("cpu")), widest(torch.device("mps"))
    (torch.float64, torch.float32)
    """
    return torch.float32 if device.type == "mps" else torch.float64


def in_widest(x: Tensor) -> Tensor:
    """The same numbers in the widest kind that their device has."""
    return x.to(widest(x.device))


@contextmanager
def cudnn_tf32(allowed: bool) -> Iterator[None]:
    """While inside, cuDNN (LSTMs and convolutions on a GPU) may round float32 to 10 bits behind the point (TF32), or may not.

    PyTorch allows it unless somebody says otherwise; for matrix products it does not.
    """
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = allowed
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before
