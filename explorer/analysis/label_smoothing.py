"""The predictions of a model beside what it should say, from which the loss with and without label smoothing follows."""

from __future__ import annotations

import numpy as np

from explorer.analysis.trace import trace
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.models.model import Model
from explorer.records import SmoothedTargets, log_softmax
from explorer.text.reading import Text


@checked
def smoothed_targets(model: Model, text: Text, *, target: Text | None = None) -> SmoothedTargets:
    """The log-probabilities of every token of the vocabulary wherever a model predicts, and the token that is right there: the next one
    of a decoder, the token itself of an encoder, that of `target` of an encoder–decoder.

    >>> made = ex.analysis.smoothed_targets(ex.load("gpt2"), "A dog ran.")
    >>> bool(made.loss(0.0).mean() < made.loss(0.1).mean())
    True
    """
    traced = trace(model, text, target=target, layers=[], scores=True)
    if "lm" not in traced.outputs:
        raise ChoiceError(f"{model.name} has no scores over a vocabulary, so it has no targets that could be smoothed.")
    logp = log_softmax(traced.outputs["lm"].astype(np.float64))
    read = traced.source if traced.target is None else traced.target
    shift = 0 if traced.family == "encoder" else 1
    rows = [n for n in range(len(read) - shift) if not (shift == 0 and read.special[n])]
    if not rows:
        raise TextError("There is nothing to predict in this text. Give at least two tokens.")
    right = np.array([int(read.ids[n + shift]) for n in rows])
    texts = tuple(model.tokenizer.text_of(n) for n in range(logp.shape[1]))
    return SmoothedTargets(model.name, read, np.array(rows), right, texts, logp[rows].astype(np.float32))
