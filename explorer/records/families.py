"""Architectures side by side: who may see whom, what each expects, how parts and parameters add up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.record import Record
from explorer.records.tokens import Tokens
from explorer.records.trace import Trace
from explorer.records.training import Curves

OWN, FULL, CAUSAL, PREFIX = "its own", "full", "causal", "prefix"
MASKS = (OWN, FULL, CAUSAL, PREFIX)


@dataclass(frozen=True, eq=False)
class UnderMasks(Record):
    """One text read by the same weights under several masks.

    `traces` by mask, of the attention in `stream`; `wanted` are the tokens that were asked and `losses` [mask, token] how surprising
    each was, in nats. Under the mask "prefix" the first `prefix` rows see each other, and all others only look back.
    """

    stream: str
    traces: dict[str, Trace]
    wanted: Tokens
    losses: np.ndarray
    prefix: int

    @property
    def model(self) -> str:
        """Whose weights these are."""
        return self.traces[OWN].model

    @property
    def family(self) -> str:
        """How it was trained."""
        return self.traces[OWN].family


@dataclass(frozen=True, eq=False)
class HeldLosses(Record):
    """The same over many new texts: `losses` [mask, text, position] in nats, NaN where nothing was asked.

    Each time there were `vocabulary` tokens to choose from.
    """

    model: str
    family: str
    losses: np.ndarray
    prefix: int
    vocabulary: int

    def means(self, begin: int = 0) -> np.ndarray:
        """The mean loss of each text from this position on: [mask, text]."""
        return np.asarray(np.nanmean(self.losses[..., begin:], axis=-1))


@dataclass(frozen=True, eq=False)
class Part(Record):
    """One part of a model: its formula, what goes in and comes out, and its weights.

    `weights` are named matrices and vectors with their shapes, of one copy; there are `times` copies. `counted` are the parameters of all
    copies in the module itself, `expected` the same by the formula that `written` holds with its numbers.
    """

    name: str
    stream: str
    kind: str
    formula: str
    given: str
    made: str
    weights: tuple[tuple[str, tuple[int, ...]], ...]
    times: int
    counted: int
    expected: int
    written: str

    @property
    def title(self) -> str:
        """Its name with its stream."""
        return f"{self.stream}: {self.name}"


@dataclass(frozen=True, eq=False)
class Blueprint(Record):
    """What a model is built of, from the bottom to the top, and how many parameters the whole module has."""

    model: str
    family: str
    place: str  # where the norms are: post, pre or inside
    parts: tuple[Part, ...]
    total: int

    def part(self, title: str) -> Part:
        """The part with this title."""
        return next(part for part in self.parts if part.title == title)


AFTER = "tokens after the wrong one"  # what the curves of exposure bias are drawn over


@dataclass(frozen=True, eq=False)
class Exposure(Record):
    """What one wrong token does: the chance of the right token at each later step [text, step], and a few texts to read.

    `taught` while all before it is right, `wrong` after one wrong token and right ones again, `free` after one wrong token and the
    model's own. `begins` are the beginnings of some texts, `ends` how they go on, `own` how the model goes on after `slips`.
    """

    model: str
    curves: Curves
    taught: np.ndarray
    wrong: np.ndarray
    free: np.ndarray
    begins: tuple[str, ...]
    ends: tuple[str, ...]
    own: tuple[str, ...]
    slips: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class VisibilityMap(Record):
    """Who may see whom: `seen` [row, column], a row for each token that reads, 1 where it may see the token of the column.

    The rows and columns are the tokens of `tokens`; of an encoder-decoder those of `target`, which its decoder reads, follow. In a
    model whose two directions never share a state, 1 is what the forward half sees, 2 what the backward half sees, and 3 both.
    `place` names the tokens of the word that the page is about.
    """

    shapes = {"seen": ("row", "column")}
    model: str
    family: str
    tokens: Tokens
    target: Tokens | None
    seen: np.ndarray
    place: tuple[int, ...] = ()
    trained: bool = True


@dataclass(frozen=True, eq=False)
class WordPrediction(Record):
    """What a model expects at a position whose word it cannot see: `texts` and `shares` [side, rank], `truth` [side].

    `reads` holds for each side what it is given; ELMo has two sides, the others one. `right` is the token there: the first
    one, where the word is several.
    """

    model: str
    family: str
    word: str
    right: str
    reads: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    shares: np.ndarray
    truth: np.ndarray


@dataclass(frozen=True, eq=False)
class ContextShift(Record):
    """One word's vector in a text against the same word's in other texts, after 0 layers (the input) to all.

    `likeness` [other, layer] are cosines, `changed` [other, layer] the shares of the vector's numbers that differ, `around` [layer] the
    mean cosine with the other tokens of the same text: what is usual for two tokens of one text.
    """

    model: str
    family: str
    word: str
    text: str
    others: tuple[str, ...]
    likeness: np.ndarray
    changed: np.ndarray
    around: np.ndarray
