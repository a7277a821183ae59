"""Where the loss falls. The vocabulary is looked at only where something is scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor
from torch.nn import functional

from explorer.nn.transformer import Transformer

Tensors = Mapping[str, Tensor]  # source, real, segments, answers, scored, and one label for each name
Losses = dict[str, Tensor]
Objective = Callable[[Transformer, Tensors, float], Losses]


def causal(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """Every piece is predicted from the pieces before it."""
    scored = batch["scored"]
    hidden = module(batch["source"], None, scored)
    return {"lm": functional.cross_entropy(module.head(hidden[scored]), batch["answers"][scored], label_smoothing=smoothing)}


def masked(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The hidden pieces; in a model that has learned pairs, also whether B follows A (class 0: it does)."""
    scored = batch["scored"]
    hidden = module(batch["source"], batch["segments"] if module.config.segments else None, batch["real"])
    losses = {"mlm": functional.cross_entropy(module.head(hidden[scored]), batch["answers"][scored], label_smoothing=smoothing)}
    if "nsp" in batch and module.next_sentence is not None:
        losses["nsp"] = functional.cross_entropy(module.next_sentence(hidden), batch["nsp"])
    return losses


def rewritten(module: Transformer, batch: Tensors, smoothing: float) -> Losses:
    """The target, piece by piece, from the source and the target so far (teacher forcing: the right pieces, shifted)."""
    answers, scored = batch["answers"], batch["scored"]
    start = torch.full_like(answers[:, :1], module.config.start)
    read = torch.cat((start, answers[:, :-1]), dim=1)
    memory = module.encode(batch["source"], batch["real"])
    hidden = module.decode(memory, read, batch["real"])
    return {"lm": functional.cross_entropy(module.head(hidden[scored]), answers[scored], label_smoothing=smoothing)}


OBJECTIVES: dict[str, Objective] = {
    "causal": causal,
    "mlm": masked,
    "mlm+nsp": masked,
    "denoising": rewritten,
    "span-to-text": rewritten,
    "gap-sentence": rewritten,
    "translation": rewritten,
}
