"""What was found inside a model: its layers read by its own head, gradients, and the habits of its heads."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens


@dataclass(frozen=True, eq=False)
class Lens(Record):
    """What a model would say if it ended after each layer: `texts` and `chances` [layer, position] of its best guess.

    Row 0 is what enters the first layer. `final` holds the chances that each layer gives to what the last one says; `gap` is the
    largest difference between the last row and the model's own scores.
    """

    model: str
    tokens: Tokens
    texts: tuple[tuple[str, ...], ...]
    chances: np.ndarray
    final: np.ndarray
    gap: float


@dataclass(frozen=True, eq=False)
class Gradient(Record):
    """How the log-probability of one piece at one row moves with each word: gradient × input [position], beside attention.

    `attention` [layer, position] is what that row looks at, as the mean of the heads of each layer.
    """

    model: str
    tokens: Tokens
    row: int
    piece: str
    logp: float
    values: np.ndarray
    attention: np.ndarray


@dataclass(frozen=True, eq=False)
class Visibility(Record):
    """How strongly each output moves with each input: the length of the gradient [output, input], exactly 0 where none can be seen."""

    model: str
    rows: Tokens
    columns: Tokens
    moved: np.ndarray


@dataclass(frozen=True, eq=False)
class HeadStatistics(Record):
    """What each head of one stream does on average over some texts: by measure, [layer, head].

    `even` says by measure what a head would reach that looks at everything that it may see alike: the chance to compare with.
    `pronouns` counts those whose meaning was known.
    """

    model: str
    stream: str
    texts: int
    measures: dict[str, np.ndarray]
    even: dict[str, float] = field(default_factory=dict)
    pronouns: int = 0
