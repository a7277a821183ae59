"""What stands around attention: the residual sum with its norm, and the feed-forward layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn
from torch.nn import functional

from explorer import tap

PLACES = ("post", "pre")
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": functional.relu,
    "gelu": functional.gelu,
    "gelu-tanh": partial(functional.gelu, approximate="tanh"),
}


class FeedForward(nn.Module):
    """Each position on its own: widen, bend, narrow (d → hidden → d)."""

    def __init__(self, dim: int, hidden: int, activation: str) -> None:
        super().__init__()
        self.widen = nn.Linear(dim, hidden)
        self.narrow = nn.Linear(hidden, dim)
        self.bend = ACTIVATIONS[activation]

    def forward(self, x: Tensor) -> Tensor:
        """From [batch, position, dim] to the same shape."""
        return self.narrow(self.bend(self.widen(x)))


class AddNorm(nn.Module):
    """The residual sum and the norm around a sub-layer.

    post (the first Transformer, BERT, GPT): norm(x + f(x)). pre (GPT-2): x + f(norm(x)).
    """

    def __init__(self, dim: int, place: str, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim, eps=epsilon)
        self.drop = nn.Dropout(dropout)
        self.place = place

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor], name: tuple[str, int, str]) -> Tensor:
        """Run `sublayer` on x, add x, and normalise where this model does so. `name` is (stream, layer, part)."""
        if self.place == "pre":
            result = total = x + (out := self.drop(sublayer(normed := self.norm(x))))
            entering = x
        else:
            total = x + (out := self.drop(sublayer(x)))
            result = normed = self.norm(total)
            entering = total
        if tap.watched():
            stream, layer, part = name
            tap.tap(
                "block", stream, layer, part=part, norm_place=self.place, given=x, out=out, total=total,
                norm_input=entering, gain=self.norm.weight, shift=self.norm.bias, normed=normed, epsilon=self.norm.eps,
            )  # fmt: skip
        return result
