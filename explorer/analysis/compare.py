"""Two forward passes compared: two texts or models side by side, and what an edit changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError, unknown
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.models.finetuned import FINETUNED, below
from explorer.models.model import Model, writing_stream
from explorer.nn import tap
from explorer.records import (
    Change,
    Comparison,
    Damage,
    Edit,
    SilenceHead,
    SilenceLayer,
    TapPlace,
    Tokens,
    Trace,
)
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
        if any(FINETUNED in note for note in (*before.notes, *after.notes)):
            raise ChoiceError(
                "One of these traces is of a fine-tuned model, which predicts no tokens: trace its .body, or see what each layer "
                "learned with ex.training.before_after(model, run, text)."
            )
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
    return trace.losses if trace.family == "encoder" else np.roll(trace.losses, -1)  # the first is never predicted: NaN


def _same(first: Tokens | None, other: Tokens | None) -> bool:
    return (first is None) == (other is None) and (first is None or other is None or np.array_equal(first.ids, other.ids))


def _weights(before: Trace, after: Trace, stream: str) -> np.ndarray:
    pairs = [(a, after.at(stream, a.layer)) for a in before.attention if a.stream == stream]
    return np.stack([np.abs(b.weights - a.weights).max(axis=(1, 2)) for b, a in pairs])  # [layer, head]


def _moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(before, axis=-1)
    return np.linalg.norm(after - before, axis=-1) / np.where(length > 0, length, 1)  # [layer + 1, position]


Silence = SilenceHead | SilenceLayer
SUBLAYERS = ("attention", "feed-forward")
SCORES = 1 << 26  # bytes of scores that are held at once


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
        if "lm" not in plain.outputs:
            raise ChoiceError(f"Damage is measured by the predictions of tokens, and {model.name} has none.{below(model)}")
        raise unknown(f"stream in {model.name}", stream, model.streams)

    layers, heads = model.streams[stream]
    parts = tuple(part for part in SUBLAYERS if not model.refuses(SilenceLayer(stream, 0, part)))
    edits = [edit for layer in range(layers) for edit in _of_layer(stream, layer, heads, parts)]
    if reason := model.refuses(edits[0]):
        raise ChoiceError(f"{type(edits[0]).__name__} cannot be done to {model.name}: {reason}")
    losses = _divergences(model, plain, edits).reshape(layers, -1)
    each, halves, whole = np.split(losses, [heads, heads + len(parts)], axis=1)
    return Damage(model.name, stream, each, halves, parts, whole[:, 0])


def _of_layer(stream: str, layer: int, heads: int, parts: tuple[str, ...]) -> list[Silence]:
    """Each head of a layer silenced, each sub-layer, and all heads at once."""
    each = [SilenceHead(stream, layer, head) for head in range(heads)]
    return [*each, *(SilenceLayer(stream, layer, part) for part in parts), SilenceHead(stream, layer)]


@dataclass(frozen=True, eq=False)
class InRow(Edit):
    """An edit of one text of a batch: the others stay as they are."""

    places = (TapPlace.CONTEXT, TapPlace.OUT)
    edit: Edit
    row: int

    def touches(self, stream: str, layer: int) -> bool:
        """Whether the edit concerns this layer of this stream."""
        return self.edit.touches(stream, layer)

    def changed(self, value: Any, *known: Any) -> Any:
        """The values of all texts, with those of one edited."""
        if bool(known) == (TapPlace.CONTEXT in self.edit.places):  # what a sub-layer adds comes with its name, a context alone
            return value
        changed = value + 0
        changed[self.row] = self.edit.changed(value[self.row], *known)
        return changed


@dataclass(frozen=True, eq=False)
class Copies(Edit):
    """The states that enter a layer, as often as there are edits: the layers below them run once."""

    places = (TapPlace.HIDDEN,)
    layer: int
    count: int

    def changed(self, value: Any) -> Any:
        """The same states in every row of a batch."""
        return value.expand(self.count, *value.shape[1:])


def _divergences(model: Model, plain: Trace, edits: Sequence[Silence]) -> np.ndarray:
    """The mean divergence of the predictions under each edit alone: those of a layer in one forward pass, each in its own row."""
    before = plain.outputs["lm"]
    at_once = max(1, SCORES // before.nbytes)
    layers = [list(layer) for _, layer in groupby(edits, lambda edit: edit.layer)]
    groups = [layer[n : n + at_once] for layer in layers for n in range(0, len(layer), at_once)]
    losses: list[float] = []
    for group in with_progress(groups, "Silencing heads and sub-layers"):
        losses += [float(divergence(before, after).mean()) for after in _each(model, plain, group)]
    return np.array(losses)


def _each(model: Model, plain: Trace, edits: list[Silence]) -> Iterable[np.ndarray]:
    """Raw scores under each of these edits, together where the network lets a batch grow, and else one after another."""
    before = plain.outputs["lm"]
    with suppress(RuntimeError):  # a class that remembers the size of its batch
        untouched, *after = _together(model, plain, [None, *edits])
        if np.abs(untouched - before).max() <= 1e-4 * np.abs(before).max():  # more where the first axis is not the text
            return after
    return (_together(model, plain, [edit])[0] for edit in edits)


def _together(model: Model, plain: Trace, rows: Sequence[Silence | None]) -> np.ndarray:
    """Raw scores [row, position, vocab] of copies of one text, each under its own edit."""
    silenced = [edit for edit in rows if edit is not None]
    edits: list[Edit] = [*silenced]
    if len(rows) > 1:
        stream = "decoder" if silenced[0].stream == "cross" else silenced[0].stream
        entering = Copies(stream, (silenced[0].layer or 0) - 1, len(rows))
        edits = [entering, *(InRow(edit.stream, edit, row) for row, edit in enumerate(rows) if edit is not None)]
    with tap.editing(edits):
        scores: np.ndarray = model.run(plain.source, plain.target)["lm"].float().cpu().numpy()
    return scores
