"""Numbers in small steps, for a file that would be too large: how they travel, and how far that moves what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np

from explorer.records import Attention, Block

FINE = 96  # steps in the usual size (root mean square) of one head's numbers
FINER = 320  # the same for a layer that is kept with all that surrounds it


class Moved(TypedDict):
    """How far rounding moves the weights of an attention, its context vectors, and what leaves each sub-layer that travels with it."""

    weights: float
    context: float
    around: list[float]


def in_steps(array: np.ndarray, fine: int = FINE) -> tuple[np.ndarray, list[float]]:
    """Whole numbers of steps [head, row, column], and the step of each head; an array [row, column] counts as one head."""
    wide = np.asarray(array, np.float64)
    wide = wide[None] if wide.ndim == 2 else wide
    sizes = np.sqrt((wide**2).mean(axis=(1, 2)))
    steps = np.maximum(np.maximum(sizes / fine, np.abs(wide).max(axis=(1, 2)) / 32_000), 1e-30).astype(np.float32)
    return np.round(wide / steps[:, None, None]).astype(np.int16), [float(step) for step in steps]


def planes(whole: np.ndarray) -> bytes:
    """Whole numbers as all their low bytes, then all their high ones, which are nearly always 0 and pack to nothing."""
    folded = ((whole << 1) ^ (whole >> 15)).astype(np.uint16)  # 0, −1, 1, −2, … become 0, 1, 2, 3, …
    return (folded & 255).astype(np.uint8).tobytes() + (folded >> 8).astype(np.uint8).tobytes()


def as_read(array: np.ndarray, fine: int = FINE) -> np.ndarray:
    """An array as the page reads it back: a number of steps, times the step."""
    whole, steps = in_steps(array, fine)
    return (whole.astype(np.float32) * np.array(steps, np.float32)[:, None, None]).reshape(array.shape)


def moved(attention: Attention, blocks: Sequence[Block] = (), fine: int = FINE) -> Moved:
    """How far rounding moves what is computed from what is sent, against the model's own."""
    q, k, v, bias = (
        None if array is None else as_read(array, fine) for array in (attention.q, attention.k, attention.v, attention.bias)
    )
    rounded = replace(attention, q=q, k=k, v=v, bias=bias)
    weights = np.stack([rounded.derived(head) for head in range(attention.heads)])
    mixed = replace(rounded, weights=weights)
    context = max(
        float(np.abs(mixed.stage("context", h) - attention.stage("context", h)).max()) for h in range(attention.heads)
    )
    around = [_leaving(block, fine) for block in blocks]
    return {"weights": float(np.abs(weights - attention.weights).max()), "context": context, "around": around}


def normed(x: np.ndarray, block: Block) -> np.ndarray:
    """The norm of a sub-layer, of other numbers, with what the page knows of it."""
    mean, deviation, gain, shift = (
        np.asarray(array, np.float16).astype(np.float32) for array in (block.mean, block.deviation, block.gain, block.shift)
    )
    return (x - mean[:, None]) / deviation[:, None] * gain + shift


def added(block: Block) -> np.ndarray | None:
    """What a sub-layer adds, where an edit made it other than the norm of what it computed; None elsewhere."""
    if block.place not in ("inside", "both"):
        return None
    norm = (block.norm_input - block.mean[:, None]) / block.deviation[:, None] * block.gain + block.shift
    return None if np.allclose(norm, block.out, rtol=1e-3, atol=1e-3, equal_nan=True) else block.out


def _leaving(block: Block, fine: int) -> float:
    """How far rounding moves what leaves one sub-layer: its sum, or the norm of its sum."""
    given, inner = as_read(block.given, fine), block.place in ("inside", "both") and added(block) is None
    branch = normed(as_read(block.norm_input, fine), block) if inner else as_read(block.out, fine)
    total = given + branch if block.residual else branch
    leaves, own = (normed(total, block), block.normed) if block.place == "post" else (total, block.total)
    return float(np.abs(leaves - own).max())
