"""The parts around attention: the residual sum with its norm, and the feed-forward layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.nn import tap

NORM_PLACES = ("post", "pre", "inside")
PLAIN_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu-tanh": partial(functional.gelu, approximate="tanh"),
    "silu": functional.silu,
}
GATED = {"swiglu": "silu", "geglu": "gelu-tanh"}
ACTIVATIONS = {**PLAIN_ACTIVATIONS, **{name: PLAIN_ACTIVATIONS[activation] for name, activation in GATED.items()}}


class FeedForward(nn.Module):
    """The position-wise feed-forward layer: d → hidden, activation, hidden → d. Gated (SwiGLU), a second product decides what
    passes.
    """

    def __init__(self, dim: int, hidden: int, activation: str, *, bias: bool = True) -> None:
        super().__init__()
        self.widen = nn.Linear(dim, hidden, bias=bias)
        self.narrow = nn.Linear(hidden, dim, bias=bias)
        self.gate = nn.Linear(dim, hidden, bias=bias) if activation in GATED else None
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, name: tuple[str, int] = ("", -1)) -> Tensor:
        """From [batch, position, dim] to the same shape. `name` is (stream, layer), for the taps."""
        units = self.activation(self.widen(x)) if self.gate is None else self.activation(self.gate(x)) * self.widen(x)
        units = tap.edited("units", *name, units)
        tap.tap("units", *name, units=units)  # [batch, position, hidden]
        made: Tensor = self.narrow(units)
        return made


class Norm(nn.Module):
    """Layer normalisation of each position: (x − μ) / σ · γ + β, with √(σ² + ε) for σ."""

    centred = True

    def __init__(self, dim: int, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon
        self.weight = nn.Parameter(torch.ones(dim))
        self.bias: nn.Parameter | None = nn.Parameter(torch.zeros(dim))

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, normalised over the dimensions."""
        return functional.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.epsilon)


class RMSNorm(Norm):
    """Without the mean: x / √(mean of x² + ε) · γ, as in T5 and LLaMA."""

    centred = False

    def __init__(self, dim: int, epsilon: float) -> None:
        super().__init__(dim, epsilon)
        self.bias = None

    def forward(self, x: Tensor) -> Tensor:
        """The same shape, normalised over the dimensions."""
        x = x.to(self.weight.dtype)  # in mixed precision a product comes in half of it
        return functional.rms_norm(x, x.shape[-1:], self.weight, self.epsilon)


class BareNorm(Norm):
    """LayerNorm without γ and β, as in OLMo."""

    def __init__(self, dim: int, epsilon: float) -> None:
        super().__init__(dim, epsilon)
        del self.weight, self.bias
        self.register_buffer("weight", torch.ones(dim), persistent=False)
        self.bias = None


NORMS: dict[str, type[Norm]] = {"layer": Norm, "rms": RMSNorm, "bare": BareNorm}


class AddNorm(nn.Module):
    """The residual sum and the norm around a sub-layer.

    post (the first Transformer, BERT, GPT): norm(x + f(x)). pre (GPT-2, LLaMA): x + f(norm(x)). inside (OLMo 2): x + norm(f(x)).
    """

    def __init__(self, norm: Norm, place: str, dropout: float) -> None:
        super().__init__()
        self.norm = norm
        self.drop = nn.Dropout(dropout)
        self.place = place

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], name: tuple[str, int, str]) -> Tensor:
        """Run `sublayer` on x, add x, and normalise where this model does so. `name` is (stream, layer, part)."""
        entering = x
        if self.place == "pre":
            out = self._edited(name, self.drop(sublayer(normed := self.norm(x))))
            result = total = x + out
        elif self.place == "inside":
            out = normed = self._edited(name, self.drop(self.norm(entering := sublayer(x))))
            result = total = x + out
        else:
            out = self._edited(name, self.drop(sublayer(x)))
            entering = total = x + out
            result = normed = self.norm(total)
        if tap.watched():
            self._hand_out(name, {"given": x, "out": out, "total": total, "norm_input": entering, "normed": normed})
        return result

    @staticmethod
    def _edited(name: tuple[str, int, str], out: Tensor) -> Tensor:
        stream, layer, part = name
        return tap.edited("out", stream, layer, out, part)

    def _hand_out(self, name: tuple[str, int, str], values: dict[str, Tensor]) -> None:
        stream, layer, part = name
        gain = self.norm.weight
        shift = torch.zeros_like(gain) if self.norm.bias is None else self.norm.bias
        held = {"gain": gain, "shift": shift, "epsilon": self.norm.epsilon, "centred": self.norm.centred}
        tap.tap("block", stream, layer, part=part, norm_place=self.place, **held, **values)
