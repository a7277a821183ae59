"""What a layer costs by the length of the text, in multiply-adds, from the formula; and what a cache saves.

Every pair of tokens is counted, as a plain implementation computes it, also where a mask then throws the result away.

>>> len(ex.analysis.costs.by_length(ex.configure("bert", "base", 30_522), "BERT base").lines) >= 3
True
"""

from __future__ import annotations

import numpy as np

from explorer.nn.config import Config
from explorer.nn.layers import GATED
from explorer.records import Curve, Curves

LENGTHS = 2 ** np.arange(3, 16)
PROJECTIONS, PAIRS, FEED_FORWARD = (
    "W_Q, W_K, W_V and W_O (grows with n)",
    "q·k of all pairs, and Σ αv (grows with n²)",
    "feed-forward (grows with n)",
)
STATES, WEIGHTS, HIDDEN = (
    "states, q, k, v and z (grows with n)",
    "weights α of all heads (grows with n²)",
    "hidden units (grows with n)",
)
WITHOUT, WITH = "without a cache", "with the cache"


def projections(config: Config, queries: float, keys: float) -> float:
    """W_Q and W_O for every query, W_K and W_V for every key.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.projections(config, 1, 1) == 4 * config.dim**2
    True
    """
    narrow = config.dim // config.heads * config.groups
    return 2 * queries * config.dim**2 + 2 * keys * config.dim * narrow


def pairs(config: Config, queries: float, keys: float) -> float:
    """QKᵀ and the weighted sum of the values: each d products for each pair.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.pairs(config, 10, 10) == 2 * 10 * 10 * config.dim
    True
    """
    return 2 * queries * keys * config.dim


def feed_forward(config: Config, rows: float) -> float:
    """Each row through two matrices, three where a gate decides what passes.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.feed_forward(config, 1) == 2 * config.dim * config.hidden
    True
    """
    return config.feed_forward * (2 + (config.activation in GATED)) * rows * config.dim * config.hidden


def layer(config: Config, rows: float) -> float:
    """One layer of one stack over a text.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.layer(config, 2) > 2 * ex.analysis.costs.layer(config, 1)
    True
    """
    return projections(config, rows, rows) + pairs(config, rows, rows) + feed_forward(config, rows)


def vocabulary(config: Config, rows: float) -> float:
    """The scores of every token of the vocabulary, and BERT's extra layer before them.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.vocabulary(config, 1) == config.vocab * config.dim
    True
    """
    e = config.embedding_width if config.head_transform else config.dim
    return rows * (config.vocab * e + config.head_transform * config.dim * e)


def step(config: Config, place: float) -> float:
    """One token written with a cache, at position `place` (from 1) of a decoder: one row, whose query is multiplied with all keys
    so far.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.step(config, 100) > ex.analysis.costs.step(config, 1)
    True
    """
    layer_cost = projections(config, 1, 1) + pairs(config, 1, place) + feed_forward(config, 1)
    return config.layers * layer_cost + vocabulary(config, 1)


def uncached(config: Config, place: float) -> float:
    """The same without a cache: the whole text so far, and the scores of its last row.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.uncached(config, 100) > ex.analysis.costs.step(config, 100)
    True
    """
    return config.layers * layer(config, place) + vocabulary(config, 1)


anew = uncached  # its first name


def encoding(config: Config, source: float) -> float:
    """What an encoder does, once.

    >>> config = ex.configure("bart", "base", vocab=50_265)
    >>> ex.analysis.costs.encoding(config, 2) > 2 * ex.analysis.costs.encoding(config, 1)
    True
    """
    return config.encoder_depth * layer(config, source)


def deciding(config: Config, place: float, source: float) -> float:
    """The cost of one more token in the decoder of an encoder-decoder: its own step, and cross-attention of one query to the
    cached source.

    >>> config = ex.configure("bart", "base", vocab=50_265)
    >>> ex.analysis.costs.deciding(config, 5, 100) > ex.analysis.costs.deciding(config, 5, 10)
    True
    """
    looking = 2 * config.dim**2 + pairs(config, 1, source)
    return step(config, place) + config.layers * looking


def by_length(config: Config, name: str) -> Curves:
    """The shares of one layer's multiply-adds by the length of the text.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> len(ex.analysis.costs.by_length(config, "GPT-2").lines)
    3
    """
    x = LENGTHS.astype(np.float64)
    spent = {
        PROJECTIONS: np.array([projections(config, n, n) for n in x]),
        PAIRS: np.array([pairs(config, n, n) for n in x]),
        FEED_FORWARD: np.array([feed_forward(config, n) for n in x]),
    }
    total = sum(spent.values(), np.zeros(len(x)))
    lines = tuple(Curve(label, x, values / total) for label, values in spent.items())
    note = f"{name}: d = {config.dim}, {config.hidden} hidden units, one layer"
    return Curves(
        "What a layer spends its multiply-adds on",
        "n, the length of the text",
        "share",
        lines,
        note,
        log=True,
        mark=("half", half(config)),
    )


def memory(config: Config, name: str) -> Curves:
    """The shares of the numbers that one layer makes, and training keeps, by the length of the text.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> len(ex.analysis.costs.memory(config, "GPT-2").lines)
    3
    """
    x = LENGTHS.astype(np.float64)
    row, hidden = kept_numbers(config)
    numbers = {STATES: row * x, WEIGHTS: config.heads * x**2, HIDDEN: hidden * x}
    total = sum(numbers.values(), np.zeros(len(x)))
    lines = tuple(Curve(label, x, values / total) for label, values in numbers.items())
    note = f"{name}: {config.heads} heads, d = {config.dim}, one layer; at 512 tokens {config.heads * 512**2:,} weights α"
    equal = (row + hidden) / config.heads
    return Curves(
        "What a layer keeps in memory", "n, the length of the text", "share", lines, note, log=True, mark=("half", equal)
    )


def kept_numbers(config: Config) -> tuple[float, float]:
    """How many numbers of one token a layer makes: its input, q, k, v and z; and its hidden units.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.kept_numbers(config) == (5 * config.dim, config.hidden)
    True
    """
    narrow = config.dim // config.heads * config.groups
    hidden = config.feed_forward * (1 + (config.activation in GATED)) * config.hidden
    return 3 * config.dim + 2 * narrow, hidden


def half(config: Config) -> float:
    """The length at which the pairs cost as much as all the rest of a layer.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> ex.analysis.costs.half(config) == 6 * config.dim
    True
    """
    return (projections(config, 1, 1) + feed_forward(config, 1)) / (2 * config.dim)


def saving(config: Config, name: str) -> Curves:
    """The total cost of generating token by token, with and without a cache.

    >>> config = ex.configure("gpt2", "base", vocab=50_257)
    >>> [line.label for line in ex.analysis.costs.saving(config, "GPT-2").lines]
    ['without a cache', 'with the cache']
    """
    x = np.arange(1, 513)
    sums = {
        label: np.cumsum([cost(config, n) for n in x.tolist()]) / 1e6 for label, cost in ((WITHOUT, uncached), (WITH, step))
    }
    lines = tuple(Curve(label, x.astype(np.float64), values) for label, values in sums.items())
    ratio = sums[WITHOUT][-1] / sums[WITH][-1]
    note = f"{name}; {x[-1]} tokens: {ratio:.0f} times as many without"
    return Curves("What the cache saves", "generated tokens", "million multiply-adds so far", lines, note)
