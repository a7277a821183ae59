"""What all strategies share: where they stop, which pieces may come next, and the record of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.decoding.penalties import repeated_less, repeats
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import State, Stepper
from explorer.errors import ChoiceError, TextError
from explorer.records import CUTS, DecodingStep, Hypothesis

FORCED, NO_REPEAT, AMONG = -3, -2, -4
NAMES = {FORCED: "forced-out", NO_REPEAT: "cut:no_repeat", AMONG: "cut:among"} | {
    number: f"cut:{name}" for number, name in enumerate(CUTS, 1)
}
NEVER = -np.inf
NONE = (-1,)
Pair = tuple[int, int]


@dataclass
class Path:
    """A text on its way: its pieces without the prompt, the model's log-probability of each, and the row that it went on from."""

    ids: list[int] = field(default_factory=list)
    logp: list[float] = field(default_factory=list)
    row: int = 0

    def longer(self, piece: int, logp: float, row: int = 0) -> Path:
        """The same with one more piece."""
        return Path([*self.ids, piece], [*self.logp, logp], row)


@dataclass
class Rows:
    """What may come next: the model's log-probabilities [beam, vocab], the scores that a strategy compares, and who forbids a piece.

    `why` is None where nobody forbids any; `kept` is the share that is left of each beam's probability.
    """

    logp: np.ndarray
    scores: np.ndarray
    why: np.ndarray | None
    kept: np.ndarray


class Search:
    """One decoding: a stepper, its prompt and the settings."""

    def __init__(self, name: str, stepper: Stepper, prompt: Sequence[int], settings: Settings) -> None:
        self.name, self.stepper, self.settings = name, stepper, settings
        self.prompt = [int(piece) for piece in prompt]
        room = settings.max_tokens if stepper.longest is None else stepper.longest - len(self.prompt)
        if not self.prompt:
            raise TextError("The prompt is empty. Give at least one word.")
        if room < 1:
            raise TextError(
                f"The prompt has {len(self.prompt)} pieces and the model reads at most {stepper.longest}: there is no room to go on. "
                "Shorten it."
            )
        for piece in (*self.prompt, *settings.force.values(), *settings.among):
            if not 0 <= piece < stepper.size:
                raise ChoiceError(f"There is no piece {piece}: the model knows the ids 0 to {stepper.size - 1}.")
        self.limit, self.at_limit = min(settings.max_tokens, room), "length" if settings.max_tokens <= room else "context"
        self.outside = np.ones(stepper.size, bool)
        self.outside[list(settings.among)] = False
        self._texts: dict[int, str] = {}

    def allowed(self, logp: np.ndarray, raw: np.ndarray, paths: Sequence[Path], step: int) -> Rows:
        """What penalties, bans and forced pieces leave, before any sampling. `raw` are the scores to be penalised."""
        s, why, scores = self.settings, None, raw
        if s.repetition_penalty != 1:
            scores = repeated_less(scores, [self.prompt + path.ids for path in paths], s.repetition_penalty)
        if s.no_repeat or s.among or step in s.force:
            why = np.zeros(logp.shape, np.int64)
            for row, path in enumerate(paths):
                why[row, repeats(self.prompt + path.ids, s.no_repeat) if s.no_repeat else []] = NO_REPEAT
            if s.among:
                why[:, self.outside] = AMONG
            if step in s.force:
                why[:] = FORCED
                why[:, s.force[step]] = 0
            scores = np.where(why == 0, scores, NEVER).astype(scores.dtype, copy=False)
        kept = np.ones(len(logp)) if why is None else np.where(why == 0, np.exp(logp), 0).sum(axis=1)
        return Rows(logp, scores, why, kept)

    def ends(self, path: Path, step: int) -> str:
        """Why a text ends here; empty where it goes on."""
        if path.ids[-1] in self.stepper.ends:
            return "end"
        if self.settings.stop:
            text = self.stepper.text(path.ids)
            if any(word in text for word in self.settings.stop):
                return "stop"
        return self.at_limit if step + 1 >= self.limit else ""

    def text_of(self, piece: int) -> str:
        """One piece, readable; looked up once."""
        found = self._texts.get(piece)
        if found is None:
            found = self._texts[piece] = self.stepper.text_of(piece)
        return found

    def hypothesis(self, path: Path, total: float) -> Hypothesis:
        """A text that has ended."""
        logp = np.array(path.logp, np.float64)
        score = total / self.settings.divisor(len(path.ids))
        return Hypothesis(np.array(path.ids, np.int64), self.stepper.text(path.ids), float(total), score, logp)

    def top(self, scores: np.ndarray, count: int) -> np.ndarray:
        """The best pieces of every row, best first: [beam, count]."""
        count = min(count, scores.shape[1])
        if count == 0:
            return np.zeros((len(scores), 0), np.int64)
        if len(scores) == 1:  # one text: the same without looking along an axis, which takes longer than the sorting
            some = scores[0].argpartition(scores.shape[1] - count)[-count:]
            return some[(-scores[0][some]).argsort(kind="stable")][None]
        some = np.argpartition(scores, scores.shape[1] - count, axis=1)[:, -count:]
        held = np.take_along_axis(scores, some, axis=1)
        return np.take_along_axis(some, np.argsort(-held, axis=1, kind="stable"), axis=1)

    def record(self, step: int, rows: Rows, state: State, drawn: Drawn) -> DecodingStep:
        """The record of a step."""
        where, beams = self._recorded(rows, drawn)
        parents, pieces = np.array(where, np.int64).reshape(-1, 2).T
        logp = rows.logp[parents, pieces]
        same = not drawn.compared or rows.scores is rows.logp
        totals = drawn.before[parents] + (logp if same else rows.scores[parents, pieces])
        path, ids, kept = drawn.best, drawn.best.ids, rows.kept
        return DecodingStep(
            step=step, strategy=self.name, parents=parents, pieces=pieces, logp=logp, totals=totals,
            texts=tuple([self.text_of(piece) for _, piece in where]),
            scores=totals / self.settings.divisor(step + 1), fates=self._fates(where, (parents, pieces), rows, drawn),
            beams=np.array(beams, np.int64), entropy=_entropy(rows.logp), kept_mass=kept, cut_mass=1 - kept,
            considered=rows.logp.size,
            ids=np.array(ids, np.int64), text=self.stepper.text(ids), chosen=np.array(path.logp, np.float64),
            total=float(drawn.total), finished=drawn.finished, stopped=drawn.stopped,
            cross=None if state.cross is None else state.cross[:, :, drawn.row], computed=state.computed, reused=state.reused,
        )  # fmt: skip

    def _recorded(self, rows: Rows, drawn: Drawn) -> tuple[list[Pair], list[int]]:
        """Which (beam, piece) a step records, and the place of each among the beams after it (−1: none)."""
        held = dict.fromkeys([*self._likeliest(rows), *drawn.fates])
        if not drawn.beams:
            return [*held], [-1] * len(held)
        going = drawn.beams  # in groups one piece may go on twice
        return [p for p in held for _ in going.get(p, NONE)], [beam for p in held for beam in going.get(p, NONE)]

    @staticmethod
    def _fates(where: list[Pair], at: tuple[np.ndarray, np.ndarray], rows: Rows, drawn: Drawn) -> tuple[str, ...]:
        """What befell each of these: what the strategy said, or who cut it."""
        if rows.why is None:
            return tuple([drawn.fates.get(pair, "beaten") for pair in where])
        other = [NAMES.get(code, drawn.other) for code in rows.why[at].tolist()]
        return tuple([drawn.fates.get(pair, fate) for pair, fate in zip(where, other, strict=True)])

    def _likeliest(self, rows: Rows) -> list[Pair]:
        """The model's likeliest pieces of every beam, as (beam, piece)."""
        best = self.top(rows.logp, self.settings.candidates).tolist()
        return [(row, piece) for row, pieces in enumerate(best) for piece in pieces]


@dataclass
class Drawn:
    """What a strategy made of a step, for its record.

    `fates` and `beams` are of (beam, piece) pairs, `other` is what befell all others; `before` are the sums of the beams, and
    `compared` says whether the strategy adds its own scores to them or the model's log-probabilities. `best` is the best text now, and
    the state's row that it went on from is `row`.
    """

    before: np.ndarray
    fates: dict[tuple[int, int], str]
    beams: dict[tuple[int, int], list[int]]
    best: Path
    total: float
    row: int = 0
    other: str = "beaten"
    compared: bool = False
    finished: tuple[Hypothesis, ...] = ()
    stopped: str = ""


def _entropy(logp: np.ndarray) -> np.ndarray:
    """How unsure the model is in each row, in nats; what is impossible adds nothing."""
    held = np.maximum(logp, np.float32(-1e4))
    if len(held) == 1:  # one text: a plain product, which begins sooner
        return -np.exp(held).dot(held[0])
    return -np.einsum("bv,bv->b", np.exp(held), held)
