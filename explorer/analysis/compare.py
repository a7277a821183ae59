"""Hold two traces of the same pieces against each other: what an edit changed."""

from __future__ import annotations

import numpy as np

from explorer.errors import ChoiceError
from explorer.records import Comparison, Tokens, Trace, log_softmax


def compare(before: Trace, after: Trace) -> Comparison:
    """What is different in `after`: weights, states, predictions and loss. Both must have read the same pieces."""
    if not isinstance(before, Trace) or not isinstance(after, Trace):
        raise ChoiceError("compare takes two traces, for example ex.trace(model, text) and ex.trace(model, text, edits=[…]).")
    if not (_same(before.source, after.source) and _same(before.target, after.target)):
        raise ChoiceError(
            "These traces read different pieces, so their rows do not belong together. Trace the same text twice."
        )
    if "lm" not in before.outputs or "lm" not in after.outputs or before.top is None or after.top is None:
        raise ChoiceError(
            "One of these traces holds no scores to compare. Where a model predicts pieces, ex.trace(model, text, scores=True) keeps "
            "them, however large its vocabulary is."
        )
    surprise = np.stack([surprises(before), surprises(after)])
    known = ~np.isnan(surprise[0])
    loss = (float(surprise[0, known].mean()), float(surprise[1, known].mean())) if known.any() else (float("nan"), float("nan"))
    return Comparison(
        tokens=before.source if before.target is None else before.target,
        weights={stream: _weights(before, after, stream) for stream in dict.fromkeys(a.stream for a in before.attention)},
        hidden={stream: _moved(states, after.hidden[stream]) for stream, states in before.hidden.items()},
        surprise=surprise,
        loss=loss,
        answers=tuple((b[0], a[0]) for b, a in zip(before.top.texts, after.top.texts, strict=True)),
    )


def surprises(trace: Trace) -> np.ndarray:
    """−log p of the piece that each row is about: itself in an encoder, the next one otherwise; NaN after the last."""
    logp = log_softmax(trace.outputs["lm"])
    read = trace.source if trace.target is None else trace.target
    about = read.ids if trace.family == "encoder" else read.ids[1:]
    found = np.full(len(logp), np.nan)
    found[: len(about)] = -logp[np.arange(len(about)), about]
    return found


def _same(one: Tokens | None, other: Tokens | None) -> bool:
    return (one is None) == (other is None) and (one is None or other is None or np.array_equal(one.ids, other.ids))


def _weights(before: Trace, after: Trace, stream: str) -> np.ndarray:
    pairs = [(a, after.at(stream, a.layer)) for a in before.attention if a.stream == stream]
    return np.stack([np.abs(b.weights - a.weights).max(axis=(1, 2)) for b, a in pairs])  # [layer, head]


def _moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(before, axis=-1)
    return np.linalg.norm(after - before, axis=-1) / np.where(length > 0, length, 1)  # [layer + 1, position]
