"""How a text is written, step by step: candidates, beams, filled blanks, and what is cut before a draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from explorer.errors.kinds import called
from explorer.records.record import Record
from explorer.records.softmax import log_softmax, softmax
from explorer.records.summary import Summary, shortened
from explorer.records.tokens import Tokens
from explorer.records.trace import Trace

if TYPE_CHECKING:
    from pandas import DataFrame

KEPT, FORBIDDEN = 0, -1
CUTS = ("top_k", "top_p", "min_p", "typical_p")


def cut_scores(scores: np.ndarray, temperature: float = 1.0, **limits: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Scores ÷ temperature with −∞ where a limit cuts, and who cut each token: 0 nobody, otherwise 1 + the index in CUTS.

    `limits` are top_k, top_p, min_p and typical_p; None leaves one out. A token that has −∞ from the start belongs to nobody: −1.
    """
    left = np.asarray(scores / temperature if temperature != 1.0 else scores)
    why = np.where(np.isneginf(left), FORBIDDEN, KEPT)
    for number, name in enumerate(CUTS, 1):
        limit = limits.get(name)
        if limit is not None:
            fall = _RULES[name](left, limit) & (why == KEPT)
            why = np.where(fall, number, why)
            left = np.where(fall, -np.inf, left)
    return left, why


def below_rank(scores: np.ndarray, k: float) -> np.ndarray:
    """Top k: what has a smaller score than the k-th largest."""
    rank = min(int(k), scores.shape[-1]) - 1
    return scores < -np.partition(-scores, rank, axis=-1)[..., rank : rank + 1]


def beyond_mass(scores: np.ndarray, p: float) -> np.ndarray:
    """Top p: what is not needed to gather the share p, taking the likeliest tokens first. The likeliest always stays."""
    order = np.argsort(scores, axis=-1, kind="stable")  # smallest first
    mass = np.cumsum(np.take_along_axis(softmax(scores), order, axis=-1), axis=-1)
    fall = mass <= 1 - p
    fall[..., -1] = False
    return _back(fall, order)


def below_share(scores: np.ndarray, p: float) -> np.ndarray:
    """Min p: what is less probable than p times the likeliest token."""
    shares = softmax(scores)
    return np.asarray(shares < p * shares.max(axis=-1, keepdims=True))


def not_typical(scores: np.ndarray, p: float) -> np.ndarray:
    """Typical p: keep the tokens whose surprise −log P is nearest to the entropy until they gather the share p; cut the others."""
    shares = softmax(scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = -np.log(shares)
        entropy = np.nansum(shares * surprise, axis=-1, keepdims=True)
    away = np.abs(surprise - entropy)
    order = np.argsort(away, axis=-1, kind="stable")  # most typical first
    mass = np.cumsum(np.take_along_axis(shares, order, axis=-1), axis=-1)
    last = np.minimum((mass < p).sum(axis=-1, keepdims=True), scores.shape[-1] - 1)
    ranked = np.take_along_axis(away, order, axis=-1)
    fall = ranked > np.take_along_axis(ranked, last, axis=-1)
    fall[..., 0] = False
    return _back(fall, order)


def _back(marks: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Marks of sorted positions, at the positions where these came from."""
    restored = np.empty_like(marks)
    np.put_along_axis(restored, order, marks, axis=-1)
    return restored


_RULES: Mapping[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "top_k": below_rank,
    "top_p": beyond_mass,
    "min_p": below_share,
    "typical_p": not_typical,
}


# "kept" with −1 as its beam: it was among the best, and the search ended there.
FATES = ("kept", "finished", "beaten", "not drawn", "forced-out", "cut:no_repeat", "cut:among", "cut:top_k", "cut:top_p",
         "cut:min_p", "cut:typical_p")  # fmt: skip

COLUMNS = ("parents", "pieces", "logp", "totals", "scores", "beams", "entropy", "kept_mass", "cut_mass", "ids", "chosen")


@dataclass(frozen=True, eq=False)
class Candidate(Record):
    """One token that could come next.

    `parent` is the beam of the step before that it goes on from, `beam` its index among the beams after this step (−1: it is
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
    """A text that has ended: its tokens without the prompt, the model's own log-probability of each, and its score."""

    shapes = dict.fromkeys(("ids", "logp"), ("position",))
    ids: np.ndarray
    text: str
    total: float
    score: float
    logp: np.ndarray

    @property
    def mean(self) -> float:
        """The mean log-probability of a token."""
        return float(self.logp.mean()) if len(self.logp) else 0.0


@dataclass(frozen=True, eq=False)
class DecodingStep(Record):
    """One step of writing: one more token in every beam.

    The candidates are in columns, which `candidates` makes into rows: `parents`, `pieces` (the ids of the tokens), `texts`,
    `logp`, `totals`, `scores` (the totals divided by the length penalty), `fates`, `beams`. Of each beam before the step,
    `entropy` (nats, over the whole vocabulary), `kept_mass` and `cut_mass` say how sure the model was, and how much probability
    the cuts left and took. `considered` is how many tokens were compared in all. `ids`, `text` and `chosen` (the log-probability
    of each token) are the best text so far, without the prompt; `finished` are the texts that have ended, best first. `drawn` is the
    probability with which each candidate could be drawn, after temperature and cuts, None where none is drawn. `cross`
    [layer, head, source] is where the step of the best beam looked in the source. `computed` counts the positions that the model
    read in this step for one beam, `reused` those whose keys and values lay in the cache. `stopped` says why this step is the
    last one.
    """

    shapes = dict.fromkeys(
        ("parents", "pieces", "texts", "logp", "totals", "scores", "fates", "beams", "drawn"), ("candidate",)
    )
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
    drawn: np.ndarray | None = None

    def __post_init__(self) -> None:
        """As every record, but faster: nothing is copied, for whoever makes a step hands its columns over and keeps none."""
        fields = self.__dict__
        for name in COLUMNS:
            fields[name].flags.writeable = False
        for array in (self.cross, self.drawn):
            if array is not None:
                array.flags.writeable = False

    def summary(self) -> Summary:
        """What is written so far, and the likeliest tokens that could come next."""
        best = self.logp.argsort()[::-1][:5].tolist()
        offered = ", ".join(f"{self.texts[n]} {math.exp(self.logp[n]):.0%} {self.fates[n]}" for n in best)
        rows = [("text", shortened(self.text)), ("likeliest", shortened(offered)), ("log-probability", f"{self.total:.3f}")]
        rows += [("finished", f"{len(self.finished)} texts")] if self.finished else []
        return f"DecodingStep {self.step} of {self.strategy!r}", rows + ([("stopped", self.stopped)] if self.stopped else [])

    def to_row(self) -> dict[str, float | str]:
        """What this step added to the best text: the token with its log-probability, the entropy before it, and the sum so far; where
        it was drawn, with which probability."""
        new = len(self.ids) == self.step + 1 and (self.pieces == self.ids[-1]) & (self.logp == self.chosen[-1])
        at = np.flatnonzero(new)
        added = (self.texts[at[0]], self.logp[at[0]], self.entropy[self.parents[at[0]]]) if len(at) else ("", np.nan, np.nan)
        drawn = {} if self.drawn is None else {"drawn": self.drawn[at[0]] if len(at) else np.nan}
        return {"step": self.step, **dict(zip(("token", "logp", "entropy"), added, strict=True)), **drawn, "total": self.total}

    def to_frame(self, what: str = "", **where: object) -> DataFrame:
        """A row for each candidate; "finished": one for each text that has ended, the best first, with the sum and the mean of its
        log-probabilities and the score by which it is compared."""
        from explorer.records.tables import rows_where, table_of

        if what != "finished" or not self.finished:
            return super().to_frame(what, **where)
        names = ("text", "total", "mean", "score")
        rows = [{"tokens": len(text.ids), **{name: getattr(text, name) for name in names}} for text in self.finished]
        return rows_where(table_of(rows), where)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """The tokens that could come next, one record each."""
        numbers = zip(self.parents.tolist(), self.pieces.tolist(), self.texts, self.logp.tolist(), strict=True)
        judged = zip(self.totals.tolist(), self.scores.tolist(), self.fates, self.beams.tolist(), strict=True)
        return tuple(Candidate(*first, *second) for first, second in zip(numbers, judged, strict=True))


@dataclass(frozen=True, eq=False)
class Written(Record):
    """What one strategy wrote after a prompt, to be laid beside others. `settings` are its choices in words, `size`
    is how many tokens the vocabulary has; `ended` says that its last token ends a text, so that it was not cut."""

    shapes = dict.fromkeys(("texts", "ids", "logp"), ("position",))
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
    ended: bool = False

    @property
    def total(self) -> float:
        """log P(y): the sum over its tokens."""
        return float(self.logp.astype(np.float64).sum())

    def parts_from(self, other: Written) -> int | None:
        """The first token that is not that of another text; None where one text is the beginning of the other."""
        pairs = enumerate(zip(self.ids.tolist(), other.ids.tolist(), strict=False))
        return next((n for n, (mine, theirs) in pairs if mine != theirs), None)


@dataclass(frozen=True, eq=False)
class Distribution(Record):
    """The whole distribution over the next piece: `ids` and raw `scores` [vocab], likeliest first; `texts` of the first few."""

    shapes = dict.fromkeys(("ids", "scores"), ("rank",))
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
        """The probabilities after temperature, before any cut; and who cut each token (see `cut_scores`)."""
        why = cut_scores(self.scores[None], temperature, **limits)[1][0]
        return softmax(self.scores / temperature), why


@called("a contest, of ex.decoding.contest(…)")
@dataclass(frozen=True, eq=False)
class Contest(Record):
    """How probable a model finds the texts of several strategies after the same beginnings.

    `totals` [label, prompt] are log P(y) by the model itself; `texts` [prompt, label] what was written. `starts` are the tokens of
    the beginnings, in numbers.
    """

    shapes = {"texts": ("prompt", "label"), "totals": ("label", "prompt")}
    model: str
    labels: tuple[str, ...]
    prompts: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    totals: np.ndarray
    starts: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Generation(Record):
    """A text as it was generated, with the attention of all steps joined into one growing matrix.

    `trace` holds the joined weights (queries are the positions that were read, prompt first); `rows[n]` is the first query of step
    n, so step n computed the rows from there to the next one. `steps` are the decoding steps themselves.
    """

    trace: Trace
    rows: tuple[int, ...]
    steps: tuple[DecodingStep, ...]


@dataclass(frozen=True, eq=False)
class FillingStep(Record):
    """One step of a masked model that fills blanks.

    `tokens` is the text after the step. Of every blank [blank]: its place, the token that the model finds likeliest now, that
    token's probability, the entropy, whether it was `filled` in this step and whether it is `blank` (a mask) after it. `texts` and
    `shares` [blank, rank] are the likeliest tokens.
    """

    shapes = {
        **dict.fromkeys(("places", "pieces", "entropy", "filled", "blank"), ("blank",)),
        **dict.fromkeys(("texts", "shares"), ("blank", "rank")),
    }
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

    def to_row(self) -> dict[str, float | str]:
        """What this step filled in: the tokens with the sum of their log-probabilities, their mean entropy, and the sum so far."""
        tokens = " ".join(row[0] for row, filled in zip(self.texts, self.filled, strict=True) if filled)
        logp, entropy = np.log(self.shares[self.filled, 0]).sum(), self.entropy[self.filled].mean()
        return {"step": self.step, "token": tokens, "logp": logp, "entropy": entropy, "total": self.total}

    @property
    def text(self) -> tuple[str, ...]:
        """The pieces of the text after this step."""
        return self.tokens.texts
