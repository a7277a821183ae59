"""The parts around attention: the residual sum with its norm, and the feed-forward layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

from explorer.nn import tap
from explorer.records import TapPlace

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
        units = tap.edited(TapPlace.UNITS, *name, units)
        tap.tap(TapPlace.UNITS, *name, units=units)  # [batch, position, hidden]
        narrowed: Tensor = self.narrow(units)
        return narrowed


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


class AbsentNorm(BareNorm):
    """No norm at all: what a norm would be given passes as it is."""

    centred = False

    def forward(self, x: Tensor) -> Tensor:
        """The same vectors."""
        return x


class AbsentFeedForward(nn.Module):
    """In place of a feed-forward layer: it adds nothing."""

    def forward(self, x: Tensor, name: tuple[str, int] = ("", -1)) -> Tensor:
        """Zeros of the same shape."""
        return torch.zeros_like(x)


NORMS: dict[str, type[Norm]] = {"layer": Norm, "rms": RMSNorm, "bare": BareNorm, "none": AbsentNorm}


class AddNorm(nn.Module):
    """The residual sum and the norm around a sub-layer.

    post (the first Transformer, BERT, GPT): norm(x + f(x)). pre (GPT-2, LLaMA): x + f(norm(x)). inside (OLMo 2): x + norm(f(x)).
    Without `residual`, x is not added.
    """

    def __init__(self, norm: Norm, place: str, dropout: float, *, residual: bool = True) -> None:
        super().__init__()
        self.norm = norm
        self.drop = nn.Dropout(dropout)
        self.place, self.residual = place, residual

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], name: tuple[str, int, str]) -> Tensor:
        """Run `sublayer` on x, add x, and normalise where this model does so. `name` is (stream, layer, part)."""
        norm_input, residual = x, self._residual(name, x)
        if self.place == "pre":
            out = self._edited(TapPlace.OUT, name, self.drop(sublayer(normed := self._normed(name, x))))
            result = total = residual + out
        elif self.place == "inside":
            out = normed = self._edited(TapPlace.OUT, name, self.drop(self._normed(name, norm_input := sublayer(x))))
            result = total = residual + out
        else:
            out = self._edited(TapPlace.OUT, name, self.drop(sublayer(x)))
            norm_input = total = residual + out
            result = normed = self._normed(name, total)
        if tap.watched():
            values = {"given": x, "out": out, "total": total, "norm_input": norm_input, "normed": normed}
            self._tap(name, values, residual=residual is x)
        return result

    def _residual(self, name: tuple[str, int, str], x: Tensor) -> Tensor:
        """What is added to the output of the sub-layer: x, or zeros."""
        return self._edited(TapPlace.RESIDUAL, name, x if self.residual else torch.zeros_like(x))

    def _normed(self, name: tuple[str, int, str], x: Tensor) -> Tensor:
        return self._edited(TapPlace.NORM, name, self.norm(x), x)

    @staticmethod
    def _edited(place: TapPlace, name: tuple[str, int, str], value: Tensor, *known: Tensor) -> Tensor:
        stream, layer, part = name
        return tap.edited(place, stream, layer, value, *known, part)

    def _tap(self, name: tuple[str, int, str], values: dict[str, Tensor], *, residual: bool) -> None:
        stream, layer, part = name
        gain, shift = self.norm.weight, self.norm.bias
        off = isinstance(self.norm, AbsentNorm) or any(edit.leaves_norm_out(part) for edit in tap.edits_on(stream, layer))
        settings = {
            "gain": torch.ones_like(gain) if off else gain,
            "shift": torch.zeros_like(gain) if off or shift is None else shift,
            "epsilon": self.norm.epsilon, "centred": self.norm.centred, "normless": off, "residual": residual,
        }  # fmt: skip
        tap.tap(TapPlace.BLOCK, stream, layer, part=part, norm_place=self.place, **settings, **values)
