"""A text as pre-training damages it, what a model says to the damage, and what happens over many draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from explorer.errors import ChoiceError
from explorer.errors.kinds import called
from explorer.records.record import Record
from explorer.records.summary import Summary, listed
from explorer.records.tokens import Tokens

if TYPE_CHECKING:
    from pandas import DataFrame

ACTIONS = ("kept", "masked", "replaced", "kept-but-scored", "inserted", "moved")


@called(
    "a corruption, for example of ex.hide(text, ['dog'], tokenizer=model.tokenizer); what fits into the [MASK] or ___ of a text says "
    "ex.decode(model, text, 'fill')"
)
@dataclass(frozen=True, eq=False)
class Corruption(Record):
    """What a strategy made of one text.

    `target` is None where the model should say the original, position by position. `origin` lists for each token of the source the
    original positions that it replaces (none: it was inserted), `action` what happened to it, `deleted` the original positions
    that no token replaces. `scored` is over the target, or over the source where there is none. `spans` are (first position,
    how many) of what is hidden together. `nominal` and `realised` are shares of the text; NaN where the strategy has none.
    """

    shapes = dict.fromkeys(("origin", "action"), ("position",))
    strategy: str
    original: Tokens
    source: Tokens
    target: Tokens | None
    origin: tuple[tuple[int, ...], ...]
    action: tuple[str, ...]
    deleted: tuple[int, ...]
    scored: np.ndarray
    spans: tuple[tuple[int, int], ...]
    nominal: float
    realised: float
    seed: int
    labels: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def check_read(self) -> None:
        """Refuse a corruption that was read from a file and whose parts are not about its tokens."""
        super().check_read()
        places = [*self.deleted, *(place for origin in self.origin for place in origin)]
        if (
            len(self.action) != len(self.source)
            or self.scored.shape != (len(self.source if self.target is None else self.target),)
            or not all(0 <= place < len(self.original) for place in places)
        ):
            raise ValueError("what was done is not about its tokens")

    def summary(self) -> Summary:
        """What the model reads, what it should say, and how much is asked."""
        scored = f"{int(self.scored.sum())} of {len(self.scored)} ({self.realised:.0%} hidden)"
        rows = [("original", listed(self.original.texts)), ("reads", listed(self.source.texts))]
        rows += [("says", listed(self.target.texts))] if self.target is not None else []
        return f"Corruption by {self.strategy!r}, seed {self.seed}", [*rows, ("asked", scored)]

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """A row for each token that the model reads: the tokens that were there, what happened, and whether the loss counts it.

        Where the model writes a `target`, the loss is about that; `what` and `where` are as for every record.
        """
        from explorer.records.tables import rows_where, table_of

        if what:
            return super().to_frame(what, **where)
        was = [" ".join(self.original.texts[place] for place in places) for places in self.origin]
        columns = {"position": range(len(was)), "token": self.source.texts, "was": was, "action": self.action}
        return rows_where(table_of(columns | ({"scored": self.scored} if self.target is None else {})), where)


@dataclass(frozen=True, eq=False)
class Rates(Record):
    """How much of one text (of so many tokens, `pieces`) each strategy hides: what it aims at, and what it did in every draw.

    `nominal` [strategy] and `realised` [strategy, draw] are shares of the text.
    """

    shapes = {"names": ("strategy",), "nominal": ("strategy",), "realised": ("strategy", "draw")}
    names: tuple[str, ...]
    nominal: np.ndarray
    realised: np.ndarray
    pieces: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.realised.ndim != 2 or not len(self.names) == len(self.nominal) == len(self.realised):
            raise ChoiceError(f"{len(self.names)} names need as many nominal rates and rows of realised ones.")

    def of(self, name: str) -> np.ndarray:
        """The realised shares of one strategy, draw by draw."""
        return np.asarray(self.realised[self.names.index(name)])


@dataclass(frozen=True, eq=False)
class SpanLengths(Record):
    """How long the spans of a strategy are: the law they are drawn from, and what came of it in one text.

    `nominal` and `realised` are shares over `lengths`, counted in `unit`; `spans` is how many were drawn.
    """

    shapes = dict.fromkeys(("lengths", "nominal", "realised"), ("length",))
    strategy: str
    unit: str
    lengths: np.ndarray
    nominal: np.ndarray
    realised: np.ndarray
    spans: int
    pieces: int

    @property
    def means(self) -> tuple[float, float]:
        """The mean length by the law, and as it came out."""
        return float(self.nominal @ self.lengths), float(self.realised @ self.lengths)


@dataclass(frozen=True, eq=False)
class GapSentences(Record):
    """The sentences of a text, how much each shares with the rest (ROUGE-1 F1), and which ones PEGASUS hides."""

    shapes = dict.fromkeys(("sentences", "scores", "chosen"), ("sentence",))
    sentences: tuple[str, ...]
    scores: np.ndarray
    chosen: tuple[bool, ...]
    rate: float


@dataclass(frozen=True, eq=False)
class Guess(Record):
    """A masked model reads x̃: its likeliest tokens at every position, and what it gives to the original token.

    `texts` and `shares` [position, rank] hold the likeliest tokens and their probabilities over the whole vocabulary; `truth`
    [position] is the probability of the original token.
    """

    shapes = {**dict.fromkeys(("texts", "shares"), ("position", "rank")), "truth": ("position",)}
    legend = {"position": "corruption.source"}
    model: str
    corruption: Corruption
    texts: tuple[tuple[str, ...], ...]
    shares: np.ndarray
    truth: np.ndarray

    @property
    def surprise(self) -> np.ndarray:
        """−log P(w | x̃) at every position, scored or not."""
        return -np.log(np.maximum(self.truth.astype(np.float64), 1e-30))

    @property
    def loss(self) -> float:
        """L = Σ −log P(w | x̃) over the scored places only."""
        return float(self.surprise[self.corruption.scored].sum())

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """A row for each of the likeliest tokens at every position, with the probability of the original token (`truth`), and
        whether the loss counts this position: scored=True keeps what was hidden."""
        from explorer.records.tables import rows_where

        frame = super().to_frame(what)
        if not what:
            frame["truth"], frame["scored"] = self.truth[frame.position], self.corruption.scored[frame.position]
        return rows_where(frame, where)


@dataclass(frozen=True, eq=False)
class SpanGuess(Record):
    """What SpanBERT's two output layers say of every hidden token of one corrupted text.

    `places`, `left` and `right` [asked] are the hidden positions and the two boundaries of the span that each lies in. The other
    three hold first the output layer for masked tokens, which reads each position itself, then the one for boundaries: `texts` and
    `shares` [layer, asked, rank] their likeliest tokens, `truth` [layer, asked] what they give to the original token.
    """

    model: str
    corruption: Corruption
    places: np.ndarray
    left: np.ndarray
    right: np.ndarray
    texts: tuple[tuple[tuple[str, ...], ...], ...]
    shares: np.ndarray
    truth: np.ndarray

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The boundaries of every span, from left to right."""
        return tuple(sorted(set(zip(self.left.tolist(), self.right.tolist(), strict=True))))


@dataclass(frozen=True, eq=False)
class Detection(Record):
    """A generator filled in some tokens; `chances` [position] are the discriminator's probabilities that a token is not the original."""

    shapes = {"chances": ("position",)}
    legend = {"position": "corruption.source"}
    model: str
    corruption: Corruption
    chances: np.ndarray

    @property
    def new(self) -> np.ndarray:
        """Which tokens really are another than the original: a generator that guesses right replaces nothing."""
        return np.asarray(self.corruption.source.ids != self.corruption.original.ids)

    @property
    def said(self) -> np.ndarray:
        """Which tokens the discriminator calls replaced."""
        return self.chances > 0.5

    @property
    def f1(self) -> float:
        """2 · found / (called replaced + replaced); NaN where there was nothing to find and nothing was found."""
        both, either = float((self.said & self.new).sum()), float(self.said.sum() + self.new.sum())
        return 2 * both / either if either else float("nan")

    @property
    def signal(self) -> tuple[int, int]:
        """On how many pieces of text a loss falls: all of them for the discriminator, the masks for the generator."""
        masked = sum(done in ("replaced", "kept-but-scored") for done in self.corruption.action)
        return int(self.corruption.scored.sum()), masked


@dataclass(frozen=True, eq=False)
class Copied(Record):
    """A teacher and its student read the same x̃.

    `texts` [place, rank] are the tokens that both together find likeliest, `shares` [temperature, who, place, rank] their
    probabilities over the whole vocabulary (who: 0 the teacher, 1 the student), softmax(scores / T) at each of `temperatures`;
    `gap` [temperature, place] is KL(teacher ‖ student).
    """

    names: tuple[str, str]
    corruption: Corruption
    texts: tuple[tuple[str, ...], ...]
    temperatures: tuple[float, ...]
    shares: np.ndarray
    gap: np.ndarray

    @property
    def agree(self) -> float:
        """The share of hidden places at which both find the same token likeliest, as far as it is listed in `texts`."""
        best = self.shares[0].argmax(-1)[:, self.corruption.scored]  # [who, hidden place]
        return float((best[0] == best[1]).mean())
