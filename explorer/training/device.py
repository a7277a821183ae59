"""Where a run computes and in which numbers: moving batches there, and the precision of the matrix products."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import numpy as np
import torch
from torch import Tensor

from explorer.corruption.collate import PARTS, Batch
from explorer.errors import unknown
from explorer.nn.losses import UNPADDED
from explorer.nn.widest import cudnn_tf32, widest

ROUND_BYTES = 16  # where a tensor may begin whose kernels read several numbers at once
AUTOCAST = {"float32": False, "bfloat16": True}


def pick_autocast(precision: str, device: torch.device) -> str:
    """The precision meant: "auto" is bfloat16 where the device has units for it, otherwise float32."""
    if precision == "auto":
        return "bfloat16" if quick_in_half(device) else "float32"
    if precision not in AUTOCAST:
        raise unknown("precision", precision, ("auto", *AUTOCAST))
    return precision


def quick_in_half(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 in special units (a processor: AVX512-BF16 or AMX)."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    known = (getattr(torch.cpu, f"_is_{unit}_supported", bool) for unit in ("avx512_bf16", "amx_tile"))
    return device.type == "cpu" and any(there() for there in known)


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """While inside, products run in this precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=AUTOCAST[precision])


def tensors(batch: Batch, device: torch.device) -> dict[str, Tensor]:
    """A batch as a loss takes it: its parts, the numbers of the positions that count, and its extras."""
    named = {name: getattr(batch, name) for name in PARTS}
    positions = np.flatnonzero(batch.loss_mask)  # found here: no device is waited for
    named |= {"loss_positions": positions, **batch.extras}
    parts = {name: torch.as_tensor(np.ascontiguousarray(value)) for name, value in named.items()}
    if device.type == "cuda" and batch.attention_mask.all():  # then attention takes its quickest way, which knows no padding
        parts[UNPADDED] = torch.empty(0)
    if device.type != "cuda":
        wide = {name: value.to(widest(device)) for name, value in parts.items() if value.dtype == torch.float64}
        return {name: value.to(device) for name, value in {**parts, **wide}.items()}
    return sent(parts, device)


def sent(parts: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    """The parts of a batch on a GPU, by one copy for which nobody waits."""
    sizes = [-(-value.nbytes // ROUND_BYTES) * ROUND_BYTES for value in parts.values()]
    near = torch.empty(sum(sizes), dtype=torch.uint8, pin_memory=True)
    for value, place in zip(parts.values(), near.split(sizes), strict=True):
        place[: value.nbytes].view(value.dtype).view(value.shape).copy_(value)
    far = near.to(device, non_blocking=True).split(sizes)
    return {
        name: place[: value.nbytes].view(value.dtype).view(value.shape)
        for (name, value), place in zip(parts.items(), far, strict=True)
    }


@contextmanager
def deterministic(device: torch.device, wanted: bool) -> Iterator[None]:
    """While inside, a GPU computes everything in a fixed order where that is wanted, and refuses what it cannot."""
    if not wanted or device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when the first product is computed
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)


@contextmanager
def coarse_float32(device: torch.device, precision: str) -> Iterator[None]:
    """While inside, what stays in float32 beside products in bfloat16 (such as checks) may use a GPU's TF32 units.

    They keep 10 bits behind the point, bfloat16 has 7. A run in float32 does without them, so that it stays near that of a processor.
    """
    before, coarse = torch.get_float32_matmul_precision(), device.type == "cuda" and AUTOCAST[precision]
    if coarse:
        torch.set_float32_matmul_precision("high")
    try:
        with cudnn_tf32(coarse):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


def forked(device: torch.device) -> AbstractContextManager[None]:
    """While inside, random numbers on this device are drawn without a trace: those of the processor and of no other device come back."""
    if device.type == "mps":
        return _forked_apple()
    return torch.random.fork_rng(devices=[] if device.type == "cpu" else [device.index or 0], device_type="cuda")


@contextmanager
def _forked_apple() -> Iterator[None]:
    """The same for the GPU of Apple's, of which there is one: PyTorch's own way asks it for a number."""
    with torch.random.fork_rng(devices=[]):
        before = torch.mps.get_rng_state()
        try:
            yield
        finally:
            torch.mps.set_rng_state(before)


def seeded(device: torch.device, number: int) -> None:
    """Seed the generator of one device; `torch.manual_seed` asks every kind of device there is, which takes longer than a small step."""
    if device.type == "mps":
        torch.mps.manual_seed(number)
    generator = torch.default_generator if device.type != "cuda" else torch.cuda.default_generators[device.index or 0]
    generator.manual_seed(number)
