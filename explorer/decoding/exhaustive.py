"""Exhaustive search: every text there is. What the lecture calls intractable, done where it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.decoding.search import Path, Search, StepOutcome
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import Stepper
from explorer.decoding.strategy import DecodingStrategy
from explorer.errors import ChoiceError
from explorer.records import DecodingStep, Hypothesis

MOST = 20_000  # texts; 6 tokens and 4 places are 1,296


def exhaustive(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """All texts of up to `max_tokens` tokens from `among` (or the whole vocabulary, where it is tiny); the best `beams` are kept."""
    search = _checked(Search("exhaustive", stepper, prompt, settings))
    state, ids, parents = stepper.start(search.prompt), [search.prompt[-1]], [0]
    paths, totals, pool = [Path()], np.zeros(1), list[Hypothesis]()
    for step in range(search.limit):
        logp, state = stepper.next(state, ids, parents)
        next_scores = search.allowed(logp, logp, paths, step)
        outcome = StepOutcome(totals, {}, {}, Path(), 0.0, compared=True)
        grown = [
            (path.longer(int(token), float(logp[row, token]), row), totals[row] + next_scores.scores[row, token])
            for row, path in enumerate(paths)
            for token in np.flatnonzero(next_scores.scores[row] > -np.inf)
        ]
        paths, sums = [], []
        for path, total in grown:
            why = search.ends(path, step)
            outcome.fates[path.row, path.ids[-1]] = "finished" if why else "kept"
            if why:
                pool.append(search.hypothesis(path, total))
            else:
                outcome.beams[path.row, path.ids[-1]] = [len(paths)]
                paths.append(path)
                sums.append(total)
        pool = sorted(pool, key=lambda text: -text.score)[: settings.beams]
        totals, ids, parents = np.array(sums), [path.ids[-1] for path in paths], [path.row for path in paths]
        yield search.record(step, next_scores, state, _ended(outcome, paths, totals, pool, search.at_limit))
        if not paths:
            return


def _checked(search: Search) -> Search:
    """The search, if there are not too many texts."""
    width = len(search.settings.among) or search.stepper.size
    if width**search.limit > MOST:
        raise ChoiceError(
            f"{width} tokens in {search.limit} positions are {width:,}^{search.limit} = {float(width) ** search.limit:.3g} texts; "
            f"exhaustive search goes up to {MOST:,}. Give fewer tokens (among=[…]) or positions (max_tokens=…)."
        )
    return search


def _ended(outcome: StepOutcome, paths: list[Path], totals: np.ndarray, pool: list[Hypothesis], why: str) -> StepOutcome:
    """The record's part: the best so far, and at the end the best of all."""
    outcome.finished = tuple(pool)
    if paths:
        best = int(totals.argmax())
        outcome.best, outcome.total, outcome.row = paths[best], float(totals[best]), paths[best].row
    else:
        outcome.stopped = why if pool else "nothing left"
        if pool:
            outcome.best, outcome.total = Path(pool[0].ids.tolist(), pool[0].logp.tolist()), pool[0].total
    return outcome


EXHAUSTIVE: dict[str, DecodingStrategy] = {
    "exhaustive": DecodingStrategy(
        exhaustive, about="Every text that a few tokens can form at a few positions.", reads=("beams",), shown={}
    ),
}
