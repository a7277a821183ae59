"""Half as many digits where that is faster: matrix products in bfloat16, weights and their updates in float32."""

from __future__ import annotations

import torch

from explorer.errors import ChoiceError, unknown
from explorer.objectives import Objective

AUTOCAST = {"float32": False, "bfloat16": True}


def chosen(precision: str, device: torch.device) -> str:
    """The precision meant: "auto" is bfloat16 where the device has units for it, otherwise float32."""
    if precision == "auto":
        return "bfloat16" if quick_in_half(device) else "float32"
    if precision not in AUTOCAST:
        raise unknown("precision", precision, ("auto", *AUTOCAST))
    return precision


def quick_in_half(device: torch.device) -> bool:
    """Whether the device multiplies bfloat16 in units of its own (a processor: AVX512-BF16 or AMX)."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    known = (getattr(torch.cpu, f"_is_{unit}_supported", bool) for unit in ("avx512_bf16", "amx_tile"))
    return device.type == "cpu" and any(there() for there in known)


def compiled(objective: Objective, device: torch.device, wanted: bool) -> Objective:
    """The objective as one compiled graph where that is wanted: it takes a minute to make, so it pays on a GPU in long runs."""
    if not wanted:
        return objective
    if device.type != "cuda":
        raise ChoiceError(f"compiled=True is for a GPU; on {device.type} compiling takes longer than it saves. Leave it out.")
    return torch.compile(objective, dynamic=True)


def autocast(device: torch.device, precision: str) -> torch.autocast:
    """While inside, products run in this precision."""
    return torch.autocast(device.type, torch.bfloat16, enabled=AUTOCAST[precision])
