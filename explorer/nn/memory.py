"""How PyTorch says that there is not enough memory."""

from __future__ import annotations

import torch

SHORT = ("out of memory", "can't allocate memory", "not enough memory", "alloc_cpu")


def is_short_of_memory(error: BaseException) -> bool:
    """Whether this error says that something does not fit into the memory."""
    return isinstance(error, (MemoryError, torch.OutOfMemoryError)) or any(sign in str(error).lower() for sign in SHORT)
