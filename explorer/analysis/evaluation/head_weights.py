"""What heads attend to: the mean attention weight from some positions to others, head by head, over many texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from explorer.analysis.evaluation.batches import Inputs, as_tensors, batches, decoder_states, states
from explorer.models.transformer import TransformerModel
from explorer.nn import tap
from explorer.nn.widest import in_widest, widest
from explorer.records import TapPlace


@dataclass(frozen=True)
class Links:
    """Pairs of query and key positions: three numbers a link (row, query, key)."""

    row: np.ndarray
    query: np.ndarray
    key: np.ndarray

    @property
    def looking(self) -> int:
        """How many queries there are: the mean is over them, their weights on several keys are added."""
        return len(np.unique(np.stack([self.row, self.query]), axis=1).T) if len(self.row) else 0

    def within(self, rows: slice) -> Links:
        """The links of some of the rows, which are then counted from 0."""
        here = (self.row >= rows.start) & (self.row < rows.stop)
        return Links(self.row[here] - rows.start, self.query[here], self.key[here])


def links(triples: Sequence[tuple[int, int, int]]) -> Links:
    """Links from triples of row, query and key."""
    columns = np.array(triples, np.int64).reshape(-1, 3).T
    return Links(*columns)


def from_mask(mask: np.ndarray) -> Links:
    """Links wherever [row, query, key] is true."""
    return Links(*np.nonzero(mask))


def weights_on(
    model: TransformerModel, inputs: Inputs, questions: Mapping[str, Links], stream: str = "", target: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """For every name the mean weight on its links, [layer, head]; a name without links is left out.

    `stream` is that of the model unless given. An encoder-decoder also reads `target`, shifted.
    """
    names = [name for name, link in questions.items() if len(link.row)]
    each = weights_each(model, inputs, [questions[name] for name in names], stream, target)
    return {
        name: (rows.sum(axis=-1) / questions[name].looking).astype(np.float32) for name, rows in zip(names, each, strict=True)
    }


@torch.no_grad()
def weights_each(
    model: TransformerModel, inputs: Inputs, questions: Sequence[Links], stream: str = "", target: np.ndarray | None = None
) -> list[np.ndarray]:
    """The weights on links, added up for every row: [layer, head, row] for each of `asked`."""
    stream = stream or model.family
    total = [np.zeros((*model.streams[stream], len(inputs.ids))) for _ in questions]
    for rows in batches(len(inputs.ids)):
        part = inputs.cut(rows)
        here = [link.within(rows) for link in questions]
        with tap.listening(_adder(stream, here, [value[..., rows] for value in total])):
            if target is None:
                states(model, part)
            else:
                decoder_states(model, part, as_tensors(model, target[rows])[0])
    return total


def _adder(stream: str, questions: Sequence[Links], total: Sequence[np.ndarray]) -> Callable[..., None]:
    """A listener that adds up the weights of one stream on some links, by row."""

    def hear(place: TapPlace, where: str, layer: int, values: dict[str, Any]) -> None:
        if place != "attention" or where != stream:
            return
        weights: Tensor = values["weights"]  # [row, head, query, key]
        for link, sums in zip(questions, total, strict=True):
            row, query, key = (torch.as_tensor(x, device=weights.device) for x in (link.row, link.query, link.key))
            each = torch.zeros(sums.shape[2], weights.shape[1], dtype=widest(weights.device), device=weights.device)
            each.index_add_(0, row, in_widest(weights[row, :, query, key]))  # [link, head] into [row, head]
            sums[layer] = each.T.cpu().numpy()

    return hear


@torch.no_grad()
def heard(model: TransformerModel, stream: str, run: Callable[[], object]) -> list[np.ndarray]:
    """The weights of every layer of a stream while something runs, [row, head, query, key] each."""
    weights: list[np.ndarray] = []

    def hear(place: TapPlace, where: str, layer: int, values: dict[str, Any]) -> None:
        if place == TapPlace.ATTENTION and where == stream:
            weights.append(values["weights"].float().cpu().numpy())

    with tap.listening(hear):
        run()
    return weights
