"""What a model writes when it always takes the likeliest next piece: many texts at once, nothing computed twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.measuring.feeding import ROWS, filled, given
from explorer.model import OwnModel
from explorer.nn.cache import Cache


@torch.no_grad()
def rewritten(model: OwnModel, sources: Sequence[Sequence[int] | np.ndarray], longest: int) -> list[list[int]]:
    """What an encoder-decoder writes for each source of ids, up to its end piece (which is left out)."""
    said: list[list[int]] = []
    for first in range(0, len(sources), ROWS):
        ids, real = given(model, *filled(sources[first : first + ROWS]))
        memory, cache = model.module.encode(ids, real), Cache()
        start = torch.full((len(ids), 1), model.config.start, device=model.device)
        said += _on(model, start, longest, lambda last, cache=cache, m=memory, r=real: model.module.decode(m, last, r, cache))
    return said


@torch.no_grad()
def continued(model: OwnModel, prompts: np.ndarray, longest: int) -> list[list[int]]:
    """How a causal model goes on after prompts of one length [row, place], up to its end piece."""
    (ids,) = given(model, prompts)
    cache = Cache()
    return _on(model, ids, min(longest, model.longest - ids.shape[1]), lambda last: model.module(last, cache=cache))


def translated(model: OwnModel, sources: Sequence[str], longest: int = 40) -> list[str]:
    """What an encoder-decoder writes for each text."""
    ids = [model.tokenizer.encode(source).ids for source in sources]
    return [model.tokenizer.decode(row) for row in rewritten(model, ids, longest)]


def _on(model: OwnModel, last: Tensor, longest: int, step: object) -> list[list[int]]:
    """Take steps until every row has ended."""
    end = model.tokenizer.vocabulary.last
    said: list[Tensor] = []
    ended = torch.zeros(len(last), dtype=torch.bool, device=model.device)
    for _ in range(min(longest, model.longest)):
        last = model.module.head(step(last)[:, -1]).argmax(-1, keepdim=True)  # type: ignore[operator]
        said.append(last)
        ended |= last[:, 0] == end
        if bool(ended.all()):
            break
    rows = torch.cat(said, dim=1).tolist() if said else [[] for _ in last]
    return [row[: row.index(end)] if end in row else row for row in rows]
