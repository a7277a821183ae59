"""The configuration of a Transformer, checked when it is created."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

from explorer.errors import ChoiceError, an, repeated, unknown
from explorer.nn.layers import ACTIVATIONS, NORM_PLACES, NORMS
from explorer.nn.positions import POSITIONS

FAMILIES = ("encoder", "decoder", "encoder-decoder")


@dataclass(frozen=True)
class Config:
    """Every choice that fixes an architecture. The families differ by their mask and by cross-attention."""

    family: str
    vocab: int
    dim: int = 64
    layers: int = 2
    heads: int = 4
    hidden: int = 256
    length: int = 128
    encoder_layers: int = 0  # of an encoder-decoder; 0 means as many as the decoder has
    kv_heads: int = 0  # fewer key/value heads than query heads, shared by groups; 0 means as many
    positions: str = "learned"
    norm: str = "layer"
    norm_place: str = "post"
    norm_epsilon: float = 1e-12
    embedding_norm: bool = True
    final_norm: bool = False
    activation: str = "gelu"
    segments: int = 0
    bias: bool = True
    scaled: bool = True  # whether q·k is divided by √d (T5 leaves it out)
    embedding_scale: bool = False  # whether embeddings are multiplied by √d, as in the first Transformer
    tied: bool = True
    head_transform: bool = False
    head_bias: bool = False
    next_sentence: bool = False
    span_boundary: bool = False  # a second output layer: a hidden token from the two tokens around its span (SpanBERT)
    scaled_head: bool = False  # whether the last states are multiplied by 1/√d before the output layer (T5)
    start: int = 0  # the token that an encoder-decoder begins every target with
    dropout: float = 0.0
    tables: str = "sines"  # how learned positions are initialised: with sines or at random
    qk_norm: bool = False  # whether queries and keys, all heads together, are normalised before the scores (OLMo 2)
    rope_base: float = 10000.0  # RoPE rotates pair i of n by base^(−i/n) per position: the larger, the slower (OLMo 2: 500,000)
    mask_decoder: bool = False  # whether the last layer is applied twice, with absolute positions in its queries (DeBERTa)
    embedding: int = 0  # the dimension of the embeddings, where a matrix projects them to that of the layers; 0 means the same
    replaced: bool = False  # whether it predicts of every token if it was replaced, and nothing about the vocabulary (ELECTRA)
    residual: bool = True  # whether the input of each sub-layer is added to its output; every published system adds it
    feed_forward: bool = True  # whether each layer has a feed-forward layer
    generator: int = 0  # the dimension of the generator that replaces tokens, with the same embeddings; 0 means none (ELECTRA)

    def __post_init__(self) -> None:
        self._check_types()
        for what, given, known in (
            ("family", self.family, FAMILIES),
            ("position scheme", self.positions, POSITIONS),
            ("norm", self.norm, NORMS),
            ("norm place", self.norm_place, NORM_PLACES),
            ("beginning of a table of positions", self.tables, ("sines", "random")),
            ("activation", self.activation, ACTIVATIONS),
        ):
            if given not in known:
                raise unknown(what, given, known)
        for name in ("vocab", "dim", "layers", "heads", "hidden", "length"):
            if getattr(self, name) < 1:
                raise ChoiceError(f"{name}={getattr(self, name)!r} must be at least 1.")
        for reason in self._misfits():
            raise ChoiceError(reason)
        if self.generator:
            self.generator_config  # noqa: B018  it is checked when it is made

    def _misfits(self) -> Iterator[str]:
        """What does not go together, the first of it first."""
        if self.mask_decoder and (self.family != "encoder" or self.norm_place != "post"):  # else both kinds of states differ
            yield (
                f"mask_decoder=True is for an encoder whose norm_place is 'post'; this is {an(self.family)} with "
                f"{self.norm_place!r}. Leave it out."
            )
        if self.dim % self.heads:
            yield f"{self.heads} heads do not divide the width {self.dim}. Choose a width that is a multiple of the heads."
        if self.heads % self.groups:
            yield f"{self.groups} key/value heads do not divide the {self.heads} heads. Choose a number that divides them."
        if reason := POSITIONS[self.positions].misfit(self.embedding_width, self.dim, self.heads):
            yield reason
        if not 0 <= self.start < self.vocab:
            yield f"start={self.start} is not a token: the vocabulary has the ids 0 to {self.vocab - 1}."
        if not (self.residual or self.feed_forward):
            yield "Without residual connections a feed-forward layer that is left out would erase the states. Leave out one of the two."
        if self.embedding_width != self.dim and self.tied and not (self.head_transform or self.replaced):
            yield (
                f"States of width {self.dim} cannot be compared with embeddings of width {self.embedding_width}. "
                "Take head_transform=True, which brings them to that width, or tied=False."
            )
        if (self.generator or self.replaced) and self.family != "encoder":
            yield f"Only an encoder finds what was replaced; this is {an(self.family)}."
        if self.generator and POSITIONS[self.positions].by_head():
            yield f"Positions {self.positions!r} are made for one number of heads; a generator has fewer. Choose others."

    def _check_types(self) -> None:
        """Each field is of the type it says, and no number is negative."""
        kinds: dict[str, tuple[type, ...]] = {"str": (str,), "int": (int,), "float": (int, float), "bool": (bool,)}
        for field in fields(self):
            given, expected = getattr(self, field.name), str(field.type)
            number = expected in ("int", "float")
            right = isinstance(given, kinds[expected]) and (expected == "bool" or not isinstance(given, bool))
            if not right or (number and not 0 <= given < 2**31):
                raise ChoiceError(f"{field.name}={repeated(given)} must be {an(expected)}{' of 0 or more' * number}.")
        if self.dropout >= 1:
            raise ChoiceError(f"dropout={repeated(self.dropout)} must be below 1: it is the share that is left out.")
        if self.rope_base < 1:
            raise ChoiceError(
                f"rope_base={repeated(self.rope_base)} must be at least 1: the speeds fall from 1 to 1 / rope_base."
            )

    @property
    def groups(self) -> int:
        """How many key/value heads there are."""
        return self.kv_heads or self.heads

    @property
    def embedding_width(self) -> int:
        """How wide the embeddings are."""
        return self.embedding or self.dim

    @property
    def generator_config(self) -> Config:
        """The masked model beside a discriminator: as deep, narrower in every part by the same factor, on the same embeddings."""
        heads, hidden = (max(1, whole * self.generator // self.dim) for whole in (self.heads, self.hidden))
        alone = replace(self, generator=0, embedding=self.embedding_width)
        narrow = replace(alone, dim=self.generator, heads=heads, kv_heads=0, hidden=hidden)
        return replace(narrow, replaced=False, head_transform=True, head_bias=True, tied=True, next_sentence=False)

    @property
    def encoder_depth(self) -> int:
        """How many layers the encoder has."""
        return self.encoder_layers or self.layers

    @property
    def streams(self) -> dict[str, tuple[int, int]]:
        """The number of layers and heads in each stream of attention."""
        if self.family != "encoder-decoder":
            return {self.family: (self.layers + self.mask_decoder, self.heads)}
        decoder = (self.layers, self.heads)
        return {"encoder": (self.encoder_depth, self.heads), "decoder": decoder, "cross": decoder}
