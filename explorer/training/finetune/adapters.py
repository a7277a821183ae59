"""Low-rank adapters (LoRA) by `peft`: beside a frozen matrix W a second one, B A of low rank, which alone learns."""

from __future__ import annotations

import torch
from peft import LoraConfig, inject_adapter_in_model
from torch import nn

TARGETS = ("query", "value")  # the matrices that get one, as published; every attention block has both
SCALE = 2  # α / r: how much B A counts


def adapt(module: nn.Module, rank: int, seed: int, targets: tuple[str, ...] = TARGETS) -> nn.Module:
    """Put adapters of this rank beside the queries and values; every other weight is frozen. B begins at 0, so nothing changes yet."""
    config = LoraConfig(r=rank, lora_alpha=SCALE * rank, lora_dropout=0.0, target_modules=list(targets), bias="none")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return inject_adapter_in_model(config, module)
