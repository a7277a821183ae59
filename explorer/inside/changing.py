"""What if: one text read by a model as it is and as it was changed, and each part silenced in turn."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from explorer.errors import ChoiceError
from explorer.model import Model, Text
from explorer.records import Change, Damage, Edit, SilenceHead, SilenceLayer
from explorer.records.changes import divergence
from explorer.tracing import trace

SUBLAYERS = ("attention", "feed-forward")


def change(model: Model, text: Text, edits: Edit | Iterable[Edit], *, target: Text | None = None) -> Change:
    """The text read without and with the edits."""
    before = trace(model, text, target=target, scores=True)
    if "lm" not in before.outputs:
        raise ChoiceError(f"{model.name} predicts no pieces, so there is no change of a prediction to show.")
    return Change(before, trace(model, text, target=target, edits=edits, scores=True))


def damage(model: Model, text: Text, *, target: Text | None = None, stream: str | None = None) -> Damage:
    """Silence every head, every sub-layer and all heads of every layer of one stream, each alone, and measure."""
    stream = stream or ("encoder" if model.family == "encoder" else "decoder")
    plain = trace(model, text, target=target, layers=[], scores=True)
    if "lm" not in plain.outputs or stream not in model.streams:
        raise ChoiceError(f"Damage needs a stream of {model.name} and a prediction of pieces: {', '.join(model.streams)}.")

    def hurt(edit: Edit) -> float:
        """The mean divergence of the predictions under one edit."""
        after = trace(model, text, target=target, layers=[], edits=edit, scores=True)
        return float(divergence(plain.outputs["lm"], after.outputs["lm"]).mean())

    layers, heads = model.streams[stream]
    parts = tuple(part for part in SUBLAYERS if not model.refuses(SilenceLayer(stream, 0, part)))
    return Damage(
        model.name,
        stream,
        np.array([[hurt(SilenceHead(stream, layer, head)) for head in range(heads)] for layer in range(layers)]),
        np.array([[hurt(SilenceLayer(stream, layer, part)) for part in parts] for layer in range(layers)]),
        parts,
        np.array([hurt(SilenceHead(stream, layer)) for layer in range(layers)]),
    )
