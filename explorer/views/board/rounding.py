"""Numbers in small steps, for a file that would be too large: how they travel, and how far that moves what is computed from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

import numpy as np

from explorer.records import Attention

FINE = 96  # steps in the usual size (root mean square) of one head's numbers


class Moved(TypedDict):
    """How far rounding moves the weights of an attention, and its context vectors."""

    weights: float
    context: float


def in_steps(array: np.ndarray) -> tuple[np.ndarray, list[float]]:
    """Whole numbers of steps [head, row, column], and the step of each head."""
    wide = np.asarray(array, np.float64)
    sizes = np.sqrt((wide**2).mean(axis=(1, 2)))
    steps = np.maximum(np.maximum(sizes / FINE, np.abs(wide).max(axis=(1, 2)) / 32_000), 1e-30).astype(np.float32)
    return np.round(wide / steps[:, None, None]).astype(np.int16), [float(step) for step in steps]


def planes(whole: np.ndarray) -> bytes:
    """Whole numbers as all their low bytes, then all their high ones, which are nearly always 0 and pack to nothing."""
    folded = ((whole << 1) ^ (whole >> 15)).astype(np.uint16)  # 0, −1, 1, −2, … become 0, 1, 2, 3, …
    return (folded & 255).astype(np.uint8).tobytes() + (folded >> 8).astype(np.uint8).tobytes()


def as_read(array: np.ndarray) -> np.ndarray:
    """An array as the page reads it back: a number of steps, times the step."""
    whole, steps = in_steps(array)
    return whole.astype(np.float32) * np.array(steps, np.float32)[:, None, None]


def moved(held: Attention) -> Moved:
    """How far rounding moves the weights and the context vectors: from what is sent, against the model's own."""
    q, k, v, bias = (None if array is None else as_read(array) for array in (held.q, held.k, held.v, held.bias))
    rounded = replace(held, q=q, k=k, v=v, bias=bias)
    weights = np.stack([rounded.derived(head) for head in range(held.heads)])
    mixed = replace(rounded, weights=weights)
    context = max(float(np.abs(mixed.stage("context", h) - held.stage("context", h)).max()) for h in range(held.heads))
    return {"weights": float(np.abs(weights - held.weights).max()), "context": context}
