"""What a discriminator finds: which tokens of held-out text its generator replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from explorer.analysis.evaluation import scores
from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, batches, logp_at, rows_from, states
from explorer.analysis.evaluation.context import EvalContext, plain
from explorer.analysis.evaluation.masked import fitting
from explorer.corruption.rows import MASKED, Rows, chosen_count, drawn
from explorer.models.transformer import TransformerModel
from explorer.records import Tokens

Measure = Callable[[TransformerModel], Measured]
RATE, SHOWN = 0.15, 4


def replaced_token_scores(context: EvalContext) -> Measure | None:
    """15% of the tokens of each text are filled in by the generator: F1 of the discriminator on the replaced tokens.

    Beside it the F1 of always saying "replaced", and of a rule: a token is replaced if in training it never occurred beside its left
    nor beside its right neighbour. Accuracy would be misleading: nine tokens in ten are original.
    """
    tokens = fitting([context.tokenizer.encode(plain(text)) for text in context.held.texts], context.length)
    if not tokens or context.tokenizer.vocabulary.mask is None:
        return None
    rows = rows_from(tokens, context.tokenizer.vocabulary.pad or 0)
    chosen = drawn(rows.free, chosen_count(rows.free, RATE), context.rng(8))
    hidden = rows.changed(chosen, context.tokenizer.vocabulary.mask, MASKED)
    rule = unmet(context)

    def measure(model: TransformerModel) -> Measured:
        if model.generator is None:
            return Measured()
        filled, metrics = _filled(model.generator, rows, hidden.ids, chosen, context.rng(9))
        doubt = doubts(model, filled)
        new, mask = filled.ids != rows.ids, rows.attention_mask
        metrics |= _figures(doubt[mask] > 0, new[mask]) | {"held-out loss": _loss(doubt[mask], new[mask])}
        metrics |= {"f1, always saying replaced": f1(np.ones(mask.sum(), bool), new[mask])}
        metrics |= {} if rule is None else {"f1, pairs never met": f1(rule(filled.ids, rows.free)[mask], new[mask])}
        metrics |= {"share replaced": scores.share(new[mask]), "tokens with a signal": 1.0}
        metrics |= {"tokens with a signal, masking": scores.share(chosen[mask])}
        lines = (_line(context, text, filled.ids[n], doubt[n]) for n, text in enumerate(tokens[:SHOWN]))
        return Measured(metrics, tuple(line for line in lines if line), counts={"predictions": int(mask.sum())})

    return measure


def _filled(
    generator: TransformerModel, rows: Rows, hidden: np.ndarray, chosen: np.ndarray, rng: np.random.Generator
) -> tuple[Inputs, dict[str, float]]:
    """The texts as the generator fills them in, each mask by a draw from its probabilities; and how often its best token is right."""
    inputs = Inputs(hidden, rows.attention_mask, np.zeros_like(hidden))
    logp = logp_at(generator, inputs, chosen)
    filled = rows.ids.copy()
    filled[chosen] = (logp + rng.gumbel(size=logp.shape)).argmax(axis=1)  # as likely as the softmax says
    right = scores.share(logp.argmax(axis=1) == rows.ids[chosen])
    return replace(inputs, ids=filled), {"generator accuracy": right}


@torch.no_grad()
def doubts(model: TransformerModel, inputs: Inputs) -> np.ndarray:
    """What the discriminator says of every token, [row, place]: above 0, that it was replaced."""
    finds, scores = model.module.replaced, np.zeros(inputs.ids.shape)
    assert finds is not None, "only a discriminator is asked"
    for rows in batches(len(inputs.ids)):
        part = inputs.cut(rows)
        scores[rows, : part.ids.shape[1]] = finds(states(model, part)).float().cpu().numpy()
    return scores


def f1(answers: np.ndarray, new: np.ndarray) -> float:
    """2 · right / (said + new): the harmonic mean of precision and recall; NaN where nothing was replaced."""
    return 2 * float((answers & new).sum()) / float(answers.sum() + new.sum()) if new.any() else float("nan")


def _figures(answers: np.ndarray, new: np.ndarray) -> dict[str, float]:
    return {
        "replaced f1": f1(answers, new),
        "replaced precision": scores.share(new[answers]),
        "replaced recall": scores.share(answers[new]),
    }


def _loss(doubt: np.ndarray, new: np.ndarray) -> float:
    """−log of the probability of what is true, mean over all tokens."""
    return float(np.logaddexp(0, np.where(new, -doubt, doubt)).mean())


def unmet(context: EvalContext) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """The rule: a token has neighbours, on both sides, that it never had in training. None where those texts are not known."""
    if not context.held.train:
        return None
    size = context.tokenizer.vocabulary.size
    met = np.unique(np.concatenate([row[:-1] * size + row[1:] for row in context.held.train]))

    def rule(ids: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Which tokens [row, place] the rule calls new."""
        both = free[:, :-1] & free[:, 1:]
        known = np.isin(ids[:, :-1] * size + ids[:, 1:], met) & both
        left, right = (np.pad(pairs, ((0, 0), side)) for pairs in (known,) for side in ((1, 0), (0, 1)))
        judged = np.pad(both, ((0, 0), (1, 0))) | np.pad(both, ((0, 0), (0, 1)))
        return judged & ~left & ~right

    return rule


def _line(context: EvalContext, text: Tokens, filled: np.ndarray, doubt: np.ndarray) -> str:
    """The first sentence with a new token, and of every token that is or is called new: how probably it is, and what stood there."""
    new = filled[: len(text)] != text.ids
    if not new.any():
        return ""
    inside = (np.array(text.sentences) == text.sentences[int(new.argmax())]) & (np.array(text.words) >= 0)
    reported = np.flatnonzero(inside & (new | (doubt[: len(text)] > 0)))
    names = [context.tokenizer.text_of(int(i)).strip("·") for i in filled]
    words = (f"{names[n]} {1 / (1 + np.exp(-doubt[n])):.2f} ({text.texts[n].strip('·')})" for n in reported)
    return f"{context.tokenizer.decode(filled[: len(text)][inside].tolist())} → {', '.join(words)}"
