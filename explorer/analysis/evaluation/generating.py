"""Greedy generation for many texts at once, with a cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.evaluation.batches import ROWS, as_tensors
from explorer.models.model import padded_batch
from explorer.models.transformer import TransformerModel
from explorer.nn.cache import KeyValueCache
from explorer.nn.known_parts import accepts_cache

Read = Callable[[Tensor, KeyValueCache | None], Tensor]


@torch.no_grad()
def rewritten(model: TransformerModel, sources: Sequence[Sequence[int] | np.ndarray], longest: int) -> list[list[int]]:
    """What an encoder-decoder writes for each source of ids, up to its end token (which is left out)."""
    texts: list[list[int]] = []
    for first in range(0, len(sources), ROWS):
        ids, attention_mask = as_tensors(model, *padded_batch(sources[first : first + ROWS]))
        memory = model.module.encode(ids, attention_mask)
        start = torch.full((len(ids), 1), model.config.start, device=model.device)
        texts += _greedy(model, start, longest, _decoder(model, memory, attention_mask))
    return texts


@torch.no_grad()
def continued(model: TransformerModel, prompts: np.ndarray, longest: int) -> list[list[int]]:
    """How a causal language model continues prompts of one length [row, position], up to its end token."""
    (ids,) = as_tensors(model, prompts)
    return _greedy(model, ids, min(longest, model.longest - ids.shape[1]), lambda ids, cache: model.module(ids, cache=cache))


def translated(model: TransformerModel, sources: Sequence[str], longest: int = 40) -> list[str]:
    """What an encoder-decoder generates for each text."""
    ids = [model.tokenizer.encode(source).ids for source in sources]
    return [model.tokenizer.decode(row) for row in rewritten(model, ids, longest)]


def _decoder(model: TransformerModel, memory: Tensor, attention_mask: Tensor) -> Read:
    """The decoder over the states of these sources."""
    return lambda ids, cache: model.module.decode(memory, ids, attention_mask, cache)


def _greedy(model: TransformerModel, ids: Tensor, longest: int, read: Read) -> list[list[int]]:
    """Take steps until every row has ended. `read` gives the last states of the ids that it is given."""
    end, begin = model.tokenizer.vocabulary.last, ids.shape[1]
    cache = KeyValueCache() if accepts_cache(model.module) else None
    new, ended = ids, torch.zeros(len(ids), dtype=torch.bool, device=model.device)
    for _ in range(min(longest, model.longest)):
        states = read(ids if cache is None else new, cache)
        new = model.module.head(states[:, -1]).argmax(-1, keepdim=True)
        ids = torch.cat((ids, new), dim=1)
        ended |= new[:, 0] == end
        if bool(ended.all()):
            break
    rows = ids[:, begin:].tolist()
    return [row[: row.index(end)] if end in row else row for row in rows]
