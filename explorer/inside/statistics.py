"""What heads do on average over texts: how far they look, how sharply, and at what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from explorer.errors import ChoiceError
from explorer.model import Model, Text
from explorer.records import Attention, HeadStatistics, Tokens
from explorer.tracing import trace

Measure = Callable[[Attention, Tokens, Tokens], np.ndarray]  # one number for each row of each head [head, query]


def sharpness(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """1 − entropy / its largest value: 1 where all weight is on one word, 0 where all that are seen weigh alike."""
    weights = attention.weights.astype(np.float64)
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)
    most = np.log(np.maximum(attention.allowed.sum(-1), 2))
    return 1 - entropy / most


def distance(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """How many pieces away the looked-at words are, weighed."""
    return _share(attention, np.abs(np.subtract.outer(np.arange(len(rows)), np.arange(len(columns)))))


def first(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """The share that goes to the first piece."""
    return attention.weights[:, :, 0]


def marks(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """The share that goes to special pieces after the first, such as [SEP]."""
    return _share(attention, np.array([flag and n > 0 for n, flag in enumerate(columns.special)])[None])


def beside(step: int) -> Measure:
    """The share that goes to the piece `step` places on."""

    def measure(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
        return _share(attention, np.eye(len(rows), len(columns), step))

    return measure


def same(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """The share that goes to the same piece elsewhere."""
    equal = rows.ids[:, None] == columns.ids[None]
    return _share(attention, equal & ~np.eye(len(rows), len(columns), dtype=bool))


def _share(attention: Attention, counted: np.ndarray) -> np.ndarray:
    return (attention.weights * counted).sum(-1)


MEASURES: dict[str, Measure] = {
    "sharpness": sharpness,
    "distance": distance,
    "to the first piece": first,
    "to later special pieces": marks,
    "to the piece before": beside(-1),
    "to the piece after": beside(1),
    "to itself": beside(0),
    "to the same piece elsewhere": same,
}


def head_statistics(model: Model, texts: Sequence[Text], *, stream: str | None = None) -> HeadStatistics:
    """The mean of every measure over all rows of all texts, for each layer and head of one stream."""
    stream = stream or next(iter(model.streams))
    if stream not in model.streams or stream == "cross" or not texts:
        raise ChoiceError(f"Statistics need texts and a stream that looks at itself: encoder or decoder; this is {stream!r}.")
    sums: dict[str, list[np.ndarray]] = {name: [] for name in MEASURES}
    for text in texts:
        made = trace(model, text)
        rows, columns = made.axes(stream)
        held = [attention for attention in made.attention if attention.stream == stream]
        for name, measure in MEASURES.items():
            sums[name].append(np.stack([measure(attention, rows, columns) for attention in held]))  # [layer, head, query]
    means = {name: np.concatenate(parts, axis=-1).mean(-1) for name, parts in sums.items()}
    return HeadStatistics(model.name, stream, len(texts), means)
