"""Masked models that fill several blanks: from left to right, the surest first, or all at once and again (mask-predict)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.errors import ChoiceError, check_whole, unknown
from explorer.models.top_tokens import top_tokens
from explorer.records import FillingStep, Tokens, log_softmax

Read = Callable[[np.ndarray], np.ndarray]


@dataclass
class Blanks:
    """A text with blanks, and who reads it.

    `read` gives raw scores [position, vocab] for ids [position]; `show` makes Tokens of ids; `text_of` one token readable. `never`
    are tokens that are not written: the special ones. `mask` marks a blank.
    """

    name: str
    ids: np.ndarray
    mask: int
    never: Sequence[int]
    read: Read
    show: Callable[[np.ndarray], Tokens]
    text_of: Callable[[int], str]
    candidates: int = 10
    places: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.places = np.flatnonzero(self.ids == self.mask)
        if not len(self.places):
            raise ChoiceError("There is no blank in this text. Write ___ (or the mask token) where a token is missing.")

    def logp(self, ids: np.ndarray) -> np.ndarray:
        """What the model says at the blanks [blank, vocab], special tokens left out."""
        scores = np.asarray(self.read(ids)[self.places], np.float64)
        scores[:, list(self.never)] = -np.inf
        return log_softmax(scores)


def filling_steps(blanks: Blanks, order: str = "left", rounds: int | None = None) -> Iterator[FillingStep]:
    """One step for each blank ("left", "confident"), or `rounds` over all of them ("mask-predict")."""
    if order not in ORDERS:
        raise unknown("order of filling", order, ORDERS)
    return ORDERS[order](blanks, rounds)


def from_the_left(blanks: Blanks, rounds: int | None = None) -> Iterator[FillingStep]:
    """The first blank that is open, then the next."""
    return _blank_by_blank(blanks, "left", lambda best, open_: int(np.flatnonzero(open_)[0]))


def surest_first(blanks: Blanks, rounds: int | None = None) -> Iterator[FillingStep]:
    """The open blank whose likeliest token is the most probable."""
    return _blank_by_blank(blanks, "confident", lambda best, open_: int(np.where(open_, best, -np.inf).argmax()))


def _blank_by_blank(blanks: Blanks, order: str, pick: Callable[[np.ndarray, np.ndarray], int]) -> Iterator[FillingStep]:
    ids, open_, total = blanks.ids.copy(), np.ones(len(blanks.places), bool), 0.0
    for step in range(len(open_)):
        logp = blanks.logp(ids)
        at = pick(logp.max(axis=1), open_)
        ids[blanks.places[at]] = logp[at].argmax()
        open_[at] = False
        total += float(logp[at].max())
        yield _step(blanks, (step, order), ids, logp, (np.arange(len(open_)) == at, open_, total))


def mask_predict(blanks: Blanks, rounds: int | None = None) -> Iterator[FillingStep]:
    """All blanks at once; then the least sure n = N (T − t) / T are opened and guessed again (Ghazvininejad et al. 2019)."""
    count = len(blanks.places)
    turns = min(count, 4) if rounds is None else check_whole("rounds", rounds, 1)
    ids, sure, now = blanks.ids.copy(), np.zeros(count), np.ones(count, bool)
    for turn in range(turns):
        logp = blanks.logp(ids)
        ids[blanks.places[now]] = logp[now].argmax(axis=1)
        sure = np.where(now, logp.max(axis=1), sure)
        again = np.zeros(count, bool)
        if turn + 1 < turns:
            again[np.argsort(sure, kind="stable")[: int(count * (turns - turn - 1) / turns)]] = True
        shown = ids.copy()
        shown[blanks.places[again]] = blanks.mask
        yield _step(blanks, (turn, "mask-predict"), shown, logp, (now, again, float(sure[~again].sum())))
        ids, now = shown, again


def _step(
    blanks: Blanks, name: tuple[int, str], ids: np.ndarray, logp: np.ndarray, done: tuple[np.ndarray, np.ndarray, float]
) -> FillingStep:
    best, texts = top_tokens(logp, blanks.candidates, blanks.text_of)
    shares = np.exp(logp)
    return FillingStep(
        step=name[0], order=name[1], model=blanks.name, tokens=blanks.show(ids), places=blanks.places, pieces=logp.argmax(axis=1),
        texts=texts, shares=np.take_along_axis(shares, best, axis=1),
        entropy=-(shares * np.where(shares > 0, logp, 0)).sum(axis=1), filled=done[0].copy(), blank=done[1].copy(), total=done[2],
    )  # fmt: skip


ORDERS = {"left": from_the_left, "confident": surest_first, "mask-predict": mask_predict}
