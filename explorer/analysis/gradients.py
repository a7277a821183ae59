"""Gradients: what a prediction depends on, and which token can see which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.patching import single_token
from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError, check_index, check_seed, check_whole
from explorer.errors.kinds import checked
from explorer.models.finetuned import below
from explorer.models.model import Model, reading_stream, with_gradients, writing_stream
from explorer.nn import tap
from explorer.nn.threads import one_thread
from explorer.records import Edit, Gradient, TapPlace, Tokens, Visibility
from explorer.text.reading import Text

MOST_STEPS = 1000  # on the line of integrated gradients


class Holder:
    """A holder for what a forward pass computed."""

    leaf: Tensor | None = None


@dataclass(frozen=True, eq=False)
class Leaf(Edit):
    """Nothing is changed: gradients are taken with respect to the input of the first layer."""

    places = (TapPlace.HIDDEN,)
    layer: int
    holder: Holder
    share: float = 1.0

    def changed(self, value: Any) -> Any:
        """The same numbers, or a point on the way to them from the mean of all positions, as a leaf."""
        mean = value.detach().mean(-2, keepdim=True)
        self.holder.leaf = torch.lerp(mean.expand_as(value), value.detach(), self.share).clone().requires_grad_(True)
        return self.holder.leaf


@checked
def gradient(
    model: Model, text: Text, *, target: Text | None = None, row: int | None = None, token: str | None = None, steps: int = 0
) -> Gradient:
    """Gradient × input of the prediction at one row: by default at a mask, or else at the last token of the text.

    `token` is whose probability is asked about, by default the most probable one. With `steps` also integrated gradients (Sundararajan
    et al. 2017): the mean gradient at so many points on the straight line to the input of the first layer, × that line. It begins where
    every position holds the same vector, the mean of the text's own: zeros would not do, since a layer norm makes every length the same.

    >>> found = ex.gradient(ex.load("bert"), "A [MASK] ran.", token="dog", steps=4)
    >>> found.piece, len(found.integrated) == len(found.tokens)
    ('dog', True)
    """
    check_attention(model)
    check_whole("steps", steps, 0, MOST_STEPS)
    traced = trace(model, text, target=target)
    rows = traced.source if traced.target is None else traced.target
    row = check_index("row", _telling(rows, model.tokenizer.vocabulary.mask) if row is None else row, len(rows))
    question = _Asked(model, traced.source, traced.target, row)
    piece = int(question.scores(1.0)[0].argmax()) if token is None else single_token(model, token)
    slope, entering, logp = question.slope(piece, 1.0)
    integrated, nothing = None, float("nan")
    if steps:
        mean = sum(question.slope(piece, (step + 0.5) / steps)[0] for step in range(steps)) / steps
        integrated = _each(mean * (entering - entering.mean(-2, keepdim=True)))
        nothing = float(question.scores(0.0)[0][piece].detach())
    stream = "cross" if model.family == "encoder-decoder" else reading_stream(model)
    looks = np.stack([a.weights.mean(0)[row] for a in traced.attention if a.stream == stream])
    answer = model.tokenizer.text_of(piece)
    return Gradient(model.name, traced.source, row, answer, logp, _each(slope * entering), looks, integrated, nothing)


@dataclass(frozen=True)
class _Asked:
    """A prediction that is asked about: the model, what it reads, and the row."""

    model: Model
    source: Tokens
    target: Tokens | None
    row: int

    def scores(self, share: float) -> tuple[Tensor, Tensor]:
        """log P of every token at a point of the line, and what enters the first layer there, as a leaf."""
        holder = Holder()
        with with_gradients(), tap.editing([Leaf(reading_stream(self.model), -1, holder, share)]):
            out = self.model.run(self.source, self.target)
        if "lm" not in out or holder.leaf is None:
            raise ChoiceError(
                f"Gradients of a prediction need scores over a vocabulary and layers; {self.model.name} does not have both."
                f"{below(self.model)}"
            )
        return out["lm"][0, self.row].log_softmax(-1), holder.leaf

    def slope(self, piece: int, share: float) -> tuple[Tensor, Tensor, float]:
        """The gradient of one token's log P there, the input, and log P itself."""
        logp, leaf = self.scores(share)
        (slope,) = torch.autograd.grad(logp[piece], leaf)
        return slope, leaf.detach(), float(logp[piece].detach())


def _each(values: Tensor) -> np.ndarray:
    """The sum over the dimensions of every position."""
    return np.asarray(values.detach().sum(-1).reshape(-1).float().cpu().numpy())


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
    tokens, decoder_tokens = model.tokens(text), model.reads(target)
    return Visibility(model.name, decoder_tokens or tokens, tokens, gradient_lengths(model, tokens, decoder_tokens, seed))


def gradient_lengths(
    model: Model, tokens: Tokens, decoder_tokens: Tokens | None, seed: int, rows: Sequence[int] | None = None
) -> np.ndarray:
    """The length of the gradient of one random mix of the last state of these rows, or of all, by each token [row, token]."""
    entering = reading_stream(model)
    leaving = writing_stream(model)
    holder, states = Holder(), []

    def hear(place: TapPlace, stream: str, layer: int, values: dict[str, Any]) -> None:
        if place == TapPlace.HIDDEN and stream == leaving:
            states.append(values["x"])

    with with_gradients(), tap.listening(hear), tap.editing([Leaf(entering, -1, holder)]):
        model.run(tokens, decoder_tokens)
    if holder.leaf is None or len(states) < 2:
        raise ChoiceError(f"The layers of {model.name} were not found, so they cannot be traced.")
    last = states[-1].reshape(-1, states[-1].shape[-1])  # [output, dim]
    mix = torch.randn(last.shape[-1], generator=torch.Generator().manual_seed(seed)).to(last)
    with one_thread(model.module):
        gradients = [
            torch.autograd.grad(state @ mix, holder.leaf, retain_graph=True)[0].reshape(len(tokens), -1).norm(dim=-1)
            for state in (last if rows is None else last[list(rows)])
        ]
    return np.asarray(torch.stack(gradients).float().cpu().numpy())
