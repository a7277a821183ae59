"""The shape of a Transformer, checked when it is made."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import ChoiceError, unknown
from explorer.nn.layers import ACTIVATIONS, PLACES
from explorer.nn.positions import POSITIONS

FAMILIES = ("encoder", "decoder")


@dataclass(frozen=True)
class Config:
    """Every choice that fixes an architecture. An encoder and a decoder differ by `family`: by their mask."""

    family: str
    vocab: int
    dim: int = 64
    layers: int = 2
    heads: int = 4
    hidden: int = 256
    length: int = 128
    positions: str = "learned"
    norm_place: str = "post"
    norm_epsilon: float = 1e-12
    embedding_norm: bool = True
    final_norm: bool = False
    activation: str = "gelu"
    segments: int = 0
    tied: bool = True
    head_transform: bool = False
    head_bias: bool = False
    next_sentence: bool = False
    dropout: float = 0.0

    def __post_init__(self) -> None:
        for what, given, known in (
            ("family", self.family, FAMILIES),
            ("position scheme", self.positions, POSITIONS),
            ("norm place", self.norm_place, PLACES),
            ("activation", self.activation, ACTIVATIONS),
        ):
            if given not in known:
                raise unknown(what, given, known)
        for name in ("vocab", "dim", "layers", "heads", "hidden", "length"):
            if getattr(self, name) < 1:
                raise ChoiceError(f"{name}={getattr(self, name)!r} must be at least 1.")
        if self.dim % self.heads:
            raise ChoiceError(
                f"{self.heads} heads do not divide the width {self.dim}. Choose a width that is a multiple of the heads."
            )
        if self.positions == "sinusoidal" and self.dim % 2:
            raise ChoiceError(f"Sinusoidal positions come in pairs of sine and cosine: the width {self.dim} must be even.")

    @property
    def causal(self) -> bool:
        """Whether a position sees only itself and what stands before it."""
        return self.family == "decoder"
