"""The optimiser: Muon for the matrices inside the layers, AdamW for everything else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn

from explorer.errors import ChoiceError
from explorer.nn.attention import MultiHeadAttention
from explorer.nn.positions import Position
from explorer.nn.transformer import Transformer
from explorer.training.muon import StackedMuon
from explorer.training.processes import divided_like, whole_tensor

MUON_RATE, ADAM_RATE, DECAY, CLIP = 0.02, 3e-3, 0.01, 1.0


def lr_scales(module: nn.Module) -> dict[int, float]:
    """The factors on the learning rate of the weights that have one, by their identity.

    Where q·k is not divided by √d (T5), the queries move by so much less instead: Muon moves every matrix as far, and scores
    that grow √d times as fast would soon make every head look at one place.
    """
    scales: dict[int, float] = {}
    if isinstance(module, Transformer) and module.config.scaled_head:
        scales[id(module.embeddings.tokens.weight)] = module.config.dim**0.5
    for part in module.modules():
        if isinstance(part, Position):
            scales |= {id(weight): part.lr_scale for weight in part.parameters()}
        elif isinstance(part, MultiHeadAttention) and part.scale == 1.0:
            scales[id(part.query.weight)] = (part.query.out_features // part.heads) ** -0.5
    return scales


def parameter_groups(weights: list[nn.Parameter], scales: Mapping[int, float]) -> list[dict[str, Any]]:
    """The weights as groups with one factor each."""
    distinct = dict.fromkeys(scales.get(id(p), 1.0) for p in weights)
    return [{"params": [p for p in weights if scales.get(id(p), 1.0) == scale], "lr_scale": scale} for scale in distinct]


def check_gradient_norm(norm: float) -> None:
    """Refuse an update by gradients that are no numbers."""
    if not math.isfinite(norm):
        raise ChoiceError("A gradient is not a finite number. Choose a lower rate=…; the last resume point is intact.")


class Optimiser:
    """Two optimisers that move together, with a state that can be written down and read again."""

    def __init__(self, module: nn.Module, kind: str = "muon", rate: float | None = None) -> None:
        self.module, self._norm = module, cast("Tensor | None", None)
        matrices = [p for name, p in module.named_parameters() if kind == "muon" and ".layers." in f".{name}" and p.dim() == 2]
        matrix_ids, scales = {id(p) for p in matrices}, lr_scales(module)
        others = [p for p in module.parameters() if id(p) not in matrix_ids]
        scale = 1.0 if rate is None else rate / ADAM_RATE
        adam, muon = ADAM_RATE * scale, MUON_RATE * scale
        groups = parameter_groups(others, scales)
        self.optimisers: list[tuple[torch.optim.Optimizer, float]] = [
            (torch.optim.AdamW(groups, lr=adam, weight_decay=DECAY, betas=(0.9, 0.98), fused=True), adam)
        ]
        if matrices:
            self.optimisers.append((StackedMuon(parameter_groups(matrices, scales), lr=muon, weight_decay=DECAY), muon))

    def norm(self) -> Tensor:
        """The length of all gradients as one vector, by which the next step clips them. Nobody waits for it here."""
        self._norm = whole_tensor(nn.utils.get_total_norm([p.grad for p in self.module.parameters() if p.grad is not None]))
        return self._norm

    def step(self, share: float) -> None:
        """One update with this share of the peak learning rates; gradients are clipped and then forgotten."""
        if self._norm is None:
            check_gradient_norm(float(self.norm()))
        assert self._norm is not None
        nn.utils.clip_grads_with_norm_(self.module.parameters(), CLIP, self._norm)
        self._norm = None
        for optimiser, peak in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = peak * share * group["lr_scale"]
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, as tensors by name."""
        return {name: value.clone() for name, value in self.tensors().items()}

    def tensors(self) -> dict[str, Tensor]:
        """The same without a copy: the next step changes them."""
        return {
            f"{n}.{place}.{name}": torch.as_tensor(value)
            for n, (optimiser, _) in enumerate(self.optimisers)
            for place, state in optimiser.state_dict()["state"].items()
            for name, value in state.items()
        }

    def fill(self, state: Mapping[str, Tensor]) -> None:
        """Take up a state that `state` handed out."""
        for n, (optimiser, _) in enumerate(self.optimisers):
            weights = [weight for group in optimiser.param_groups for weight in group["params"]]
            states: dict[int, dict[str, Tensor]] = {}
            for name, value in state.items():
                number, place, key = name.split(".", 2)
                if int(number) == n:
                    states.setdefault(int(place), {})[key] = divided_like(value, weights[int(place)])
            optimiser.load_state_dict({"state": states, "param_groups": optimiser.state_dict()["param_groups"]})
