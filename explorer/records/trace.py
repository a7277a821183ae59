"""One forward pass over one text: everything that the pictures need."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from explorer.errors import ChoiceError
from explorer.records.attention import Attention
from explorer.records.edits import Edit
from explorer.records.record import Record
from explorer.records.tokens import Tokens

STREAMS = ("encoder", "decoder", "cross")


@dataclass(frozen=True, eq=False)
class Mix(Record):
    """How a task weighs the layers: s_j (they sum to one) and γ."""

    weights: np.ndarray
    gamma: float
    task: str = ""
    step: int = 0


@dataclass(frozen=True, eq=False)
class Block(Record):
    """One sub-layer ("attention" or "feed-forward") with its residual sum and its norm.

    `given` is the stream before, `out` what the sub-layer made, `total` their sum, and the norm's own input,
    μ and σ per position, γ and β per feature, and result: all [position, dim] or [position]. `units` are the hidden units
    of a feed-forward layer, [position, hidden].
    """

    stream: str
    layer: int
    part: str
    place: str
    given: np.ndarray
    out: np.ndarray
    total: np.ndarray
    norm_input: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    gain: np.ndarray
    shift: np.ndarray
    normed: np.ndarray
    units: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Prediction(Record):
    """The k most likely pieces at each row: ids, readable texts and log-probabilities over the whole vocabulary."""

    ids: np.ndarray
    texts: tuple[tuple[str, ...], ...]
    logp: np.ndarray


@dataclass(frozen=True, eq=False)
class Trace(Record):
    """What one forward pass left behind."""

    model: str
    family: str
    source: Tokens
    target: Tokens | None
    attention: tuple[Attention, ...]
    hidden: dict[str, np.ndarray]
    embeddings: dict[str, np.ndarray] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    top: Prediction | None = None
    outputs: dict[str, np.ndarray] = field(default_factory=dict)
    mix: Mix | None = None
    edits: tuple[Edit, ...] = ()
    notes: tuple[str, ...] = ()

    def axes(self, stream: str) -> tuple[Tokens, Tokens]:
        """The tokens of the rows (queries) and of the columns (keys) in this stream."""
        rows = self.source if stream == "encoder" or self.target is None else self.target
        return rows, rows if stream != "cross" else self.source

    def at(self, stream: str, layer: int) -> Attention:
        """The attention of one layer of one stream."""
        for attention in self.attention:
            if (attention.stream, attention.layer) == (stream, layer):
                return attention
        held = ", ".join(f"{a.stream} {a.layer}" for a in self.attention) or "none"
        raise ChoiceError(f"This trace has no attention for {stream} layer {layer}. It holds: {held}.")

    def block(self, stream: str, layer: int, part: str) -> Block:
        """One sub-layer of one layer: "attention", "cross-attention" or "feed-forward"."""
        for block in self.blocks:
            if (block.stream, block.layer, block.part) == (stream, layer, part):
                return block
        raise ChoiceError(
            f"This trace holds no {part} of {stream} layer {layer}. Make it with ex.trace(model, text, blocks=True)."
        )

    @property
    def residual(self) -> float:
        """The largest gap between re-derived and own weights in the whole trace; NaN where one cannot be derived."""
        return float(np.max([a.residual for a in self.attention])) if self.attention else float("nan")
