"""Which words the two halves of an ELMo have read: the same proof by gradients as for models with attention."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from explorer.model import Text
from explorer.model.others import ElmoModel
from explorer.records import Visibility


def halves(model: ElmoModel, text: Text, *, seed: int = 0) -> tuple[Visibility, Visibility]:
    """How strongly the last forward and the last backward state of each word move with the vector of each word."""
    tokens = model.tokens(text)
    assert tokens.characters is not None, "its tokenizer was checked when the model was built"
    letters = torch.tensor(tokens.characters, dtype=torch.long)[None]
    with torch.enable_grad():
        x = model.module.words(letters).detach().requires_grad_(True)  # [1, position, dim]
        onward = model.module.onward(x)[-1][0]
        back = model.module.back(x.flip(1))[-1][0].flip(0)
        found = [_moved(states, x, seed) for states in (onward, back)]
    names = (f"{model.name}, forward half", f"{model.name}, backward half")
    first, second = (Visibility(name, tokens, tokens, moved) for name, moved in zip(names, found, strict=True))
    return first, second


def _moved(states: Tensor, x: Tensor, seed: int) -> Any:
    """The length of the gradient of one random mix of each state [output, input]."""
    mix = torch.randn(states.shape[-1], generator=torch.Generator().manual_seed(seed))
    rows = [torch.autograd.grad(state @ mix, x, retain_graph=True)[0][0].norm(dim=-1) for state in states]
    return torch.stack(rows).float().cpu().numpy()
