"""Many heads combined in one matrix, and tokens joined to words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from explorer.records import Tokens, Trace

WAYS = {
    "mean": "the mean of all heads",
    "max": "the maximum of all heads",
    "rollout": "½ attention + ½ identity, multiplied over the layers",
}


def summed(trace: Trace, stream: str, way: str) -> tuple[np.ndarray, Tokens, Tokens]:
    """All heads of all kept layers of a stream as one matrix [query, key], with the tokens of both sides."""
    rows, columns = trace.axes(stream)
    layers = [attention.weights.astype(np.float64) for attention in trace.attention if attention.stream == stream]
    if way == "rollout":
        flow = np.eye(len(rows))
        for weights in layers:  # from the first layer to the last
            flow = (0.5 * weights.mean(0) + 0.5 * np.eye(len(rows))) @ flow
        return flow, rows, columns
    every = np.concatenate(layers)
    return every.mean(0) if way == "mean" else every.max(0), rows, columns


def joined(
    values: np.ndarray, rows: Tokens, columns: Tokens, *, words: bool, special: bool
) -> tuple[np.ndarray, Tokens, Tokens]:
    """The matrix for words instead of tokens (keys add up, queries are averaged), and without special tokens unless wanted."""
    for axis, tokens in ((0, rows), (1, columns)):
        groups = groups_of(tokens, words=words, special=special)
        parts = [values.take(group, axis=axis) for group in groups]
        values = np.stack([part.mean(axis) if axis == 0 else part.sum(axis) for part in parts], axis=axis)
    first, second = (_grouped(tokens, groups_of(tokens, words=words, special=special)) for tokens in (rows, columns))
    return values, first, second


def groups_of(tokens: Tokens, *, words: bool, special: bool) -> list[list[int]]:
    """The positions that become one row or column; every token where nothing else would be left."""
    kept = [n for n, flag in enumerate(tokens.special) if special or not flag] or list(range(len(tokens)))
    groups: dict[object, list[int]] = {}
    for n in kept:
        groups.setdefault(tokens.words[n] if words and tokens.words[n] >= 0 else ("piece", n), []).append(n)
    return list(groups.values())


def _grouped(tokens: Tokens, groups: list[list[int]]) -> Tokens:
    first = [group[0] for group in groups]
    unseen = None if tokens.unseen is None else tuple(any(tokens.unseen[n] for n in group) for group in groups)
    return replace(
        tokens,
        ids=tokens.ids[first],
        texts=tuple("".join(tokens.texts[n].removeprefix("##") for n in group) for group in groups),
        unseen=unseen,
        characters=None,
        **{
            name: tuple(getattr(tokens, name)[n] for n in first)
            for name in ("words", "sentences", "segments", "offsets", "special")
        },
    )
