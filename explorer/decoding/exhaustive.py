"""Exhaustive search: every text there is. What the lecture calls intractable, done where it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.decoding.search import Drawn, Path, Search
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import Stepper
from explorer.errors import ChoiceError
from explorer.records import DecodingStep, Hypothesis

MOST = 20_000  # texts; 6 pieces and 4 places are 1,296


def exhaustive(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """All texts of up to `max_tokens` pieces from `among` (or the whole vocabulary, where it is tiny); the best `beams` are kept."""
    search = _checked(Search("exhaustive", stepper, prompt, settings))
    state, ids, parents = stepper.start(search.prompt), [search.prompt[-1]], [0]
    paths, totals, pool = [Path()], np.zeros(1), list[Hypothesis]()
    for step in range(search.limit):
        logp, state = stepper.next(state, ids, parents)
        rows = search.allowed(logp, logp, paths, step)
        drawn = Drawn(totals, {}, {}, Path(), 0.0, compared=True)
        grown = [
            (path.longer(int(piece), float(logp[row, piece]), row), totals[row] + rows.scores[row, piece])
            for row, path in enumerate(paths)
            for piece in np.flatnonzero(rows.scores[row] > -np.inf)
        ]
        paths, sums = [], []
        for path, total in grown:
            why = search.ends(path, step)
            drawn.fates[path.row, path.ids[-1]] = "finished" if why else "kept"
            if why:
                pool.append(search.hypothesis(path, total))
            else:
                drawn.beams[path.row, path.ids[-1]] = [len(paths)]
                paths.append(path)
                sums.append(total)
        pool = sorted(pool, key=lambda one: -one.score)[: settings.beams]
        totals, ids, parents = np.array(sums), [path.ids[-1] for path in paths], [path.row for path in paths]
        yield search.record(step, rows, state, _ended(drawn, paths, totals, pool, search.at_limit))
        if not paths:
            return


def _checked(search: Search) -> Search:
    """The search, if there are not too many texts."""
    width = len(search.settings.among) or search.stepper.size
    if width**search.limit > MOST:
        raise ChoiceError(
            f"{width} pieces in {search.limit} places are {width:,}^{search.limit} = {float(width) ** search.limit:.3g} texts; "
            f"exhaustive search goes up to {MOST:,}. Give fewer pieces (among=[…]) or places (max_tokens=…)."
        )
    return search


def _ended(drawn: Drawn, paths: list[Path], totals: np.ndarray, pool: list[Hypothesis], why: str) -> Drawn:
    """The record's part: the best so far, and at the end the best of all."""
    drawn.finished = tuple(pool)
    if paths:
        best = int(totals.argmax())
        drawn.best, drawn.total, drawn.row = paths[best], float(totals[best]), paths[best].row
    else:
        drawn.stopped = why if pool else "nothing left"
        if pool:
            drawn.best, drawn.total = Path(pool[0].ids.tolist(), pool[0].logp.tolist()), pool[0].total
    return drawn
