"""What heads do on average over texts: how far they attend, how sharply, and to what."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from explorer.analysis.trace import check_attention, trace
from explorer.errors import ChoiceError
from explorer.errors.kinds import checked
from explorer.errors.waiting import with_progress
from explorer.microworld import Story
from explorer.microworld.antecedents import antecedents
from explorer.models.caching import CachePolicy, cache_policy
from explorer.models.model import Model
from explorer.records import Attention, HeadStatistics, Tokens
from explorer.text.reading import Text

MEANT = "from a pronoun to its antecedent"
Measure = Callable[[Attention, Tokens, Tokens], np.ndarray]  # one number for each row of each head [head, query]


def sharpness(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """1 − entropy / its largest value: 1 where all weight is on one token, 0 where attention is uniform."""
    weights = attention.weights.astype(np.float64)
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1)
    most = np.log(np.maximum(attention.allowed.sum(-1), 2))
    return 1 - entropy / most


def distance(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """The mean distance of the keys in tokens, weighted by attention."""
    return _share(attention, np.abs(np.subtract.outer(np.arange(len(rows)), np.arange(len(columns)))))


def first(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """The weight on the first token."""
    return attention.weights[:, :, 0]


def marks(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """The weight on special tokens after the first, such as [SEP]."""
    return _share(attention, np.array([flag and n > 0 for n, flag in enumerate(columns.special)])[None])


def beside(step: int) -> Measure:
    """The weight on the token `step` positions later."""

    def measure(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
        return _share(attention, np.eye(len(rows), len(columns), step))

    return measure


def same_token_weight(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
    """The weight on the same token elsewhere."""
    equal = rows.ids[:, None] == columns.ids[None]
    return _share(attention, equal & ~np.eye(len(rows), len(columns), dtype=bool))


def _share(attention: Attention, counted: np.ndarray) -> np.ndarray:
    return (attention.weights * counted).sum(-1)


def to_what_is_meant(known: Sequence[tuple[int, Sequence[int]]]) -> Measure:
    """The weight from each pronoun to all earlier nouns and names of its antecedent; one number for each pronoun."""

    def measure(attention: Attention, rows: Tokens, columns: Tokens) -> np.ndarray:
        shares = [attention.weights[:, query, list(keys)].sum(-1) for query, keys in known]
        return np.stack(shares, axis=-1)  # [head, pronoun]

    return measure


def even(attention: Attention) -> Attention:
    """A single head with uniform attention over all visible tokens."""
    seen = attention.allowed.astype(np.float32)
    weights = seen / np.maximum(seen.sum(-1, keepdims=True), 1)
    return Attention(attention.stream, attention.layer, None, None, None, 1.0, attention.allowed, weights[None])


MEASURES: dict[str, Measure] = {
    "sharpness": sharpness,
    "distance": distance,
    "to the first token": first,
    "to later special tokens": marks,
    "to the token before": beside(-1),
    "to the token after": beside(1),
    "to itself": beside(0),
    "to the same token elsewhere": same_token_weight,
}


@cache_policy(CachePolicy(on_disk=True))
@checked
def head_statistics(model: Model, texts: Sequence[Text | Story], *, stream: str | None = None) -> HeadStatistics:
    """The mean of every measure over all rows of all texts, for each layer and head of one stream.

    A text may be a story with gold labels (`explorer.microworld.labelled`): then the weight from each pronoun to its antecedents is
    measured too, over the pronouns alone. The record also holds the values of uniform attention.

    >>> ex.head_statistics(ex.load("bert"), ex.microworld.openings(2, 7, sentences=2)).model
    'bert'
    """
    check_attention(model)
    stream = stream or next(iter(model.streams))
    if stream not in model.streams or stream == "cross" or not texts:
        raise ChoiceError(f"Statistics need texts and a stream with self-attention: encoder or decoder; this is {stream!r}.")
    parts: dict[str, list[np.ndarray]] = {}
    evenly: dict[str, list[np.ndarray]] = {}
    for text in with_progress(texts, "Looking at the heads"):
        traced = trace(model, text.text if isinstance(text, Story) else text)
        rows, columns = traced.axes(stream)
        measures = dict(MEASURES)
        if isinstance(text, Story) and (known := antecedents(text, rows)):
            measures[MEANT] = to_what_is_meant(known)
        layers = [attention for attention in traced.attention if attention.stream == stream]
        for name, measure in measures.items():  # [layer, head, row]
            parts.setdefault(name, []).append(np.stack([measure(attention, rows, columns) for attention in layers]))
            evenly.setdefault(name, []).append(np.stack([measure(even(attention), rows, columns) for attention in layers]))
    return HeadStatistics(
        model.name,
        stream,
        len(texts),
        {name: np.concatenate(layers, axis=-1).mean(-1) for name, layers in parts.items()},
        {name: float(np.concatenate(layers, axis=-1).mean()) for name, layers in evenly.items()},
        sum(layers.shape[-1] for layers in parts.get(MEANT, ())),
    )
