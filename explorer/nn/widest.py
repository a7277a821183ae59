"""The widest numbers that a device has: sums over many rows are kept in them."""

from __future__ import annotations

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
