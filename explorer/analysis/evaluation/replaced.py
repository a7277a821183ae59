"""What a discriminator finds: which pieces of held-out text its generator replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from explorer.corruption.rows import MASKED, Rows, budget, drawn
from explorer.measuring import scores
from explorer.measuring.feeding import Sheet, batches, logp_at, rows_from, states
from explorer.measuring.held import Desk, plain
from explorer.measuring.masked import fitting
from explorer.measuring.measured import Measured
from explorer.model import OwnModel
from explorer.records import Tokens

Ask = Callable[[OwnModel], Measured]
RATE, SHOWN = 0.15, 4


def found(desk: Desk) -> Ask | None:
    """15 % of the pieces of each text are filled in by the generator: F1 of the pieces that the discriminator says are new.

    Beside it the F1 of always saying "replaced", and of a rule: a piece is new if it never stood in training beside its left nor
    beside its right neighbour. Accuracy would flatter: nine pieces in ten are original.
    """
    tokens = fitting([desk.tokenizer.encode(plain(text)) for text in desk.held.texts], desk.length)
    if not tokens or desk.tokenizer.vocabulary.mask is None:
        return None
    rows = rows_from(tokens, desk.tokenizer.vocabulary.pad or 0)
    chosen = drawn(rows.free, budget(rows.free, RATE), desk.chance(8))
    hidden = rows.changed(chosen, desk.tokenizer.vocabulary.mask, MASKED)
    rule = unmet(desk)

    def ask(model: OwnModel) -> Measured:
        if model.generator is None:
            return Measured()
        filled, metrics = _filled(model.generator, rows, hidden.ids, chosen, desk.chance(9))
        doubt = doubts(model, filled)
        new, real = filled.ids != rows.ids, rows.real
        metrics |= _figures(doubt[real] > 0, new[real]) | {"held-out loss": _loss(doubt[real], new[real])}
        metrics |= {"f1, always saying replaced": f1(np.ones(real.sum(), bool), new[real])}
        metrics |= {} if rule is None else {"f1, pairs never met": f1(rule(filled.ids, rows.free)[real], new[real])}
        metrics |= {"share replaced": scores.share(new[real]), "pieces with a signal": 1.0}
        metrics |= {"pieces with a signal, masking": scores.share(chosen[real])}
        lines = (_line(desk, text, filled.ids[n], doubt[n]) for n, text in enumerate(tokens[:SHOWN]))
        return Measured(metrics, tuple(line for line in lines if line))

    return ask


def _filled(
    generator: OwnModel, rows: Rows, hidden: np.ndarray, chosen: np.ndarray, chance: np.random.Generator
) -> tuple[Sheet, dict[str, float]]:
    """The texts as the generator fills them in, each mask by a draw from its probabilities; and how often its best piece is right."""
    sheet = Sheet(hidden, rows.real, np.zeros_like(hidden))
    logp = logp_at(generator, sheet, chosen)
    filled = rows.ids.copy()
    filled[chosen] = (logp + chance.gumbel(size=logp.shape)).argmax(axis=1)  # as likely as the softmax says
    right = scores.share(logp.argmax(axis=1) == rows.ids[chosen])
    return replace(sheet, ids=filled), {"generator accuracy": right}


@torch.no_grad()
def doubts(model: OwnModel, sheet: Sheet) -> np.ndarray:
    """What the discriminator says of every piece, [row, place]: above 0, that it was replaced."""
    finds, said = model.module.replaced, np.zeros(sheet.ids.shape)
    assert finds is not None, "only a discriminator is asked"
    for rows in batches(len(sheet.ids)):
        part = sheet.cut(rows)
        said[rows, : part.ids.shape[1]] = finds(states(model, part)).float().cpu().numpy()
    return said


def f1(said: np.ndarray, new: np.ndarray) -> float:
    """2 · right / (said + new): the harmonic mean of precision and recall; NaN where nothing was replaced."""
    return 2 * float((said & new).sum()) / float(said.sum() + new.sum()) if new.any() else float("nan")


def _figures(said: np.ndarray, new: np.ndarray) -> dict[str, float]:
    return {
        "replaced f1": f1(said, new),
        "replaced precision": scores.share(new[said]),
        "replaced recall": scores.share(said[new]),
    }


def _loss(doubt: np.ndarray, new: np.ndarray) -> float:
    """−log of the probability of what is true, mean over all pieces."""
    return float(np.logaddexp(0, np.where(new, -doubt, doubt)).mean())


def unmet(desk: Desk) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """The rule: a piece stands as it never did in training, beside every neighbour that it has. None where those texts are not known."""
    if not desk.held.train:
        return None
    size = desk.tokenizer.vocabulary.size
    met = np.unique(np.concatenate([row[:-1] * size + row[1:] for row in desk.held.train]))

    def rule(ids: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Which pieces [row, place] the rule calls new."""
        both = free[:, :-1] & free[:, 1:]
        known = np.isin(ids[:, :-1] * size + ids[:, 1:], met) & both
        left, right = (np.pad(pairs, ((0, 0), side)) for pairs in (known,) for side in ((1, 0), (0, 1)))
        asked = np.pad(both, ((0, 0), (1, 0))) | np.pad(both, ((0, 0), (0, 1)))
        return asked & ~left & ~right

    return rule


def _line(desk: Desk, text: Tokens, filled: np.ndarray, doubt: np.ndarray) -> str:
    """The first sentence with a new piece, and of every piece that is or is called new: how probably it is, and what stood there."""
    new = filled[: len(text)] != text.ids
    if not new.any():
        return ""
    inside = (np.array(text.sentences) == text.sentences[int(new.argmax())]) & (np.array(text.words) >= 0)
    told = np.flatnonzero(inside & (new | (doubt[: len(text)] > 0)))
    names = [desk.tokenizer.text_of(int(i)).strip("·") for i in filled]
    said = (f"{names[n]} {1 / (1 + np.exp(-doubt[n])):.2f} ({text.texts[n].strip('·')})" for n in told)
    return f"{desk.tokenizer.decode(filled[: len(text)][inside].tolist())} → {', '.join(said)}"
