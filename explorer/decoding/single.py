"""Strategies that follow one text: greedy, and drawing at random from what temperature and cuts leave."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.decoding.search import Drawn, Path, Rows, Search
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import State, Stepper
from explorer.records import CUTS, DecodingStep, cut, softmax


def greedy(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """Always the likeliest piece."""
    return _one(Search("greedy", stepper, prompt, settings), None)


def sample(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """A piece drawn by its probability, after temperature, top k, top p, min p and typical p in this order."""
    return _one(Search("sample", stepper, prompt, settings), np.random.default_rng(settings.seed))


def _one(search: Search, chance: np.random.Generator | None) -> Iterator[DecodingStep]:
    state, path, total = search.stepper.start(search.prompt), Path(), 0.0
    last = search.prompt[-1]
    for step in range(search.limit):
        logp, state = search.stepper.next(state, [last], [0])
        rows = search.allowed(logp, raw_of(search, logp, state), [path], step)
        if chance is not None:
            rows = warped(rows, search.settings)
        last = int(rows.scores[0].argmax()) if chance is None else drawn_from(rows.scores[0], chance)
        before, here = np.array([total]), float(logp[0, last])
        nothing = rows.scores[0, last] == -np.inf
        if not nothing:
            path, total = path.longer(last, here), total + here
        why = "nothing left" if nothing else search.ends(path, step)
        ended = (search.hypothesis(path, total),) if why and path.ids else ()
        fate = {} if nothing else {(0, last): "finished" if why in ("end", "stop") else "kept"}
        beams = {} if nothing or why else {(0, last): [0]}
        other = "beaten" if chance is None else "not drawn"
        yield search.record(step, rows, state, Drawn(before, fate, beams, path, total, 0, other, finished=ended, stopped=why))
        if why:
            return


def raw_of(search: Search, logp: np.ndarray, state: State) -> np.ndarray:
    """What a penalty for repeating is laid on: the model's raw scores, as the transformers library does where there is one beam."""
    return logp if search.settings.repetition_penalty == 1 or state.raw is None else state.raw


def warped(rows: Rows, settings: Settings) -> Rows:
    """Rows after temperature and cuts."""
    s, before = settings, rows.why
    limits = {name: getattr(s, name) for name in CUTS}
    if s.temperature == 1 and before is None and not any(limits.values()):
        return Rows(rows.logp, rows.scores, np.zeros(rows.logp.shape, np.int64), rows.kept)
    scores, why = cut(rows.scores, s.temperature, **limits)
    tempered = softmax(rows.scores / s.temperature)
    why = why if before is None else np.where(before != 0, before, why)
    return Rows(rows.logp, scores, why, rows.kept * np.where(why == 0, tempered, 0).sum(axis=1))


def drawn_from(scores: np.ndarray, chance: np.random.Generator) -> int:
    """One piece, drawn by the shares of its scores."""
    if not np.isfinite(scores.max()):
        return int(scores.argmax())
    ladder = np.cumsum(softmax(scores))
    return int(min(np.searchsorted(ladder, chance.random() * ladder[-1], side="right"), len(scores) - 1))
