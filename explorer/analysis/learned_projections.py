"""What training made of the matrices that compute queries, keys and values, head by head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.transformer import TransformerModel
from explorer.nn.attention import MultiHeadAttention
from explorer.records import Projections


@checked
def projections_over_steps(models: Mapping[int, Any]) -> Projections:
    """W_Q, W_K and W_V of every head at several steps of one training run. `models` are its snapshots by their step.

    >>> taken = {1: ex.load("bert-tiny", step=1), 9999: ex.load("bert-tiny")}
    >>> ex.analysis.projections_over_steps(taken).weights.shape
    (2, 3, 2, 4, 64, 16)
    """
    if len(models) < 2:
        raise ChoiceError("There are no two moments to compare. Give the models at two steps, by their step.")
    steps = sorted(models)
    weights = [_of(models[step]) for step in steps]
    if len({each.shape for each in weights}) > 1:
        raise ChoiceError("These models have different shapes. Give snapshots of one training run.")
    return Projections(models[steps[-1]].name, np.array(steps), np.stack(weights))


def _of(model: Any) -> np.ndarray:
    """The matrices of one model [matrix, layer, head, dim, dim of a head]."""
    if not isinstance(model, TransformerModel):
        raise ChoiceError(f"{getattr(model, 'name', model)} has no heads whose matrices are known. Give a BERT or a GPT.")
    heads, groups = model.config.heads, model.config.groups
    if heads != groups:
        raise ChoiceError(f"In {model.name} several heads share a key: {heads} heads, {groups} keys. Give a BERT or a GPT.")
    layers = [part for part in model.module.modules() if isinstance(part, MultiHeadAttention)]
    if len({layer.query.weight.shape for layer in layers}) > 1:
        raise ChoiceError(f"{model.name} has heads of two sizes. Give a BERT or a GPT.")
    every = [[_by_head(getattr(layer, name).weight, heads) for layer in layers] for name in ("query", "key", "value")]
    return np.array(every, np.float32)


def _by_head(weight: Any, heads: int) -> np.ndarray:
    """A matrix [out, in] as one matrix for each head [head, in, out]; a row of states times it gives queries."""
    whole: np.ndarray = weight.detach().float().cpu().numpy()
    return whole.reshape(heads, -1, whole.shape[1]).swapaxes(1, 2)
