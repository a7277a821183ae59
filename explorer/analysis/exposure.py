"""Exposure bias: the probability of the right next token with a right prefix, after one wrong token, and in free generation.

In training a decoder always reads the right text so far (teacher forcing). In generation it reads its own output.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from explorer.analysis.masks import begun
from explorer.errors import ChoiceError, TextError, check_whole
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.transformer import TransformerModel
from explorer.records import Curve, Curves, Exposure, log_softmax
from explorer.records.families import AFTER

TAUGHT, WRONG, FREE = "all right so far (teacher forcing)", "one wrong token, then right ones", "one wrong token, then its own"
SHOWN, DRAWS = 4, 1000


@cache_policy(CachePolicy(on_disk=True))
@checked
def exposure_bias(  # noqa: PLR0913  one for each thing that a reader may change
    model: TransformerModel,
    texts: Sequence[str],
    *,
    sources: Sequence[str] | None = None,
    at: int = 8,
    steps: int = 12,
    count: int = 24,
) -> Exposure:
    """Many new texts, each with one wrong token at place `at`: the most probable one that is not right, for this model.

    Then `steps` more tokens are predicted. An encoder-decoder reads `sources` and writes `texts`; texts that end too early are left
    out.

    >>> slips = ex.analysis.exposure_bias(ex.load("gpt2"), ex.microworld.texts(8, 1), count=2)
    >>> len(slips.slips) > 0
    True
    """
    at, steps = check_whole("at", at, 0), check_whole("steps", steps, 1)
    if model.family == "encoder-decoder" and not sources:
        raise ChoiceError(f"{model.name} reads a source and writes a text. Give sources=…, one for each text.")
    kept = _long_enough(model, texts, sources, at + 1 + steps, check_whole("count", count, 1))
    right = np.array([ids for _, ids in kept])  # [text, place]
    read = [source for source, _ in kept]
    first = _logp(model, read, right)
    wrong = right.copy()
    wrong[:, at] = _second(first[:, at], right[:, at])
    own = wrong.copy()
    for place in with_progress(range(at + 1, right.shape[1]), "Writing after a wrong token"):
        next_logp = _logp(model, read, own[:, : place + 1])[:, place]
        own[:, place] = next_logp.argmax(-1)
    runs = {TAUGHT: first, WRONG: _logp(model, read, wrong), FREE: _logp(model, read, own)}
    chances = {name: _of(logp, right)[:, at + 1 :] for name, logp in runs.items()}
    begins, ends, says = (
        tuple(model.tokenizer.decode(ids.tolist()) for ids in part[:SHOWN])
        for part in (right[:, :at], right[:, at:], own[:, at:])
    )
    slips = tuple(model.tokenizer.text_of(int(piece)) for piece in wrong[:SHOWN, at])
    shares = chances[TAUGHT], chances[WRONG], chances[FREE]
    return Exposure(model.name, _curves(model, chances, at), *shares, begins, ends, says, slips)


def _long_enough(
    model: TransformerModel, texts: Sequence[str], sources: Sequence[str] | None, length: int, count: int
) -> list[tuple[str | None, list[int]]]:
    """Those texts that are long enough, cut to one length, with their sources."""
    kept: list[tuple[str | None, list[int]]] = []
    beside: Sequence[str | None] = sources or [None] * len(texts)
    if len(beside) != len(texts):
        raise ChoiceError(f"There are {len(texts)} texts and {len(beside)} sources. Give one source for each text.")
    for text, source in zip(texts, beside, strict=True):
        ids = model.tokenizer.encode(text, special=False).ids.tolist()
        if len(ids) >= length and len(kept) < count:
            kept.append((source, ids[:length]))
    if not kept:
        raise TextError(f"None of the texts has {length} tokens. Give longer texts.")
    return kept


def _logp(model: TransformerModel, sources: Sequence[str | None], rows: np.ndarray) -> np.ndarray:
    """log P of every token at every position of the texts, [text, position, vocab]: row i is about token i."""
    if sources[0] is None:
        tokens = [begun(model, row.tolist()) for row in rows]
        more = len(tokens[0]) - rows.shape[1]  # 1 where a first token was put before the text
        outputs = model.outputs_many(tokens)
        scores = np.stack([output["lm"][: rows.shape[1]] for output in outputs])
        if not more:  # the first token is not predicted
            scores = np.concatenate((np.zeros_like(scores[:, :1]), scores[:, :-1]), axis=1)
        return log_softmax(scores)
    outputs = model.outputs_many([str(source) for source in sources], [row.tolist() for row in rows])
    return log_softmax(np.stack([output["lm"] for output in outputs]))


def _second(logp: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The most probable token that is not the right one."""
    others = logp.copy()
    others[np.arange(len(right)), right] = -np.inf
    return others.argmax(-1)


def _of(logp: np.ndarray, ids: np.ndarray) -> np.ndarray:
    return np.exp(np.take_along_axis(logp, ids[..., None], -1)[..., 0])


def _curves(model: TransformerModel, chances: dict[str, np.ndarray], at: int) -> Curves:
    """The mean over the texts with its 95% interval, by the distance from the wrong token."""
    away = np.arange(1, chances[TAUGHT].shape[1] + 1, dtype=np.float64)
    lines = tuple(Curve(name, away, values.mean(0), *bootstrapped(values)) for name, values in chances.items())
    note = (
        f"{model.name}, {len(chances[TAUGHT])} new texts; the wrong token is at position {at}; bars: 95% intervals of the mean"
    )
    return Curves("After one wrong token", AFTER, "probability of the right token", lines, note)


def bootstrapped(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95% bootstrap interval of the mean over texts."""
    draws = np.random.default_rng(0).integers(0, len(values), (DRAWS, len(values)))
    low, high = np.quantile(values[draws].mean(1), (0.025, 0.975), axis=0)
    return np.minimum(low, values.mean(0)), np.maximum(high, values.mean(0))
