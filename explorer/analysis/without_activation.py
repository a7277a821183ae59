"""What the activation of the feed-forward layers is for: the same weights with it and without it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np
from torch import nn

from explorer.analysis.text_losses import text_losses
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.models.transformer import TransformerModel
from explorer.nn.layers import FeedForward


@checked
def losses_without_activation(model: TransformerModel, texts: Sequence[str]) -> np.ndarray:
    """The mean loss of each text with the activation of the feed-forward layers, then without it in any of them: [2, text].

    Without it the two matrices of such a layer are one: (x W₁) W₂ = x (W₁ W₂). All weights stay as they were trained.

    >>> usual, linear = ex.analysis.losses_without_activation(ex.load("gpt2"), ["Anna had a dog. The dog was hungry."])
    >>> bool(linear[0] > usual[0])
    True
    """
    return np.stack([text_losses(model, texts), text_losses(linear(model), texts)])


def linear(model: TransformerModel) -> TransformerModel:
    """A copy of the model whose feed-forward layers have no activation."""
    module = deepcopy(model.module)
    for layer in module.modules():
        if isinstance(layer, FeedForward):
            if layer.gate is not None:
                raise ChoiceError(
                    f"The feed-forward layers of {model.name} are gated: without the activation they still multiply two "
                    "products, so they are not linear. Take bert or gpt2."
                )
            layer.activation = nn.Identity()
    return TransformerModel(f"{model.name} without activation", module, model.tokenizer, model.preset)
