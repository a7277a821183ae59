"""One text over a training: how probable each of its tokens was at each snapshot, and when it first was the most probable one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from explorer.analysis.updates import PredictedToken, predicted_tokens
from explorer.errors import ChoiceError, TextError
from explorer.errors.kinds import checked
from explorer.models.transformer import TransformerModel
from explorer.records import TokensOverSteps, log_softmax
from explorer.text.reading import Text


@checked
def over_steps(models: Mapping[int, Any], text: Text, *, target: Text | None = None) -> TokensOverSteps:
    """The probability of every token of a text at every snapshot of a training, from what its objective lets it read.

    `models` are the snapshots by their step. An encoder reads a mask in place of each token, one after the other; a decoder reads what
    comes before it, and an encoder-decoder writes `target`.

    >>> taken = {1: ex.load("bert-tiny", step=1), 9999: ex.load("bert-tiny")}
    >>> found = ex.analysis.over_steps(taken, "A dog ran.")
    >>> found.chances.shape
    (2, 4)
    """
    if not models:
        raise ChoiceError("There are no snapshots. Give at least one model by its step.")
    steps = sorted(models)
    questions = [predicted_tokens(_fits(models[step]), text, target) for step in steps]
    asked_for = [{place: question.label for place, question in each.items()} for each in questions]
    if any(labels != asked_for[0] for labels in asked_for):
        raise ChoiceError("These models do not read the text as the same tokens. Give snapshots of one training run.")
    if not (places := list(questions[0])):
        raise TextError("There is nothing to predict in this text. Give at least two tokens.")
    labels = np.array([questions[0][place].label for place in places])
    logp = np.stack([_logp([each[place] for place in places]) for each in questions])  # [moment, token, vocab]
    best = logp.argmax(-1)
    model = models[steps[-1]]
    read = model.tokens(text if target is None else target)
    names = tuple(tuple(model.tokenizer.text_of(int(n)) for n in row) for row in best)
    chances = np.exp(np.take_along_axis(logp, labels[None, :, None], -1)[..., 0])
    return TokensOverSteps(model.name, read, np.array(places), np.array(steps), chances, best == labels, names)


def _fits(model: Any) -> TransformerModel:
    """A model that predicts tokens of a vocabulary."""
    if not isinstance(model, TransformerModel) or model.config.replaced:
        raise ChoiceError(
            f"{getattr(model, 'name', model)} predicts no tokens of a text. Give a BERT, a GPT or a T5, for example."
        )
    return model


@torch.no_grad()
def _logp(questions: Sequence[PredictedToken]) -> np.ndarray:
    """The log-probabilities of every token of the vocabulary for each question [question, vocab]."""
    first = questions[0]
    if first.model.family == "encoder":
        return log_softmax(np.stack([question.scores().float().cpu().numpy() for question in questions]))
    scores = first.model.run(first.source, first.target)["lm"][0]  # one pass for all of them
    return log_softmax(scores[[question.row for question in questions]].float().cpu().numpy())
