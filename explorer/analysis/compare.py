"""Two forward passes compared: two texts or models side by side, and what an edit changes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.model import Model, writing_stream
from explorer.records import Change, Comparison, Damage, Edit, SilenceHead, SilenceLayer, Tokens, Trace, log_softmax
from explorer.records.analysis import divergence
from explorer.text.reading import Text


@checked
def compare(before: Trace, after: Trace) -> Comparison:
    """What is different in `after`: weights, states, predictions and loss. Both must have read the same tokens.

    >>> trace = ex.trace(ex.load("bert"), "A dog ran.")
    >>> ex.compare(trace, trace) == ex.compare(trace, trace)
    True
    """
    if not isinstance(before, Trace) or not isinstance(after, Trace):
        raise ChoiceError("compare takes two traces, for example ex.trace(model, text) and ex.trace(model, text, edits=[…]).")
    if not (_same(before.source, after.source) and _same(before.target, after.target)):
        raise ChoiceError(
            "These traces read different tokens, so their rows do not belong together. Trace the same text twice, or align them: "
            "ex.analysis.align(before, after, (text, other_text))."
        )
    if "lm" not in before.outputs or "lm" not in after.outputs or before.top is None or after.top is None:
        raise ChoiceError(
            "One of these traces holds no scores to compare. Where a model predicts tokens, ex.trace(model, text, scores=True) keeps "
            "them, however large its vocabulary is."
        )
    surprise = np.stack([token_losses(before), token_losses(after)])
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


def token_losses(trace: Trace) -> np.ndarray:
    """−log p of the token that each row is about: in an encoder itself, where it stands for text, otherwise the next one; NaN elsewhere."""
    logp = log_softmax(trace.outputs["lm"])
    read = trace.source if trace.target is None else trace.target
    about = read.ids if trace.family == "encoder" else read.ids[1:]
    losses = np.full(len(logp), np.nan)
    losses[: len(about)] = -logp[np.arange(len(about)), about]
    if trace.family == "encoder":  # [CLS], [SEP] and [MASK] are never to be predicted
        losses[np.asarray(read.special)] = np.nan
    return losses


def _same(first: Tokens | None, other: Tokens | None) -> bool:
    return (first is None) == (other is None) and (first is None or other is None or np.array_equal(first.ids, other.ids))


def _weights(before: Trace, after: Trace, stream: str) -> np.ndarray:
    pairs = [(a, after.at(stream, a.layer)) for a in before.attention if a.stream == stream]
    return np.stack([np.abs(b.weights - a.weights).max(axis=(1, 2)) for b, a in pairs])  # [layer, head]


def _moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(before, axis=-1)
    return np.linalg.norm(after - before, axis=-1) / np.where(length > 0, length, 1)  # [layer + 1, position]


SUBLAYERS = ("attention", "feed-forward")


@checked
def change(
    model: Model, text: Text, edits: Edit | Iterable[Edit], *, target: Text | None = None, blocks: bool = False
) -> Change:
    """The text read without and with the edits; with `blocks`, each sub-layer's sums and norms as well.

    >>> ex.change(ex.load("bert"), "A dog ran.", ex.NoPositions("encoder")).divergence.shape
    (6,)
    """
    before = trace(model, text, target=target, scores=True, blocks=blocks)
    if "lm" not in before.outputs:
        raise ChoiceError(f"{model.name} predicts no tokens, so there is no change of a prediction to show.")
    return Change(before, trace(model, text, target=target, edits=edits, scores=True, blocks=blocks))


@checked
def damage(model: Model, text: Text, *, target: Text | None = None, stream: str | None = None) -> Damage:
    """Ablate every head, every sub-layer and all heads of every layer of one stream, each alone, and measure.

    >>> ex.damage(ex.load("bert"), "A dog ran.").heads.shape
    (4, 4)
    """
    check_attention(model)
    stream = stream or writing_stream(model)
    plain = trace(model, text, target=target, layers=[], scores=True)
    if "lm" not in plain.outputs or stream not in model.streams:
        raise ChoiceError(f"Damage needs a stream of {model.name} and a prediction of tokens: {', '.join(model.streams)}.")

    def hurt(edit: Edit) -> float:
        """The mean divergence of the predictions under one edit."""
        after = trace(model, text, target=target, layers=[], edits=edit, scores=True)
        return float(divergence(plain.outputs["lm"], after.outputs["lm"]).mean())

    layers, heads = model.streams[stream]
    parts = tuple(part for part in SUBLAYERS if not model.refuses(SilenceLayer(stream, 0, part)))
    edits: list[Edit] = [SilenceHead(stream, layer, head) for layer in range(layers) for head in range(heads)]
    edits += [SilenceLayer(stream, layer, part) for layer in range(layers) for part in parts]
    edits += [SilenceHead(stream, layer) for layer in range(layers)]
    losses = np.array([hurt(edit) for edit in with_progress(edits, "Silencing heads and sub-layers")])
    each, rest = np.split(losses, [layers * heads])
    halves, whole = np.split(rest, [layers * len(parts)])
    return Damage(model.name, stream, each.reshape(layers, heads), halves.reshape(layers, len(parts)), parts, whole)
