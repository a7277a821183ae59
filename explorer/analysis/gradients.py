"""Gradients: what a prediction depends on, and which token can see which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError, check_index, check_seed
from explorer.errors.kinds import checked
from explorer.models.model import Model, reading_stream, with_gradients
from explorer.nn import tap
from explorer.records import Edit, Gradient, Tokens, Visibility
from explorer.text.reading import Text


class Held:
    """A holder for what a forward pass computed."""

    leaf: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Leaf(Edit):
    """Nothing is changed: gradients are taken with respect to the input of the first layer."""

    layer: int
    held: Held

    def on_hidden(self, value: Any) -> Any:
        """The same numbers, as a leaf."""
        self.held.leaf = value.detach().clone().requires_grad_(True)
        return self.held.leaf


@checked
def gradient(model: Model, text: Text, *, target: Text | None = None, row: int | None = None) -> Gradient:
    """Gradient × input of the prediction at one row: by default at a mask, or else at the last token of the text.

    >>> ex.gradient(ex.load("bert"), "A dog ran.").model
    'bert'
    """
    check_attention(model)
    made = trace(model, text, target=target)
    crossing = model.family == "encoder-decoder"
    rows = made.source if made.target is None else made.target
    row = check_index("row", _telling(rows, model.tokenizer.vocabulary.mask) if row is None else row, len(rows))
    stream = reading_stream(model)
    held = Held()
    with with_gradients(), tap.editing([Leaf(stream, -1, held)]):
        out = model.run(made.source, made.target)
    if "lm" not in out or held.leaf is None:
        raise ChoiceError(f"Gradients of a prediction need scores over a vocabulary and layers; {model.name} has not both.")
    logp = out["lm"][0, row].log_softmax(-1)
    piece = int(logp.argmax())
    (slope,) = torch.autograd.grad(logp[piece], held.leaf)
    values = (slope * held.leaf).detach().sum(-1).reshape(-1).float().cpu().numpy()  # [position]
    looks = [a.weights.mean(0)[row] for a in made.attention if a.stream == ("cross" if crossing else stream)]
    return Gradient(
        model.name, made.source, row, model.tokenizer.text_of(piece), float(logp[piece].detach()), values, np.stack(looks)
    )


def _telling(rows: Tokens, mask: int | None) -> int:
    """The default row: a mask, or the last token that is not special."""
    masks = [n for n, i in enumerate(rows.ids.tolist()) if i == mask]
    return (masks or [n for n, flag in enumerate(rows.special) if not flag] or [len(rows) - 1])[-1]


@checked
def visibility(model: Model, text: Text, *, target: Text | None = None, seed: int = 0) -> Visibility:
    """How strongly each last state depends on each token: the norm of the gradient of one random combination of its dimensions.

    >>> found = ex.visibility(ex.load("gpt2"), "A dog ran.")
    >>> float(found.moved[0, 1:].max())
    0.0
    """
    check_attention(model)
    seed = check_seed(seed)
    tokens, reads = model.tokens(text), model.reads(target)
    entering = reading_stream(model)
    leaving = "encoder" if model.family == "encoder" else "decoder"
    held, states = Held(), []

    def hear(place: str, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == "hidden" and stream == leaving:
            states.append(values["x"])

    with with_gradients(), tap.listening(hear), tap.editing([Leaf(entering, -1, held)]):
        model.run(tokens, reads)
    if held.leaf is None or len(states) < 2:
        raise ChoiceError(f"The layers of {model.name} were not found, so they cannot be traced.")
    last = states[-1].reshape(-1, states[-1].shape[-1])  # [output, dim]
    mix = torch.randn(last.shape[-1], generator=torch.Generator().manual_seed(seed)).to(last)
    moved = [
        torch.autograd.grad(state @ mix, held.leaf, retain_graph=True)[0].reshape(len(tokens), -1).norm(dim=-1)
        for state in last
    ]
    return Visibility(model.name, tokens if reads is None else reads, tokens, torch.stack(moved).float().cpu().numpy())
