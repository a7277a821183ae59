"""Strategies that follow one text: greedy, and drawing at random from what temperature and cuts leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from explorer.decoding.search import DRAWS, NextScores, Path, Search, StepOutcome
from explorer.decoding.settings import Settings
from explorer.decoding.stepper import State, Stepper
from explorer.decoding.strategy import DecodingStrategy
from explorer.records import CUTS, DecodingStep, cut_scores, softmax

Choose = Callable[[NextScores], tuple[NextScores, int]]  # what a strategy leaves of the scores, and the token that it takes


def greedy(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """Always the likeliest token."""

    def likeliest(next_scores: NextScores) -> tuple[NextScores, int]:
        return next_scores, int(next_scores.scores[0].argmax())

    return follow(Search("greedy", stepper, prompt, settings), likeliest)


def sample(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """A token drawn by its probability, after temperature, top k, top p, min p and typical p in this order."""
    rng = np.random.default_rng(settings.seed)

    def draw(next_scores: NextScores) -> tuple[NextScores, int]:
        left = warped(next_scores, settings)
        return left, drawn_from(left.scores[0], rng)

    return follow(Search("sample", stepper, prompt, settings), draw, DRAWS)


def follow(search: Search, choose: Choose, other: str = "beaten") -> Iterator[DecodingStep]:
    """One text, a token at a time, as `choose` says; `other` is what the record says of tokens that were not chosen."""
    state, path, total = search.stepper.start(search.prompt), Path(), 0.0
    last = search.prompt[-1]
    for step in range(search.limit):
        logp, state = search.stepper.next(state, [last], [0])
        next_scores, last = choose(search.allowed(logp, raw_of(search, logp, state), [path], step))
        before, here = np.array([total]), float(logp[0, last])
        nothing = next_scores.scores[0, last] == -np.inf
        if not nothing:
            path, total = path.longer(last, here), total + here
        why = "nothing left" if nothing else search.ends(path, step)
        ended = (search.hypothesis(path, total),) if why and path.ids else ()
        fate = {} if nothing else {(0, last): "finished" if why in ("end", "stop") else "kept"}
        beams = {} if nothing or why else {(0, last): [0]}
        yield search.record(
            step, next_scores, state, StepOutcome(before, fate, beams, path, total, 0, other, finished=ended, stopped=why)
        )
        if why:
            return


def raw_of(search: Search, logp: np.ndarray, state: State) -> np.ndarray:
    """What a penalty for repeating is laid on: the model's raw scores, as the transformers library does where there is one beam."""
    return logp if search.settings.repetition_penalty == 1 or state.raw is None else state.raw


def warped(next_scores: NextScores, settings: Settings) -> NextScores:
    """Scores after temperature and cuts."""
    s, before = settings, next_scores.why
    limits = {name: getattr(s, name) for name in CUTS}
    if s.temperature == 1 and before is None and not any(limits.values()):
        return NextScores(next_scores.logp, next_scores.scores, np.zeros(next_scores.logp.shape, np.int64), next_scores.kept)
    scores, why = cut_scores(next_scores.scores, s.temperature, **limits)
    tempered = softmax(next_scores.scores / s.temperature)
    why = why if before is None else np.where(before != 0, before, why)
    return NextScores(next_scores.logp, scores, why, next_scores.kept * np.where(why == 0, tempered, 0).sum(axis=1))


def drawn_from(scores: np.ndarray, rng: np.random.Generator) -> int:
    """One token, sampled from the softmax of the scores."""
    if not np.isfinite(scores.max()):
        return int(scores.argmax())
    ladder = np.cumsum(softmax(scores))
    return int(min(np.searchsorted(ladder, rng.random() * ladder[-1], side="right"), len(scores) - 1))


SINGLE: dict[str, DecodingStrategy] = {
    "greedy": DecodingStrategy(greedy, about="Always the most probable token."),
    "sample": DecodingStrategy(
        sample,
        about="A token drawn by its probability, after temperature and cuts.",
        reads=("temperature", "top_k", "top_p", "min_p", "typical_p", "seed"),
        draws=True,
        shown={
            "all of the vocabulary": {},
            "temperature 0.5": {"temperature": 0.5},
            "top k 10": {"top_k": 10},
            "top p 0.9": {"top_p": 0.9},
            "min p 0.1": {"min_p": 0.1},
            "typical p 0.9": {"typical_p": 0.9},
        },
    ),
}
