"""Muon with all matrices of a shape at once: the same update as PyTorch's, in a third of the time where matrices are small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from explorer.training.device import quick_in_half


class StackedMuon(torch.optim.Muon):
    """Each matrix moves by its momentum with all directions made about equally strong (Jordan's five steps of Newton and Schulz).

    PyTorch's goes from matrix to matrix; here those of one shape (lying or standing) are one stack. The state is PyTorch's.
    """

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> None:  # type: ignore[override]
        """One update of every matrix that has a gradient."""
        for group in self.param_groups:
            matrices: list[Tensor] = [p for p in group["params"] if p.grad is not None]
            for p in matrices:
                if "momentum_buffer" not in self.state[p]:
                    self.state[p]["momentum_buffer"] = torch.zeros_like(p)
            if matrices:
                self._move(matrices, group)

    def _move(self, matrices: list[Tensor], group: dict[str, Any]) -> None:
        """Momentum, decay, and a step along the evened-out direction."""
        mine, gradients, kept = self._held(matrices)
        torch._foreach_lerp_(kept, gradients, 1 - group["momentum"])
        ahead = torch._foreach_lerp(gradients, kept, group["momentum"]) if group["nesterov"] else kept
        torch._foreach_mul_(mine, 1 - group["lr"] * group["weight_decay"])
        shapes = [tuple(p.shape) for p in matrices]
        ways = self._ways(list(ahead), shapes, group)
        for rows, columns in dict.fromkeys(shapes):
            places = [n for n, shape in enumerate(shapes) if shape == (rows, columns)]
            rate = group["lr"] * max(1, rows / columns) ** 0.5
            torch._foreach_add_([mine[n] for n in places], [ways[n] for n in places], alpha=-rate)

    def _held(self, matrices: list[Tensor]) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
        """What this process holds of the matrices, of their gradients and of their momentum: all."""
        return matrices, [p.grad for p in matrices if p.grad is not None], [self.state[p]["momentum_buffer"] for p in matrices]

    def _ways(self, ahead: list[Tensor], shapes: list[tuple[int, ...]], group: dict[str, Any]) -> list[Tensor]:
        """The direction in which each matrix moves."""
        return evened_out(ahead, group)


def evened_out(matrices: list[Tensor], group: dict[str, Any]) -> list[Tensor]:
    """Each matrix with all directions about equally strong; those of one shape are one stack."""
    shapes = [tuple(sorted(matrix.shape)) for matrix in matrices]
    made: dict[int, Tensor] = {}
    for one in dict.fromkeys(shapes):
        places = [n for n, shape in enumerate(shapes) if shape == one]
        stack = torch.stack([lying(matrices[n]) for n in places])  # [matrix, short side, long side]
        for n, even in zip(places, evened(stack, group), strict=True):
            rows, columns = matrices[n].shape
            made[n] = even if rows <= columns else even.T
    return [made[n] for n in range(len(matrices))]


def lying(matrix: Tensor) -> Tensor:
    """The matrix with its short side first."""
    return matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T


def evened(stack: Tensor, group: dict[str, Any]) -> Tensor:
    """Each matrix with its singular values pushed towards one: X ← aX + (bXXᵀ + c(XXᵀ)²)X, some times over."""
    a, b, c = group["ns_coefficients"]
    x = stack.bfloat16() if quick_in_half(stack.device) else stack
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=group["eps"])
    for _ in range(group["ns_steps"]):
        square = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=b, alpha=c), x, beta=a)
    return x.to(stack.dtype)
