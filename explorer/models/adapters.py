"""Low-rank adapters in the weights of a network: W + s · B A as one matrix, so that what is kept needs no adapters to be opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

BASE, DOWN, UP = ".base_layer.", ".lora_A.", ".lora_B."


def plain_state(module: nn.Module, *, keep_vars: bool = False) -> Mapping[str, Tensor]:
    """The weights by name as they are without adapters: where a matrix has one, it is added in."""
    weights = module.state_dict(keep_vars=keep_vars)
    if not any(BASE in name for name in weights):
        return weights
    merged = {name.replace(BASE, "."): value for name, value in weights.items() if DOWN not in name and UP not in name}
    for name, part in module.named_modules():
        if hasattr(part, "lora_A") and f"{name}.weight" in merged:
            merged[f"{name}.weight"] = merged[f"{name}.weight"] + _added(part)
    return merged


def _added(part: Any) -> Tensor:
    """s · B A of every adapter of a layer that is at work."""
    names = part.active_adapters
    return torch.stack([part.scaling[n] * part.lora_B[n].weight.detach() @ part.lora_A[n].weight.detach() for n in names]).sum(
        0
    )
