"""What all strategies share: where they stop, which tokens may come next, and the record of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.decoding.penalties import repeated_less, repeating_tokens
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import State, Stepper
from explorer.errors import ChoiceError, TextError
from explorer.records import CUTS, DecodingStep, Hypothesis, softmax

FORCED, NO_REPEAT, AMONG = -3, -2, -4
NAMES = {FORCED: "forced-out", NO_REPEAT: "cut:no_repeat", AMONG: "cut:among"} | {
    number: f"cut:{name}" for number, name in enumerate(CUTS, 1)
}
NEVER = -np.inf
NONE = (-1,)
DRAWS = "not drawn"  # what befell the other tokens where one was drawn
Pair = tuple[int, int]


@dataclass
class Path:
    """A text on its way: its tokens without the prompt, the model's log-probability of each, and the row that it went on from."""

    ids: list[int] = field(default_factory=list)
    logp: list[float] = field(default_factory=list)
    row: int = 0

    def longer(self, token: int, logp: float, row: int = 0) -> Path:
        """The same with one more token."""
        return Path([*self.ids, token], [*self.logp, logp], row)


@dataclass
class NextScores:
    """What may come next: the model's log-probabilities [beam, vocab], the scores that a strategy compares, and who forbids a token.

    `why` is None where nobody forbids any; `kept` is the share that is left of each beam's probability.
    """

    logp: np.ndarray
    scores: np.ndarray
    why: np.ndarray | None
    kept: np.ndarray


def check_room(stepper: Stepper, prompt: Sequence[int], more: int) -> None:
    """Refuse a prompt that is empty, or after which there is no room for so many more tokens."""
    if not prompt:
        raise TextError("The prompt is empty. Give at least one word.")
    if stepper.longest is not None and len(prompt) + more > stepper.longest:
        raise TextError(
            f"The prompt has {len(prompt)} tokens and the model reads at most {stepper.longest}: there is no room to continue. Shorten it."
            ""
        )


class Search:
    """One decoding: a stepper, its prompt and the settings."""

    def __init__(self, name: str, stepper: Stepper, prompt: Sequence[int], settings: Settings) -> None:
        self.name, self.stepper, self.settings = name, stepper, settings
        self.prompt = [int(token) for token in prompt]
        room = settings.max_tokens if stepper.longest is None else stepper.longest - len(self.prompt)
        check_room(stepper, self.prompt, 1)
        for token in (*self.prompt, *settings.force.values(), *settings.among):
            if not 0 <= token < stepper.size:
                raise ChoiceError(f"There is no token {token}: the model has the ids 0 to {stepper.size - 1}.")
        self.limit, self.at_limit = min(settings.max_tokens, room), "length" if settings.max_tokens <= room else "context"
        self.outside = np.ones(stepper.size, bool)
        self.outside[list(settings.among)] = False

    def allowed(self, logp: np.ndarray, raw: np.ndarray, paths: Sequence[Path], step: int) -> NextScores:
        """What penalties, bans and forced tokens leave, before any sampling. `raw` are the scores to be penalised."""
        s, why, scores = self.settings, None, raw
        if s.repetition_penalty != 1:
            scores = repeated_less(scores, [self.prompt + path.ids for path in paths], s.repetition_penalty)
        if s.no_repeat or s.among or step in s.force:
            why = np.zeros(logp.shape, np.int64)
            for row, path in enumerate(paths):
                why[row, repeating_tokens(self.prompt + path.ids, s.no_repeat) if s.no_repeat else []] = NO_REPEAT
            if s.among:
                why[:, self.outside] = AMONG
            if step in s.force:
                why[:] = FORCED
                why[:, s.force[step]] = 0
            scores = np.where(why == 0, scores, NEVER).astype(scores.dtype, copy=False)
        kept = np.ones(len(logp)) if why is None else np.where(why == 0, np.exp(logp), 0).sum(axis=1)
        return NextScores(logp, scores, why, kept)

    def ends(self, path: Path, step: int) -> str:
        """Why a text ends here; empty where it goes on."""
        if path.ids[-1] in self.stepper.ends:
            return "end"
        if self.settings.stop:
            text = self.stepper.text(path.ids)
            if any(word in text for word in self.settings.stop):
                return "stop"
        return self.at_limit if step + 1 >= self.limit else ""

    def hypothesis(self, path: Path, total: float) -> Hypothesis:
        """A text that has ended."""
        logp = np.array(path.logp, np.float64)
        score = total / self.settings.divisor(len(path.ids))
        return Hypothesis(np.array(path.ids, np.int64), self.stepper.text(path.ids), float(total), score, logp)

    def top(self, scores: np.ndarray, count: int) -> np.ndarray:
        """The best tokens of every row, best first: [beam, count]."""
        count = min(count, scores.shape[1])
        if count == 0:
            return np.zeros((len(scores), 0), np.int64)
        if len(scores) == 1:  # one text: the same without looking along an axis, which takes longer than the sorting
            some = scores[0].argpartition(scores.shape[1] - count)[-count:]
            ranked: np.ndarray = some[(-scores[0][some]).argsort(kind="stable")][None]
            return ranked
        some = np.argpartition(scores, scores.shape[1] - count, axis=1)[:, -count:]
        chosen = np.take_along_axis(scores, some, axis=1)
        return np.take_along_axis(some, np.argsort(-chosen, axis=1, kind="stable"), axis=1)

    def record(self, step: int, next_scores: NextScores, state: State, outcome: StepOutcome) -> DecodingStep:
        """The record of a step."""
        pairs, beams = self._recorded(next_scores, outcome)
        parents, tokens = np.array(pairs, np.int64).reshape(-1, 2).T
        logp = next_scores.logp[parents, tokens]
        same = not outcome.compared or next_scores.scores is next_scores.logp
        totals = outcome.before[parents] + (logp if same else next_scores.scores[parents, tokens])
        path, ids, kept = outcome.best, outcome.best.ids, next_scores.kept
        drawn = (
            softmax(next_scores.scores)[parents, tokens]
            if outcome.other == DRAWS and next_scores.scores.max() > NEVER
            else None
        )
        return DecodingStep(
            step=step, strategy=self.name, parents=parents, pieces=tokens, logp=logp, totals=totals,
            texts=tuple([self.stepper.text_of(token) for _, token in pairs]),
            scores=totals / self.settings.divisor(step + 1), fates=self._fates(pairs, (parents, tokens), next_scores, outcome),
            beams=np.array(beams, np.int64), entropy=_entropy(next_scores.logp), kept_mass=kept, cut_mass=1 - kept,
            considered=next_scores.logp.size,
            ids=np.array(ids, np.int64), text=self.stepper.text(ids), chosen=np.array(path.logp, np.float64),
            total=float(outcome.total), finished=outcome.finished, stopped=outcome.stopped,
            cross=None if state.cross is None else state.cross[:, :, outcome.row], computed=state.computed, reused=state.reused,
            drawn=drawn,
        )  # fmt: skip

    def _recorded(self, next_scores: NextScores, outcome: StepOutcome) -> tuple[list[Pair], list[int]]:
        """Which (beam, token) a step records, and the number of each among the beams after it (−1: none)."""
        pairs = dict.fromkeys([*self._likeliest(next_scores), *outcome.fates])
        if not outcome.beams:
            return [*pairs], [-1] * len(pairs)
        going = outcome.beams  # in groups one token may go on twice
        return [p for p in pairs for _ in going.get(p, NONE)], [beam for p in pairs for beam in going.get(p, NONE)]

    @staticmethod
    def _fates(
        pairs: list[Pair], at: tuple[np.ndarray, np.ndarray], next_scores: NextScores, outcome: StepOutcome
    ) -> tuple[str, ...]:
        """What befell each of these: what the strategy said, or who cut it."""
        if next_scores.why is None:
            return tuple([outcome.fates.get(pair, "beaten") for pair in pairs])
        other = [NAMES.get(code, outcome.other) for code in next_scores.why[at].tolist()]
        return tuple([outcome.fates.get(pair, fate) for pair, fate in zip(pairs, other, strict=True)])

    def _likeliest(self, next_scores: NextScores) -> list[Pair]:
        """The model's likeliest tokens of every beam, as (beam, token)."""
        best = self.top(next_scores.logp, self.settings.candidates).tolist()
        return [(row, token) for row, tokens in enumerate(best) for token in tokens]


@dataclass
class StepOutcome:
    """What a strategy made of a step, for its record.

    `fates` and `beams` are of (beam, token) pairs, `other` is what befell all others; `before` are the sums of the beams, and
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
    finite = np.maximum(logp, np.float32(-1e4))
    if len(finite) == 1:  # one text: a plain product, which begins sooner
        alone: np.ndarray = -np.exp(finite).dot(finite[0])
        return alone
    entropy: np.ndarray = -np.einsum("bv,bv->b", np.exp(finite), finite)
    return entropy
