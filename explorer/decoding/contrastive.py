"""Contrastive search: a likely token whose state is unlike those before it (Su et al. 2022)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from explorer.decoding.search import NextScores, Path, Search, StepOutcome
from explorer.decoding.settings import Settings
from explorer.decoding.single import raw_of
from explorer.decoding.stepper import Stepper
from explorer.decoding.strategy import DecodingStrategy
from explorer.errors import ChoiceError
from explorer.records import DecodingStep

LIKELIEST = 5


def contrastive(stepper: Stepper, prompt: Sequence[int], settings: Settings) -> Iterator[DecodingStep]:
    """Among the `top_k` likeliest tokens v the one with the largest (1 − α) P(v) − α max cos(h_v, h_j) over all positions j before it."""
    search, k = Search("contrastive", stepper, prompt, settings), settings.top_k or LIKELIEST
    logp, state = stepper.next(stepper.start(search.prompt), [search.prompt[-1]], [0])
    if state.hidden is None:
        raise ChoiceError("Contrastive search compares hidden states, and this model gives access to none.")
    path, total, row = Path(), 0.0, 0
    for step in range(search.limit):
        raw = raw_of(search, logp, state)
        here = search.allowed(logp[row : row + 1], raw[row : row + 1], [path], step)
        offered = [token for token in search.top(here.scores, k)[0].tolist() if here.scores[0, token] > -np.inf]
        seen, before, pick = state, np.array([total]), 0
        if offered:
            logp, state = stepper.next(state, offered, [row] * len(offered))
            pick = int(_judged(here, offered, settings.alpha, state.hidden).argmax())
            path = path.longer(offered[pick], float(here.logp[0, offered[pick]]), row)
            total += path.logp[-1]
        why = search.ends(path, step) if offered else "nothing left"
        yield search.record(step, here, seen, _outcome(search, before, (path, total, why), offered, pick))
        if why:
            return
        row = pick


def _judged(here: NextScores, offered: Sequence[int], alpha: float, hidden: np.ndarray) -> np.ndarray:
    """(1 − α) P(v) − α max cos for every token v that is offered."""
    scores = here.scores[0].astype(np.float64)
    powers = np.exp(scores - scores.max())
    shares = (powers / powers.sum())[list(offered)]
    unit = hidden / np.linalg.norm(hidden, axis=-1, keepdims=True)  # [token, place, dim]
    alike = np.einsum("vd,vjd->vj", unit[:, -1], unit[:, :-1]).max(axis=1)
    judged: np.ndarray = (1 - alpha) * shares - alpha * alike
    return judged


def _outcome(
    search: Search, before: np.ndarray, ended: tuple[Path, float, str], offered: Sequence[int], pick: int
) -> StepOutcome:
    path, total, why = ended
    fates, beams = {(0, token): "beaten" for token in offered}, {}
    if offered:
        fates[0, offered[pick]] = "finished" if why in ("end", "stop") else "kept"
        beams = {} if why else {(0, offered[pick]): [0]}
    finished = (search.hypothesis(path, total),) if why and path.ids else ()
    return StepOutcome(before, fates, beams, path, total, path.row, "cut:top_k", finished=finished, stopped=why)


CONTRASTIVE: dict[str, DecodingStrategy] = {
    "contrastive": DecodingStrategy(
        contrastive,
        about="A probable token whose hidden state is unlike those before it. "
        "(Contrastive *decoding* is another method: it subtracts the scores of a weaker model.)",
        reads=("top_k", "alpha"),
        hidden=True,
        shown={"contrastive": {"top_k": 5, "alpha": 0.6}},
    ),
}
