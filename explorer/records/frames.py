"""A trace as tables of pandas, for those who would rather group and sort than look."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from explorer.errors import ChoiceError, unknown
from explorer.records.tables import table_of
from explorer.records.tokens import Tokens

if TYPE_CHECKING:
    from pandas import DataFrame

Trace = Any  # a `records.Trace`, whose module imports this one


def frame_of(trace: Trace, what: str) -> DataFrame:
    """One part of a trace as a table."""
    if not isinstance(what, str) or what not in FRAMES:
        raise unknown("table of a trace", what, FRAMES)
    return table_of(lambda: FRAMES[what](trace))


def attention(trace: Trace) -> dict[str, Any]:
    """A row for every weight: stream, layer, head, who looks (query) at whom (key)."""
    parts = [_weights(trace, number) for number in range(len(trace.attention))]
    if not parts:
        raise ChoiceError("This trace holds no attention.")
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _weights(trace: Trace, number: int) -> dict[str, np.ndarray]:
    attention = trace.attention[number]
    rows, columns = (np.array(tokens.texts, dtype=object) for tokens in trace.axes(attention.stream))
    head, query, key = (index.reshape(-1) for index in np.indices(attention.weights.shape))
    return {
        "stream": np.full(len(head), attention.stream, dtype=object), "layer": np.full(len(head), attention.layer), "head": head,
        "query": query, "key": key, "query_token": rows[query], "key_token": columns[key], "weight": attention.weights.reshape(-1),
    }  # fmt: skip


def tokens(trace: Trace) -> list[dict[str, Any]]:
    """A row for every token that was read; `text` says of which text, "source" or "target". `loss` is −log P of a predicted one."""
    sides = {"source": trace.source, "target": trace.target}
    predicted = trace.losses if "lm" in trace.outputs else None
    last = "source" if trace.target is None else "target"
    return [
        row
        for name, read in sides.items()
        if read is not None
        for row in _read(name, read, np.full(len(read), np.nan) if predicted is None or name != last else predicted)
    ]


def _read(name: str, read: Tokens, losses: np.ndarray) -> list[dict[str, Any]]:
    columns = zip(read.ids.tolist(), read.texts, read.words, read.sentences, read.segments, read.special, losses, strict=True)
    names = ("id", "token", "word", "sentence", "segment", "special", "loss")
    return [{"text": name, "position": n, **dict(zip(names, row, strict=True))} for n, row in enumerate(columns)]


def top(trace: Trace) -> dict[str, Any]:
    """A row for each of the most likely tokens at every position, the likeliest with rank 0; `read` is the token that stands there."""
    if trace.top is None:
        raise ChoiceError("This trace holds no predictions: the model has no scores over the vocabulary.")
    position, rank = (index.reshape(-1) for index in np.indices(trace.top.ids.shape))
    texts = [text for row in trace.top.texts for text in row]
    here = trace.source if trace.target is None else trace.target
    read = [here.texts[place] for place in position]
    flat = {"id": trace.top.ids.reshape(-1), "token": texts, "logp": trace.top.logp.reshape(-1)}
    return {"position": position, "read": read, "rank": rank, **flat}


def hidden(trace: Trace) -> dict[str, Any]:
    """A row for every hidden state: stream, layer (0 is what enters the first), position, token, then its numbers."""
    parts = []
    for stream, states in trace.hidden.items():
        layer, position = (index.reshape(-1) for index in np.indices(states.shape[:2]))
        texts = np.array(trace.axes(stream)[0].texts, dtype=object)
        named = {
            "stream": np.full(len(layer), stream, dtype=object),
            "layer": layer,
            "position": position,
            "token": texts[position],
        }
        parts.append({**named, **{str(d): states[..., d].reshape(-1) for d in range(states.shape[-1])}})
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


FRAMES: dict[str, Callable[[Trace], Any]] = {"attention": attention, "tokens": tokens, "top": top, "hidden": hidden}
