"""How much each token contributes to what attention makes: the length of α·v·W_O beside the weight α."""

from __future__ import annotations

import numpy as np

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.model import Model
from explorer.models.transformer import TransformerModel, transformer
from explorer.nn.transformer import Layer
from explorer.records import Attention, Contribution, Contributions
from explorer.text.reading import Text


@checked
def contributions(model: Model, text: Text, *, target: Text | None = None) -> Contributions:
    """The length of the vector α·v·W_O that each head takes from each token to each position (Kobayashi et al. 2020).

    v holds the bias of W_V; the bias of W_O comes from no token and is left out.

    >>> made = ex.analysis.contributions(ex.load("bert"), "A dog ran.")
    >>> made.layers[0].of(head=1).shape
    (6, 6)
    """
    check_attention(model)
    ours = transformer(model)
    traced = trace(ours, text, target=target, scores=False)
    return Contributions(
        ours.name, traced.source, traced.target, tuple(_contribution(ours, attention) for attention in traced.attention)
    )


def handed_on(model: TransformerModel, attention: Attention) -> np.ndarray:
    """What each head hands on of each position: v · W_O of the head [head, key, dim]."""
    stack = model.module.encoder if attention.stream == "encoder" and model.module.encoder is not None else model.module
    layer = stack.layers[attention.layer]
    if not isinstance(layer, Layer) or attention.v is None:
        raise ChoiceError(f"Layer {attention.layer} of {model.name} is a {type(layer).__name__}, whose matrices are not known.")
    part = layer.cross if attention.stream == "cross" else layer.attention
    assert part is not None, "a layer that has made cross-attention has one"
    values = attention.v.repeat(attention.heads // len(attention.v), axis=0).astype(np.float64)  # [head, key, width]
    matrix = part.output.weight.detach().double().cpu().numpy().T  # [head · width, dim]
    return np.asarray(values @ matrix.reshape(attention.heads, values.shape[-1], -1))


def _contribution(model: TransformerModel, attention: Attention) -> Contribution:
    """One layer: the length of v·W_O of each head and token, and of the sum over all heads for each pair of tokens."""
    vectors = handed_on(model, attention)
    sums = [
        np.linalg.norm(np.einsum("hk,hkd->kd", attention.weights[:, query].astype(np.float64), vectors), axis=-1)
        for query in range(attention.weights.shape[1])  # one at a time: all together would take a gigabyte
    ]
    return Contribution(
        attention.stream,
        attention.layer,
        attention.allowed,
        attention.weights,
        np.linalg.norm(vectors, axis=-1).astype(np.float32),
        np.stack(sums).astype(np.float32),
    )
