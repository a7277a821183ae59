"""Beam search: several texts at once, the best of all their continuations go on. Diverse beam search: in groups that part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.decoding.search import NEVER, NextScores, Pair, Path, Search, StepOutcome
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import Stepper
from explorer.decoding.strategy import DecodingStrategy
from explorer.errors import ChoiceError
from explorer.records import DecodingStep, Hypothesis


def beam(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """The `beams` best texts at every step, by the sum of their log-probabilities (Θ of the lecture's arg max, approximated)."""
    return _searched(Search("beam", stepper, prompt, settings), 1, 0.0)


def diverse_beam(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """Beams in groups (Vijayakumar et al. 2016): a token that earlier groups chose at this step costs `diversity` for each time."""
    if settings.beams % settings.groups:
        raise ChoiceError(f"{settings.groups} groups do not divide {settings.beams} beams. Take a multiple of the groups.")
    return _searched(Search("diverse-beam", stepper, prompt, settings), settings.groups, settings.diversity)


@dataclass
class Group:
    """Beams that compete among themselves, best first; and the pool of the best texts that have ended."""

    width: int
    paths: list[Path] = field(default_factory=lambda: [Path()])
    totals: np.ndarray = field(default_factory=lambda: np.zeros(1, np.float32))
    pool: list[Hypothesis] = field(default_factory=list)
    open: bool = True
    stopped: str = ""

    def add(self, ended: Hypothesis) -> None:
        """Into the pool, if it is among the best."""
        self.pool = sorted([*self.pool, ended], key=lambda text: -text.score)[: self.width]

    def settle(self, settings: Settings, limit: int, nothing: bool) -> None:
        """Close this group where no open beam can win any more, or none is left. Conditions as in the transformers library."""
        full = len(self.pool) == self.width
        if nothing or not self.paths:
            self.open = False
        elif full and settings.early_stopping is True:
            self.open, self.stopped = False, "full"
        elif full:
            longest = settings.early_stopping == "never" and settings.length_penalty > 0
            length = limit if longest else len(self.paths[0].ids)
            if not self.totals[0] / settings.divisor(length) > min(text.score for text in self.pool):
                self.open, self.stopped = False, "no open beam can win"


def _searched(search: Search, count: int, diversity: float) -> Iterator[DecodingStep]:
    """One step for each token, of so many groups of beams. At each step the stepper is given the tokens that were chosen and the
    beams (rows of the step before) that they continue, and gives `logp` [beam, vocab].
    """
    groups = [Group(search.settings.beams // count) for _ in range(count)]
    state, ids, parents = search.stepper.start(search.prompt), [search.prompt[-1]], [0]
    for step in range(search.limit):
        logp, state = search.stepper.next(state, ids, parents)
        rows = _rows_of(groups, step)
        paths = [path for group in groups if group.open for path in group.paths] if step else [Path()]
        next_scores = search.allowed(logp, logp, paths, step)
        before = np.concatenate([group.totals for group in groups if group.open])
        outcome = StepOutcome(before, {}, {}, Path(), 0.0, compared=True)
        ids, parents, chosen = [], [], Counter[int]()
        for group, own in zip(groups, rows, strict=True):
            if group.open:
                kept = _advance(search, group, _Turn(next_scores, own, step, chosen, diversity), outcome)
                for row, token in kept if group.open else ():
                    outcome.beams.setdefault((row, token), []).append(len(ids))
                    ids.append(token)
                    parents.append(row)
        _conclude(groups, outcome, step)
        yield search.record(step, next_scores, state, outcome)
        if outcome.stopped:
            return


def _rows_of(groups: Sequence[Group], step: int) -> list[list[int]]:
    """Which rows of the step belong to each group; at first there is one for all."""
    rows, at = [], 0
    for group in groups:
        count = len(group.paths) if group.open and step else 0
        rows.append(list(range(at, at + count)) if step else [0])
        at += count
    return rows


@dataclass
class _Turn:
    """What a group sees when it chooses: the scores of all rows, its own rows, and the tokens that earlier groups chose at this step."""

    next_scores: NextScores
    own: list[int]
    step: int
    chosen: Counter[int]
    diversity: float


def _advance(search: Search, group: Group, turn: _Turn, outcome: StepOutcome) -> list[Pair]:
    """Choose the group's next beams; gives them as (row, token)."""
    totals, ranked = _ranked(search, group, turn)
    turn.chosen.update(token for _, token in ranked[: group.width])
    going: list[tuple[Pair, Path, float]] = []
    others = False
    for rank, (row, token) in enumerate(ranked):
        path = group.paths[turn.own.index(row)].longer(token, float(turn.next_scores.logp[row, token]), row)
        why, total = search.ends(path, turn.step), totals[row, token]
        others |= not why
        if why and rank < group.width:
            group.add(search.hypothesis(path, float(total)))
            group.stopped = why
            outcome.fates[row, token] = "finished"
        elif not why and len(going) < group.width:
            going.append(((row, token), path, float(total)))
            outcome.fates.setdefault((row, token), "kept")
    group.paths, group.totals = [path for _, path, _ in going], np.array([total for *_, total in going], np.float32)
    group.settle(search.settings, search.limit, not others)
    return [pair for pair, *_ in going]


def _ranked(search: Search, group: Group, turn: _Turn) -> tuple[dict[Pair, np.float32], list[Pair]]:
    """The best continuations of a group, best first: twice as many as beams, for half of them may end here."""
    count = max(2, 1 + len(search.stepper.ends)) * group.width
    own = turn.next_scores.scores[turn.own]
    best = search.top(own, count + len(turn.chosen))  # [beam, rank]: those that other groups chose may fall behind
    sums = group.totals[:, None] + np.take_along_axis(own, best, axis=1)
    judged = sums
    if turn.diversity:
        judged = sums - np.float32(turn.diversity) * np.vectorize(turn.chosen.__getitem__)(best)
    totals: dict[Pair, np.float32] = {}
    ranked: list[Pair] = []
    for at in np.argsort(-judged, axis=None, kind="stable")[:count].tolist():
        beam_, rank = divmod(at, best.shape[1])
        if sums[beam_, rank] > NEVER:
            pair = turn.own[beam_], int(best[beam_, rank])
            totals[pair] = sums[beam_, rank]
            ranked.append(pair)
    return totals, ranked


def _conclude(groups: Sequence[Group], outcome: StepOutcome, step: int) -> None:
    """What the record says of all groups together: the best text, what has ended, and whether this was the last step."""
    outcome.finished = tuple(sorted((text for group in groups for text in group.pool), key=lambda text: -text.score))
    running = [group for group in groups if group.open]
    if not running:
        outcome.stopped = max(groups, key=lambda group: group.pool[0].score if group.pool else NEVER).stopped or "nothing left"
    if running:
        first = max(running, key=lambda group: group.totals[0])
        outcome.best, outcome.total = first.paths[0], float(first.totals[0])
    elif outcome.finished:
        best = outcome.finished[0]
        outcome.best, outcome.total = Path(best.ids.tolist(), best.logp.tolist()), best.total
    outcome.row = outcome.best.row if len(outcome.best.ids) == step + 1 else 0


BEAMS: dict[str, DecodingStrategy] = {
    "beam": DecodingStrategy(
        beam,
        about="The few most probable texts so far, side by side.",
        reads=("beams", "early_stopping"),
        shown={"beam 5": {"beams": 5}, "beam 5, no trigram twice": {"beams": 5, "no_repeat": 3}},
    ),
    "diverse-beam": DecodingStrategy(
        diverse_beam,
        about="Beams in groups; tokens that earlier groups chose cost extra.",
        reads=("beams", "groups", "diversity", "early_stopping"),
        shown={"diverse beam": {"beams": 4, "groups": 2}},
    ),
}
