"""What DeBERTa's heads go by: how much of what tells the keys of a row apart comes from words, and how much from distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.evaluation.baselines import Measured
from explorer.analysis.evaluation.batches import Inputs, as_tensors, batches, inputs_of, states
from explorer.analysis.evaluation.context import EvalContext
from explorer.analysis.evaluation.masked import as_read
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.widest import in_widest
from explorer.records import TapPlace

CONTENT = "content → content"
MOST = 64  # texts: a share of a variance over millions of pairs of words hardly moves with more


def term_spread(context: EvalContext) -> Callable[[TransformerModel], Measured] | None:
    """The share of each term in the spread of the scores, the mean of all heads; nothing for a model that adds up no terms.

    The probes are those of each head. Heads that look sharply and heads that look everywhere count the same.
    """
    texts = as_read(context, 1)[:MOST]
    if not texts:
        return None
    inputs = inputs_of([text.ids for text in texts], [text.segments for text in texts])

    def measure(model: TransformerModel) -> Measured:
        figures = {f"spread of scores, {name}": share for name, share in shares(model, inputs).items()}
        return Measured({name: float(share.mean()) for name, share in figures.items()}, probes=figures)

    return measure


@torch.no_grad()
def shares(model: TransformerModel, inputs: Inputs) -> dict[str, np.ndarray]:
    """By term the share of the spread of the scores that it makes, [layer, head]; those of a head sum to one.

    A row of scores is compared with itself by the softmax, so each row counts from its own mean. With s the sum of the terms t,
    var(s) = Σ cov(t, s): the share of t is cov(t, s) / var(s), both added up over all rows. It is negative where a term works
    against the others.
    """
    if model.module.embeddings.position.terms == 1:
        return {}
    total: dict[str, np.ndarray] = {}
    for rows in batches(len(inputs.ids)):
        part = inputs.cut(rows)
        with tap.listening(_adder(total, model.streams[model.family], as_tensors(model, part.attention_mask)[0])):
            states(model, part)
    whole = np.sum(list(total.values()), axis=0)
    return {name: (value / whole).astype(np.float32) for name, value in total.items()}


def _adder(total: dict[str, np.ndarray], shape: tuple[int, int], attention_mask: Tensor) -> Callable[..., None]:
    """A listener that adds up how far every term varies with the sum, by its name."""
    terms: dict[str, Tensor] = {}

    def hear(place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == TapPlace.TERMS:
            terms.clear()
            terms.update(values["terms"])
        elif place == TapPlace.ATTENTION:
            keys = values["k"].repeat_interleave(shape[1] // values["k"].shape[1], dim=1)
            parts = {CONTENT: values["q"] @ keys.transpose(-1, -2) * values["scale"], **terms}
            whole = _centred(sum(parts.values(), torch.zeros(())), attention_mask)
            for name, term in parts.items():
                sums = total.setdefault(name, np.zeros(shape))
                sums[layer] += (_centred(term, attention_mask) * whole).sum(dim=(0, 2, 3)).cpu().numpy()

    return hear


def _centred(scores: Tensor, attention_mask: Tensor) -> Tensor:
    """Every row from its own mean over the keys that are words, and 0 where either side is padding: [row, head, query, key]."""
    keys, pairs = attention_mask[:, None, None, :], attention_mask[:, None, :, None] & attention_mask[:, None, None, :]
    scores = in_widest(scores)
    mean = (scores * keys).sum(dim=-1, keepdim=True) / keys.sum(dim=-1, keepdim=True)
    return (scores - mean) * pairs
