"""A text as it comes into being, piece by piece: what was considered at every step, what was kept, and why the rest was not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from explorer.records.cutting import cut
from explorer.records.record import Record
from explorer.records.shares import log_softmax, softmax
from explorer.records.tokens import Tokens
from explorer.records.trace import Trace

FATES = ("kept", "finished", "beaten", "not drawn", "forced-out", "cut:no_repeat", "cut:among", "cut:top_k", "cut:top_p",
         "cut:min_p", "cut:typical_p")  # fmt: skip

COLUMNS = ("parents", "pieces", "logp", "totals", "scores", "beams", "entropy", "kept_mass", "cut_mass", "ids", "chosen")


@dataclass(frozen=True, eq=False)
class Candidate(Record):
    """One piece that could come next.

    `parent` is the beam of the step before that it goes on from, `beam` its place among the beams after this step (−1: it is
    none). `logp` is the model's own log-probability, `total` the sum along its branch as the strategy counts it (in diverse and
    plain beam search after penalties for repeating), `score` what it is compared by at the end. `fate` is one of FATES.
    """

    parent: int
    id: int
    text: str
    logp: float
    total: float
    score: float
    fate: str
    beam: int = -1

    def __post_init__(self) -> None:
        """Numbers and strings are safe to share as they are."""


@dataclass(frozen=True, eq=False)
class Hypothesis(Record):
    """A text that has ended: its pieces without the prompt, the model's own log-probability of each, and its score."""

    ids: np.ndarray
    text: str
    total: float
    score: float
    logp: np.ndarray

    @property
    def mean(self) -> float:
        """The mean log-probability of a piece."""
        return float(self.logp.mean()) if len(self.logp) else 0.0


@dataclass(frozen=True, eq=False)
class DecodingStep(Record):
    """One step of writing: one more piece in every beam.

    The candidates stand in columns, which `candidates` makes into rows: `parents`, `pieces`, `texts`, `logp`, `totals`,
    `scores`, `fates`, `beams`. Of each beam before the step, `entropy` (nats, over the whole vocabulary), `kept_mass` and
    `cut_mass` tell how sure the model was, and how much probability the cuts left and took. `considered` is how many pieces
    were compared in all. `ids`, `text` and `chosen` (the log-probability of each piece) are the best text so far, without the
    prompt; `finished` are the texts that have ended, best first. `cross` [layer, head, source] is where the step of the best
    beam looked in the source. `computed` counts the places that the model read in this step for one beam, `reused` those whose keys
    and values lay in the cache. `stopped` says why this step is the last one.
    """

    step: int
    strategy: str
    parents: np.ndarray
    pieces: np.ndarray
    texts: tuple[str, ...]
    logp: np.ndarray
    totals: np.ndarray
    scores: np.ndarray
    fates: tuple[str, ...]
    beams: np.ndarray
    entropy: np.ndarray
    kept_mass: np.ndarray
    cut_mass: np.ndarray
    considered: int
    ids: np.ndarray
    text: str
    chosen: np.ndarray
    total: float
    finished: tuple[Hypothesis, ...] = ()
    cross: np.ndarray | None = None
    computed: int = 0
    reused: int = 0
    stopped: str = ""

    def __post_init__(self) -> None:
        """As every record, but faster: nothing is copied, for whoever makes a step hands its columns over and keeps none."""
        held = self.__dict__
        for name in COLUMNS:
            held[name].flags.writeable = False
        if self.cross is not None:
            self.cross.flags.writeable = False

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The pieces that could come next, one record each."""
        numbers = zip(self.parents.tolist(), self.pieces.tolist(), self.texts, self.logp.tolist(), strict=True)
        judged = zip(self.totals.tolist(), self.scores.tolist(), self.fates, self.beams.tolist(), strict=True)
        return tuple(Candidate(*first, *second) for first, second in zip(numbers, judged, strict=True))


@dataclass(frozen=True, eq=False)
class Written(Record):
    """What one strategy wrote after a prompt, to be laid beside others. `settings` are its choices in words, `size`
    is how many pieces the model knows."""

    model: str
    label: str
    prompt: str
    texts: tuple[str, ...]
    ids: np.ndarray
    logp: np.ndarray
    text: str
    settings: str = ""
    stopped: str = ""
    size: int = 0

    @property
    def total(self) -> float:
        """log P(y): the sum over its pieces."""
        return float(self.logp.astype(np.float64).sum())


@dataclass(frozen=True, eq=False)
class Distribution(Record):
    """The whole distribution over the next piece: `ids` and raw `scores` [vocab], likeliest first; `texts` of the first few."""

    model: str
    prompt: str
    ids: np.ndarray
    scores: np.ndarray
    texts: tuple[str, ...]

    @property
    def shares(self) -> np.ndarray:
        """The model's own probabilities, likeliest first."""
        return softmax(self.scores)

    @property
    def entropy(self) -> float:
        """How unsure the model is, in nats."""
        logp = log_softmax(self.scores)
        return float(-(np.exp(logp) * logp).sum())

    def cut(self, temperature: float = 1.0, **limits: float | None) -> tuple[np.ndarray, np.ndarray]:
        """The probabilities after temperature, before any cut; and who cut each piece (see `records.cutting`)."""
        why = cut(self.scores[None], temperature, **limits)[1][0]
        return softmax(self.scores / temperature), why


@dataclass(frozen=True, eq=False)
class Contest(Record):
    """How probable a model finds the texts of several strategies after the same beginnings.

    `totals` [label, prompt] are log P(y) by the model itself; `texts` [prompt, label] what was written. `starts` are the pieces of
    the beginnings, in numbers.
    """

    model: str
    labels: tuple[str, ...]
    prompts: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    totals: np.ndarray
    starts: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Generation(Record):
    """A text as it was generated, with the attention of all steps joined into one growing matrix.

    `trace` holds the joined weights (queries are the places that were read, prompt first); `rows[n]` is the first query of step
    n, so step n computed the rows from there to the next one. `steps` are the decoding steps themselves.
    """

    trace: Trace
    rows: tuple[int, ...]
    steps: tuple[DecodingStep, ...]


@dataclass(frozen=True, eq=False)
class FillingStep(Record):
    """One step of a masked model that fills blanks.

    `tokens` is the text after the step. Of every blank [blank]: its place, the piece that the model finds likeliest now, that
    piece's probability, the entropy, whether it was `filled` in this step and whether it is `blank` (a mask) after it. `texts` and
    `shares` [blank, rank] are the likeliest pieces.
    """

    step: int
    order: str
    model: str
    tokens: Tokens
    places: np.ndarray
    pieces: np.ndarray
    texts: tuple[tuple[str, ...], ...]
    shares: np.ndarray
    entropy: np.ndarray
    filled: np.ndarray
    blank: np.ndarray
    total: float

    @property
    def text(self) -> tuple[str, ...]:
        """The pieces of the text after this step."""
        return self.tokens.texts
